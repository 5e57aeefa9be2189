"""From the scores of a text with hypotheses to findings: what it states, and what the graph says.

Everything here is a pure function of scored documents, whichever model or models scored them.

Shapes: E candidate edges of a document, N its tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

import torch

from lrlm.annotation.annotation import Fact
from lrlm.checking.calibration import Calibration
from lrlm.checking.findings import CheckedText, Conflict, Finding, Verdict
from lrlm.checking.hypotheses import kind_share
from lrlm.checking.name_spans import object_of
from lrlm.knowledge import TITLE
from lrlm.knowledge.schema import Schema, kind_of_name
from lrlm.lattice import posteriors
from lrlm.models import ScoredDocument, lattice_of
from lrlm.text import LinkedDocument, TokenPlaces

_LEAST_SHARE = 1e-3
"""A kind of name that a type was never seen with may still be one of its."""


class Statement(NamedTuple):
    """That tokens `[start, end)` state a fact of a type; a known one has an object."""

    start: int
    end: int
    type: str
    object: str | None
    """None where the fact is not known: its object is what the tokens name."""


@dataclass(frozen=True)
class StatedDocument:
    """A text with hypotheses, and how probable it is that it states each fact."""

    document: LinkedDocument
    places: TokenPlaces
    probabilities: Mapping[Statement, float]
    is_possible: bool
    """Whether a path gets through the text at all."""


def calibrated(
    document: LinkedDocument,
    places: TokenPlaces,
    scored: ScoredDocument,
    schema: Schema,
    calibration: Calibration,
) -> ScoredDocument:
    """Give the candidates of open relations what it costs to name an object that is not known.

    A model says how probable an open relation is, not which name its object has. That is the share
    of the kind of name among the objects of the type, times what calibration says.
    """
    relations, edges = document.relations, scored.encoded.edges_E4.tolist()
    through_N = torch.nn.functional.pad(scored.words_N().cumsum(0), (1, 0)).tolist()
    costs: dict[tuple[int, int, str], float] = {}
    cost_E = torch.zeros_like(scored.score_E)
    for number, (start, end, relation_number, _) in enumerate(edges):
        relation = relations[relation_number]
        if relation.is_open:
            key = (start, end, relation.type)
            if key not in costs:
                text = document.text[places.starts[start] : places.ends[end - 1]]
                share = kind_share(relation.type, kind_of_name(text), schema)
                words = through_N[end] - through_N[start]
                costs[key] = (
                    log(max(share, _LEAST_SHARE))
                    - calibration.log_odds
                    + calibration.word_share * words
                )
            cost_E[number] = costs[key]
    return replace(scored, score_E=scored.score_E + cost_E)


def stated(
    documents: Sequence[LinkedDocument],
    places: Sequence[TokenPlaces],
    scored: Sequence[ScoredDocument],
) -> list[StatedDocument]:
    """Say how probable each statement is, given the whole text; scores must be calibrated."""
    lattice = lattice_of(scored)
    word_BT, probability_E = posteriors(lattice)
    found, before = [], 0
    for row, document in enumerate(documents):
        each, places_here = scored[row], places[row]
        edges = each.encoded.edges_E4.tolist()
        shares = probability_E[before : before + len(edges)].tolist()
        before += len(edges)
        sums: dict[Statement, float] = {}
        for (start, end, number, _), share in zip(edges, shares, strict=True):
            relation = document.relations[number]
            object_ = None if relation.is_open else relation.object
            statement = Statement(start, end, relation.type, object_)
            sums[statement] = sums.get(statement, 0.0) + share
        is_possible = float(word_BT[row].sum()) + sum(shares) > 0
        found.append(StatedDocument(document, places_here, sums, is_possible))
    return found


def judge(stated_document: StatedDocument, schema: Schema, *, threshold: float) -> CheckedText:
    """Compare what a text states with what is known about its topic."""
    document = stated_document.document
    known: dict[str, list[Fact]] = {}
    for relation in document.relations:
        if relation.type != TITLE and not relation.is_open:
            fact = Fact(relation.type, relation.object, relation.texts[0])
            known.setdefault(relation.type, []).append(fact)
    findings = [
        _finding(stated_document, statement, probability, known, schema)
        for statement, probability in _most_probable(stated_document.probabilities)
        if probability >= threshold and statement.type != TITLE
    ]
    return CheckedText(
        id=document.id,
        topic=document.topic,
        title=document.title,
        text=document.text,
        findings=tuple(findings),
        conflicts=tuple(_conflicts(known, schema)),
    )


def _most_probable(
    probabilities: Mapping[Statement, float],
) -> Iterator[tuple[Statement, float]]:
    """Give the most probable statement of each span, in the order of the text."""
    best: dict[tuple[int, int], tuple[Statement, float]] = {}
    for statement, probability in probabilities.items():
        place = (statement.start, statement.end)
        if place not in best or probability > best[place][1]:
            best[place] = statement, probability
    for place in sorted(best):
        yield best[place]


def _finding(
    stated_document: StatedDocument,
    statement: Statement,
    probability: float,
    known: Mapping[str, list[Fact]],
    schema: Schema,
) -> Finding:
    document, places = stated_document.document, stated_document.places
    start, end = places.starts[statement.start], places.ends[statement.end - 1]
    text = document.text[start:end]
    instead: tuple[Fact, ...] = ()
    if statement.object is not None:
        verdict = Verdict.SUPPORTED
        fact = Fact(statement.type, statement.object, text)
    else:
        verdict = Verdict.NEW
        fact = Fact(statement.type, object_of(text, schema.names), text)
        there = tuple(known.get(statement.type, ()))
        if there and schema.is_single(statement.type, objects_here=len(there)):
            verdict, instead = Verdict.CONTRADICTED, there
    return Finding(
        start, end, text, verdict, min(probability, 1.0), document.topic, fact, instead
    )


def _conflicts(known: Mapping[str, list[Fact]], schema: Schema) -> Iterator[Conflict]:
    """Find types of which the graph has several objects, though topics have one."""
    for type_, facts in known.items():
        objects = {fact.object for fact in facts}
        if len(objects) > 1 and schema.is_single(type_, objects_here=len(objects)):
            yield Conflict(type_, tuple(facts))
