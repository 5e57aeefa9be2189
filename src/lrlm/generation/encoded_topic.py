"""Write what a model reads of a topic as tensors, before texts about it are generated."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from lrlm.arrays import Booleans, Floats, Integers
from lrlm.batching import (
    NumberedNames,
    Parts,
    RelationNames,
    TopicRelations,
    relation_traits,
    type_name,
)
from lrlm.models.writing import ANY_WORD, EncodedTopic, WordsToTake
from lrlm.runs.run import Run
from lrlm.text import LinkableRelation, SurfaceForm, TokenSpace, surface_forms


def encode_topic(
    run: Run,
    title: str,
    relations: Sequence[LinkableRelation],
    *,
    lacking: Sequence[LinkableRelation] = (),
) -> EncodedTopic:
    """Write a topic's relations and all their forms as tensors, and what relations it lacks."""
    model, encoder, space = run.model, run.encoder, run.space
    traits_RJ = relation_traits([*relations, *lacking])
    known = _as_row(run, relations, traits_RJ[: len(relations)])
    forms = [form for relation in relations for form in surface_forms(relation)]
    tokens = [
        [space.encode_form(form, before=space.example_before(context)) for form in forms]
        for context in range(space.contexts)
    ]
    lengths = [[len(ids) for ids in row] for row in tokens]
    length_CF = np.array(lengths, dtype=np.int64).reshape(len(tokens), len(forms))
    tokens_CFL = np.zeros((*length_CF.shape, length_CF.max(initial=1)), dtype=np.int64)
    for context, row in enumerate(tokens):
        for place, ids in enumerate(row):
            tokens_CFL[context, place, : len(ids)] = ids

    def here(numbers: Integers | Floats | Booleans) -> torch.Tensor:
        return torch.from_numpy(numbers).to(model.device)

    features_FW = run.names.vectors([form.words for form in forms])
    counts_R = [len(relation.forms) for relation in relations]
    unknown_words = _unknown_words(space, forms)
    words_CFL = None
    if unknown_words:
        words_CFL = tokens_CFL.copy()
        for place, form in enumerate(forms):
            for position, word in enumerate(form.words):
                words_CFL[:, place, position] = unknown_words.get(
                    word, int(tokens_CFL[0, place, position])
                )
    return EncodedTopic(
        types_R=known.types_BR[0],
        objects_R=known.objects_BR[0],
        names=known.names,
        traits_RJ=None if known.traits_BRJ is None else known.traits_BRJ[0],
        relation_F=here(np.repeat(np.arange(len(relations)), counts_R)),
        features_FW=here(features_FW).to(model.dtype),
        tokens_CFL=here(tokens_CFL),
        length_CF=here(length_CF),
        preface_P=here(encoder.preface(title, relations).tokens_P),
        start_id=space.start_id,
        end_id=space.end_id,
        context_after=space.context_after,
        bound_F=_bound_forms(space, tokens[0]),
        begins_word_V=None if space.begins_word is None else here(space.begins_word),
        words_CFL=None if words_CFL is None else here(words_CFL),
        unknown_words=unknown_words,
        name_words=_words_to_take(run, relations, unknown_words),
        lacking=_as_row(run, lacking, traits_RJ[len(relations) :]) if lacking else None,
    )


def _words_to_take(
    run: Run, relations: Sequence[LinkableRelation], unknown_words: Mapping[str, int]
) -> WordsToTake | None:
    """Give the words of names, where the model may take single ones and there are any."""
    if Parts.NAME_WORDS not in run.encoder.parts:
        return None
    topic, device = run.encoder.topic_words(relations), run.model.device
    if not topic.words:
        return None
    vectors_KW = run.names.vectors([(word,) for word in topic.words])
    features_KW = torch.from_numpy(np.concatenate([vectors_KW, topic.traits_KJ], axis=1))

    def numbers(words: Sequence[str]) -> list[int]:
        ids = run.space.word_ids(words)
        return [unknown_words.get(word, id_) for word, id_ in zip(words, ids, strict=True)]

    beginnings = [each for its in topic.beginnings.values() for each in its]
    longest = max((len(words) for words, _ in beginnings), default=0)
    beginnings_NL = np.full((len(beginnings), longest), ANY_WORD)
    for place, (words, _) in enumerate(beginnings):
        beginnings_NL[place, longest - len(words) :] = numbers(words)
    return WordsToTake(
        topic.words,
        ids_K=torch.from_numpy(topic.ids_K).to(device),
        numbers_K=torch.tensor(numbers(topic.words), device=device),
        features_KW=features_KW.to(device, run.model.dtype),
        follows_KK=torch.from_numpy(topic.follows_KK).to(device),
        alone_K=torch.from_numpy(topic.alone_K).to(device),
        beginnings_NL=torch.from_numpy(beginnings_NL).to(device),
        completing_N=torch.tensor(
            [number for _, number in beginnings], dtype=torch.long, device=device
        ),
    )


def _unknown_words(space: TokenSpace, forms: Sequence[SurfaceForm]) -> dict[str, int]:
    """Number the words of forms that have no id of their own, beyond all ids."""
    words = {word for form in forms for word in form.words}
    return {word: space.size + n for n, word in enumerate(sorted(space.words_to_spell(words)))}


def _bound_forms(space: TokenSpace, forms: Sequence[Sequence[int]]) -> torch.Tensor | None:
    """Say which forms a new word must follow; None where every token is a word."""
    if space.begins_word is None:
        return None
    return torch.tensor([space.binds(tokens[-1]) for tokens in forms], dtype=torch.bool)


def _as_row(run: Run, relations: Sequence[LinkableRelation], traits_RJ: Floats) -> TopicRelations:
    """Give relations as those of one row, with what else of them the model reads."""
    types_R, objects_R = map(torch.from_numpy, run.encoder.relation_ids(relations))
    names = None
    if Parts.NAMES in run.encoder.parts:
        listed = NumberedNames()
        type_names_R = listed.numbers(type_name(relation.label) for relation in relations)
        object_names_R = listed.numbers(relation.forms[0] for relation in relations)
        names = RelationNames(
            torch.from_numpy(type_names_R)[None],
            torch.from_numpy(object_names_R)[None],
            torch.from_numpy(run.names.vectors(listed.listed)),
        )
    all_1R = torch.ones(1, len(relations), dtype=torch.bool)
    traits_1RJ = torch.from_numpy(traits_RJ)[None] if Parts.TRAITS in run.encoder.parts else None
    row = TopicRelations(types_R[None], objects_R[None], all_1R, names, traits_BRJ=traits_1RJ)
    return row.to(run.model.device, run.model.dtype)
