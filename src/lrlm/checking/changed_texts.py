"""Make texts of which it is known what a check should find: facts hidden, or names swapped."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrlm.annotation.streaming import read_in_order
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.judging import stated
from lrlm.checking.statements import StatedDocument
from lrlm.corpora.linking import Linker, topic_of
from lrlm.knowledge import TITLE, Topic
from lrlm.knowledge.schema import Schema, kind_of_name
from lrlm.models import ScoredDocument
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, TokenPlaces

_CERTAIN = 0.9
"""A mention counts as one of a fact if a model that knows the fact is so sure of it."""

_Place = tuple[int, int]
"""Characters `[start, end)` of a text."""
_Facts = Mapping[_Place, tuple[str, str]]
"""By place, the type and the object of the fact that is stated there."""


@dataclass(frozen=True)
class ChangedText:
    """A text with hypotheses, as a model has scored it, and what should be found in it."""

    document: LinkedDocument
    places: TokenPlaces
    scored: ScoredDocument
    truth: Mapping[_Place, str]
    """By place, the type of the fact that is stated there and not known."""
    readings: float
    """Of how many readings the scores are the sum."""
    schema: Schema
    """What was known of types when it was read."""
    is_swapped: bool
    """Whether a name was swapped; else a fact was hidden."""
    is_trained: bool
    """Whether the model was trained on the text as it was."""


def stated_facts(run: Run, documents: Sequence[LinkedDocument]) -> list[_Facts]:
    """Say which facts each document states: by its gold mentions, or else by the model.

    The model knows the facts here, and counts where it is sure.
    """
    facts: list[_Facts] = []
    for members, scored in read_in_order(run, documents, None):
        places = [run.space.places(document) for document in members]
        for document, found in zip(members, stated(members, places, scored), strict=True):
            facts.append(_sure_facts(found) if document.gold is None else _gold_facts(document))
    return facts


def _gold_facts(document: LinkedDocument) -> _Facts:
    starts, ends = document.tokens.starts, document.tokens.ends
    return {
        (starts[gold.start], ends[gold.end - 1]): (gold.type, gold.object)
        for gold in document.gold or ()
        if gold.type is not None and gold.type != TITLE and gold.object is not None
    }


def _sure_facts(found: StatedDocument) -> _Facts:
    starts, ends = found.places.starts, found.places.ends
    return {
        (starts[each.start], ends[each.end - 1]): (each.type, each.object)
        for each, probability in found.probabilities.items()
        if probability >= _CERTAIN and each.type != TITLE and each.object is not None
    }


def with_hidden_facts(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Sequence[LinkedDocument],
    facts: Sequence[_Facts],
    *,
    seed: int,
    is_trained: bool = False,
) -> Iterator[ChangedText]:
    """Hide one fact that each document states, and read it without."""
    dice = random.Random(seed)  # noqa: S311
    truths, linked = [], []
    for document, there in zip(documents, facts, strict=True):
        topic = topic_of(document)
        stated_here = sorted(
            {(fact.type, fact.object) for fact in topic.relations} & {*there.values()}
        )
        if not stated_here:
            continue
        hidden = dice.choice(stated_here)
        kept = [fact for fact in topic.relations if (fact.type, fact.object) != hidden]
        linker = Linker(Topic(topic.id, topic.names, kept), run.link_options)
        linked.append(linker.link_tokens(document.text, document.tokens, id=document.id))
        truths.append({place: fact[0] for place, fact in there.items() if fact == hidden})
    return _read(run, known, linked, truths, is_swapped=False, is_trained=is_trained)


def with_swapped_names(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Sequence[LinkedDocument],
    facts: Sequence[_Facts],
    *,
    seed: int,
    is_trained: bool = False,
) -> Iterator[ChangedText]:
    """Write one object of each document as another one of its type, and read it so."""
    dice = random.Random(seed)  # noqa: S311
    others = _names_by_type(known.schema)
    truths, linked = [], []
    for document, there in zip(documents, facts, strict=True):
        topic = topic_of(document)
        own = {form for fact in topic.star for form in fact.forms}
        for (start, end), (type_, _) in dice.sample(sorted(there.items()), len(there)):
            kind = kind_of_name(document.text[start:end])
            names = [
                name
                for name in others.get(type_, ())
                if name not in own and kind_of_name(name) is kind
            ]
            if names:
                name = dice.choice(names)
                text = document.text[:start] + name + document.text[end:]
                linked.append(Linker(topic, run.link_options).link(text, id=document.id))
                truths.append({(start, start + len(name)): type_})
                break
    return _read(run, known, linked, truths, is_swapped=True, is_trained=is_trained)


def _names_by_type(schema: Schema) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, known in schema.names.items():
        for type_ in known.types:
            names.setdefault(type_, []).append(name)
    for type_, usual in schema.types.items():  # numbers and dates are among the examples only
        there = names.setdefault(type_, [])
        there += [each.name for each in usual.examples if each.name not in schema.names]
    return names


def _read(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Sequence[LinkedDocument],
    truths: Sequence[Mapping[_Place, str]],
    *,
    is_swapped: bool,
    is_trained: bool,
) -> Iterator[ChangedText]:
    supposed = [with_hypotheses(document, known) for document in documents]
    truth = iter(truths)
    for members, scored in read_in_order(run, supposed, None):
        for document, each in zip(members, scored, strict=True):
            places = run.space.places(document)
            yield ChangedText(
                document,
                places,
                each,
                next(truth),
                run.readings,
                known.schema,
                is_swapped=is_swapped,
                is_trained=is_trained,
            )
