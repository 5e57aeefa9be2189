"""The generative stories of the models, told slowly: every derivation of every short text.

A derivation is a list of choices; its probability is the product of theirs. All derivations up to
a number of tokens are walked, so what a model says of a text can be compared with the sum over the
derivations that write it, and all of them together must have probability one.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from lrlm.batching import Window
from lrlm.models import LatentRelationLM, NeuralKnowledgeLM, VanillaLM
from lrlm.models.nklm import fact_mask, position_log_probs
from lrlm.text.repeats import DISCOUNT, STRENGTH
from tests.oracles.softmax import all_log_probs
from tests.toy import SPELLINGS, VOCABULARY, ToyFeaturiser

Words = tuple[str, ...]


@dataclass
class Enumeration:
    """What the derivations amount to."""

    texts: dict[Words, float] = field(default_factory=lambda: defaultdict(float))
    """Probability of each finished text."""
    longer: float = 0.0
    """Probability of all texts that are longer than the limit."""

    @property
    def total(self) -> float:
        return math.fsum(self.texts.values()) + self.longer


def enumerate_texts(
    model: VanillaLM,
    topic: Window,
    forms: list[list[Words]],
    limit: int,
    *,
    backward: bool = False,
    repeats: bool = False,
    lacking: tuple[Tensor, Tensor] | None = None,
    repetition_cost: float = 0.0,
) -> Enumeration:
    """Walk all derivations of texts of at most `limit` tokens for Vanilla LM and LRLM.

    `topic` is any window of one document about the topic; only its relations are used. A model that
    reads backward writes a text from its end, and every form from its last word. With `repeats`,
    unknown words are expected again. `lacking` are the types and objects of relations that may be
    chosen too, and then there is no text: what is found sums to less than one. Each relation that a
    text copies again makes it e^-`repetition_cost` times as probable.
    """
    found = Enumeration()
    again = math.exp(-repetition_cost)

    @cache  # a state depends on the words before it, not on how they were made
    def steps(prefix: Words) -> list[tuple[Words | None, float, int | None]]:
        return [
            (piece[::-1] if backward and piece is not None else piece, chance, relation)
            for piece, chance, relation in _steps(
                model, topic, forms, prefix, backward=backward, repeats=repeats, lacking=lacking
            )
        ]

    def walk(prefix: Words, probability: float, copied: frozenset[int]) -> None:
        if len(prefix) > limit:
            found.longer += probability
            return
        for piece, chance, relation in steps(prefix):
            weight = again if relation in copied else 1.0
            if piece is None:
                found.texts[prefix[::-1] if backward else prefix] += probability * chance
            elif chance > 0:
                now = copied if relation is None else copied | {relation}
                walk(prefix + piece, probability * chance * weight, now)

    walk((), 1.0, frozenset())
    return found


def names_before(
    forms: list[list[Words]], prefix: Words, *, backward: bool = False
) -> tuple[list[int], list[int]]:
    """Say how often an object with these forms is named in a text, and how many words ago.

    Names that end at the same place count once.
    """
    if backward:
        forms = [[form[::-1] for form in its_forms] for its_forms in forms]
    times, since = [], []
    for its_forms in forms:
        ends = [
            end
            for end in range(1, len(prefix) + 1)
            if any(prefix[max(end - len(form), 0) : end] == form for form in its_forms)
        ]
        times.append(len(ends))
        since.append(len(prefix) - ends[-1] if ends else 0)
    return times, since


def state_after(
    model: VanillaLM,
    topic: Window,
    prefix: Words,
    forms: list[list[Words]],
    *,
    backward: bool = False,
) -> Tensor:
    """Run the backbone over a prefix from nothing, in one piece."""
    ids = torch.tensor([[VOCABULARY.end_id, *VOCABULARY.encode(prefix)]])
    state = model.begin(topic)
    vectors_1TI = model.embedding(ids)
    told = None
    known = topic.relations
    if isinstance(model, LatentRelationLM) and model.told is not None:
        told = model.told
        assert known is not None
        vectors_1RW = model.vectors_of(known)
        named = [
            names_before(forms, prefix[:place], backward=backward)
            for place in range(len(prefix) + 1)
        ]
        times_1TR, since_1TR = torch.tensor(named).reshape(len(named), 2, -1).unbind(1)
        told_1TC = told(
            vectors_1RW, known.types_BR, times_1TR[None], since_1TR[None], known.mask_BR
        )
        vectors_1TI = vectors_1TI + told.to_input(told_1TC)
    outputs_BTD, _ = model.backbone(vectors_1TI, torch.tensor([ids.shape[1]]), state)
    state_1D: Tensor = outputs_BTD[:, -1]
    return state_1D if told is None else told.add_to(state_1D, told_1TC[:, -1])


def _steps(
    model: VanillaLM,
    topic: Window,
    forms: list[list[Words]],
    prefix: Words,
    *,
    backward: bool = False,
    repeats: bool = False,
    lacking: tuple[Tensor, Tensor] | None = None,
) -> Iterator[tuple[Words | None, float, int | None]]:
    """Give every next piece with its probability, and the relation that it is copied through.

    None for a piece is the end of the text.
    """
    state_1D = state_after(model, topic, prefix, forms, backward=backward)
    log_word = torch.zeros(1, dtype=state_1D.dtype)
    if isinstance(model, LatentRelationLM):
        known = topic.relations
        assert known is not None
        naming = model.naming
        named = names_before(forms, prefix, backward=backward)
        times, since = (torch.tensor([each]) for each in named)
        added = None if naming is None else naming.source_scores(times, since, known.mask_BR)
        if model.fit is not None:
            so_far = (times[None], since[None]) if naming is not None else ()
            fit = model.fit(state_1D[:, None], model.vectors_of(known), known.mask_BR, *so_far)
            added = (torch.zeros(1, 2) if added is None else added) + torch.tensor([[0, 1]]) * fit
        log_word, log_relation = model.source(state_1D, known.mask_BR.any(1), added)
        if forms:
            vectors, mask = model.vectors_of(known), known.mask_BR
            states, added = state_1D[:, None], None
            if lacking is not None:
                types_1O, objects_1O = lacking[0][None], lacking[1][None]
                vectors = torch.cat([vectors, model.vectors(types_1O, objects_1O)], dim=1)
                mask = torch.cat([mask, torch.ones_like(types_1O, dtype=torch.bool)], dim=1)
                never = torch.zeros_like(types_1O)
                times, since = torch.cat([times, never], 1), torch.cat([since, never], 1)
            if naming is not None:
                added = naming.relation_scores(states, vectors, times[None], since[None])
            log_e = model.relations.log_probs(states, vectors, mask, added)
            for relation, its_forms in enumerate(forms):
                log_a = _form_log_probs(model, state_1D, its_forms, prefix, backward=backward)
                for index, form in enumerate(its_forms):
                    log_copy = log_relation + log_e[0, 0, relation] + log_a[index]
                    yield form, math.exp(log_copy), relation
    if isinstance(model, LatentRelationLM) and model.name_words is not None:
        log_vocabulary, words = _name_word_chances(
            model, topic, state_1D, forms, prefix, backward=backward
        )
        for word, log_prob in words.items():
            yield (word,), math.exp(log_word + log_prob), None
        log_word = log_word + log_vocabulary
    unknown = spellings_after(prefix) if repeats else SPELLINGS
    for piece, chance in _word_steps(all_log_probs(model.words, state_1D)[0] + log_word, unknown):
        yield piece, chance, None


def _name_word_chances(
    model: LatentRelationLM,
    topic: Window,
    state_1D: Tensor,
    forms: list[list[Words]],
    prefix: Words,
    *,
    backward: bool,
) -> tuple[Tensor, dict[str, float]]:
    """Give log P of the vocabulary, and of each word of a name, given that a word comes.

    What is known of the words is taken from the window, what stands in the text is counted here.
    """
    told = topic.name_words
    assert told is not None
    assert model.name_words is not None
    words = list(dict.fromkeys(word for its in forms for form in its for word in form))
    pairs = {
        (second, first) if backward else (first, second)
        for its in forms
        for form in its
        for first, second in itertools.pairwise(form)
    }
    names = {form[::-1] if backward else form for its in forms for form in its}
    allowed = [
        not any((*prefix[len(prefix) - len(name) + 1 :], word) == name for name in names)
        for word in words
    ]
    last = prefix[-1] if prefix else None
    goes_on = torch.tensor([any(first == last for first, _ in pairs)])
    log_vocabulary, log_name = model.name_words.log_shares(
        state_1D, goes_on, torch.tensor([any(allowed)])
    )
    if not words:
        return log_vocabulary, {}
    times = [prefix.count(word) for word in words]
    since = [prefix[::-1].index(word) + 1 if word in prefix else 0 for word in words]
    log_probs_1K = model.name_words.log_probs(
        state_1D,
        told.features_VW,
        model.vectors_of_words(told.ids_V),
        torch.tensor([allowed]),
        follows_XK=torch.tensor([[(last, word) in pairs for word in words]]),
        times_XK=torch.tensor([times]),
        since_XK=torch.tensor([since]),
    )
    chances = (log_name[:, None] + log_probs_1K)[0].tolist()
    return log_vocabulary, dict(zip(words, chances, strict=True))


def spellings_after(prefix: Words) -> dict[str, float]:
    """Give the probability of every unknown word after a text in which they may stand again."""
    before = [word for word in prefix if word not in VOCABULARY]
    anew = (STRENGTH + DISCOUNT * len(set(before))) / (len(before) + STRENGTH)
    chances = {word: anew * chance for word, chance in SPELLINGS.items()}
    for word in set(before):
        again = (before.count(word) - DISCOUNT) / (len(before) + STRENGTH)
        chances[word] = chances.get(word, 0.0) + again
    return chances


def _form_log_probs(
    model: LatentRelationLM | NeuralKnowledgeLM,
    state_1D: Tensor,
    forms: list[Words],
    prefix: Words = (),
    *,
    backward: bool = False,
) -> Tensor:
    features = torch.from_numpy(ToyFeaturiser().vectors(forms)).to(state_1D.dtype)
    query = torch.zeros(len(forms), dtype=torch.long)
    shift = added = None
    if isinstance(model, LatentRelationLM) and model.naming is not None:
        of_object = names_before([forms], prefix, backward=backward)
        shift = model.naming.form_shift(*map(torch.tensor, of_object))
        of_forms = names_before([[form] for form in forms], prefix, backward=backward)
        times, since = map(torch.tensor, of_forms)
        added = model.naming.form_scores(state_1D, times, since, query)
    log_probs: Tensor = model.forms.log_probs(
        state_1D, features, query, shift_QW=shift, added_F=added
    )
    return log_probs


def _word_steps(
    log_probs_V: Tensor, unknown: dict[str, float] = SPELLINGS
) -> Iterator[tuple[Words | None, float]]:
    for word, log_prob in zip(VOCABULARY.words, log_probs_V.tolist(), strict=True):
        if word == "</s>":
            yield None, math.exp(log_prob)
        elif word == "<unk>":
            for spelled, chance in unknown.items():
                yield (spelled,), math.exp(log_prob) * chance
        else:
            yield (word,), math.exp(log_prob)


@dataclass(frozen=True)
class Token:
    """A token of NKLM with the choices that made it; without a fact, a plain word."""

    word: str
    relation: int = -1
    form: int = 0
    position: int = 0
    is_copy: bool = False


@dataclass
class JointEnumeration:
    """Probability of each text together with its annotation."""

    derivations: dict[tuple[Token, ...], float] = field(default_factory=dict)
    longer: float = 0.0

    @property
    def total(self) -> float:
        return math.fsum(self.derivations.values()) + self.longer


def enumerate_annotated(
    model: NeuralKnowledgeLM, topic: Window, forms: list[list[Words]], limit: int
) -> JointEnumeration:
    """Walk all derivations of NKLM: each is a text with one annotation."""
    found = JointEnumeration()

    @cache  # what comes next depends on what the backbone has read, not on all that was chosen
    def steps(read: tuple[Token, ...]) -> list[tuple[Token | None, float]]:
        return list(_nklm_steps(model, topic, forms, read))

    def walk(prefix: tuple[Token, ...], probability: float) -> None:
        if len(prefix) > limit:
            found.longer += probability
            return
        for token, chance in steps(tuple(map(_as_read, prefix))):
            if token is None:
                # A fact may be chosen before the end as before any word.
                found.derivations[prefix] = (
                    found.derivations.get(prefix, 0.0) + probability * chance
                )
            elif chance > 0:
                walk((*prefix, token), probability * chance)

    walk((), 1.0)
    return found


def _nklm_steps(
    model: NeuralKnowledgeLM, topic: Window, forms: list[list[Words]], prefix: tuple[Token, ...]
) -> Iterator[tuple[Token | None, float]]:
    facts_1GW = model.fact_vectors(topic)
    inputs = [_nklm_input(model, facts_1GW, token) for token in (Token("</s>"), *prefix)]
    state = model.backbone.initial_state(1)
    outputs_1TD, _ = model.backbone(torch.stack(inputs)[None], torch.tensor([len(inputs)]), state)
    state_1D = outputs_1TD[:, -1]
    log_facts = model.facts.log_probs(state_1D[:, None], facts_1GW, fact_mask(topic))[0, 0]
    for fact in range(len(forms) + 1):
        relation = fact - 1
        chosen_1D = torch.cat([state_1D, facts_1GW[:, fact]], dim=1)
        p_fact = log_facts[fact].exp().item()
        p_copy = torch.sigmoid(model.copy(chosen_1D)).item() if fact else 0.0
        for piece, chance in _word_steps(all_log_probs(model.words, chosen_1D)[0]):
            token = None if piece is None else Token(piece[0], relation)
            yield token, p_fact * (1 - p_copy) * chance
        if not fact:
            continue
        log_forms = _form_log_probs(model, chosen_1D, forms[relation])
        for index, form in enumerate(forms[relation]):
            log_positions = position_log_probs(
                model.position(chosen_1D), torch.tensor([len(form)])
            )[0]
            for position, word in enumerate(form):
                chance = math.exp(log_forms[index] + log_positions[position])
                yield Token(word, relation, index, position, is_copy=True), p_fact * p_copy * chance


def _as_read(token: Token) -> Token:
    """Give a token as the model reads it: a word that was not copied is a plain word.

    A fact that was chosen for it counts as none, since the annotation cannot say it.
    """
    return token if token.is_copy else Token(token.word)


def _nklm_input(model: NeuralKnowledgeLM, facts_1GW: Tensor, token: Token) -> Tensor:
    """Tell the backbone of the token before."""
    ids = torch.tensor(VOCABULARY.encode([token.word]))
    if token.word == "</s>":
        ids = torch.tensor([VOCABULARY.end_id])
    word = model.embedding(ids[None])[0, 0]
    position = model.position_embedding(torch.tensor([token.position]))[0]
    if token.is_copy:
        return torch.cat([torch.zeros_like(word), facts_1GW[0, token.relation + 1], position])
    return torch.cat([word, facts_1GW[0, 0], torch.zeros_like(position)])
