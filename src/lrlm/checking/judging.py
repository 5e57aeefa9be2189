"""From the scores of a text with hypotheses to findings: what it states, and what the graph says.

Everything here is a pure function of scored documents, whichever model or models scored them.

Shapes: E candidate edges of a document, N its tokens.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from lrlm.annotation.annotation import Fact, fact_of
from lrlm.arrays import Floats, Integers
from lrlm.checking.calibration import Calibration
from lrlm.checking.findings import CheckedText, Conflict, Finding, GraphVerdict
from lrlm.checking.hypotheses import kind_share, schema_for_document
from lrlm.checking.name_spans import is_doubtful
from lrlm.knowledge import TITLE
from lrlm.knowledge.schema import Schema, kind_of_name
from lrlm.lattice import posteriors
from lrlm.models import ScoredDocument, lattice_of
from lrlm.text import LinkedDocument, TokenPlaces

_LEAST_SHARE = 1e-3
"""A kind of name that a type was never seen with may still be one of its."""


_TINY = 1e-300
_NOT_LISTED = 1e-6
"""What no candidate makes more probable than this is not listed."""


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
    """Of all that are not beyond belief."""
    is_possible: bool
    """Whether a path gets through the text at all."""


def calibrated(
    document: LinkedDocument,
    places: TokenPlaces,
    scored: ScoredDocument,
    schema: Schema,
    calibration: Calibration,
    *,
    readings: float = 1.0,
) -> ScoredDocument:
    """Give the candidates of open relations what it costs to name an object that is not known.

    A model says how probable an open relation is, not which name its object has. That is what the
    facts of its type in the schema say: the share of those that have an object of this name, and
    for a name that none has, the share of new objects among them and of such names, times what
    calibration says. Where scores are the sum of several `readings` of the text, it costs that in
    each of them.
    """
    edges_E4, relations = scored.encoded.edges_E4, document.relations
    open_R = np.array([relation.is_open for relation in relations], dtype=bool)
    number_E = np.flatnonzero(open_R[edges_E4[:, 2]])
    if not len(number_E):
        return scored
    schema = schema_for_document(document, schema)
    place_P2, place_E = np.unique(edges_E4[number_E, :2], axis=0, return_inverse=True)
    types = {type_: n for n, type_ in enumerate(dict.fromkeys(each.type for each in relations))}
    type_R = np.array([types[relation.type] for relation in relations])
    spelling_N = calibration.spelling * scored.encoded.spelling_N.astype(np.float64)
    through_N = np.concatenate([[0.0], spelling_N.cumsum()])
    name_share_PT = np.array(
        [
            _name_shares(
                document.text,
                (places.starts[start], places.ends[end - 1]),
                types,
                schema,
                log_new=(through_N[end] - through_N[start]) - calibration.log_odds,
                doubt=calibration.doubt,
            )
            for start, end in place_P2.tolist()
        ]
    )
    log_share_E = np.log(name_share_PT[place_E.reshape(-1), type_R[edges_E4[number_E, 2]]])
    score_E = scored.score_E.clone()
    score_E[number_E] += readings * torch.from_numpy(log_share_E)
    return replace(scored, score_E=score_E)


def _name_shares(
    text: str,
    place: tuple[int, int],
    types: Iterable[str],
    schema: Schema,
    *,
    log_new: float,
    doubt: float,
) -> list[float]:
    """Say how probable a name is for an unknown object of each type.

    `log_new` is the log-probability of a name that nobody has, and `doubt` what is taken from it
    where it may be no name.
    """
    name = text[place[0] : place[1]]
    kind = kind_of_name(name)
    new = math.exp(log_new - (doubt if is_doubtful(text, *place, schema.names) else 0.0))
    known = schema.names.get(name)
    shares = []
    for type_ in types:
        usual = schema.types.get(type_)
        share = max(kind_share(type_, kind, schema), _LEAST_SHARE) * new
        if usual is not None:
            share *= usual.unseen
            if known is not None and type_ in known.types:
                share += known.types[type_] / (usual.facts + usual.objects)
        shares.append(max(share, _TINY))
    return shares


def stated(
    documents: Sequence[LinkedDocument],
    places: Sequence[TokenPlaces],
    scored: Sequence[ScoredDocument],
) -> list[StatedDocument]:
    """Say how probable each statement is, given the whole text; scores must be calibrated."""
    word_BT, probability_E = posteriors(lattice_of(scored))
    shares_E = np.split(
        probability_E.numpy(), np.cumsum([len(each.score_E) for each in scored])[:-1]
    )
    possible_B = (word_BT.sum(1) > 0).tolist()
    return [
        StatedDocument(
            document,
            places[row],
            _sums(document, scored[row].encoded.edges_E4, shares_E[row]),
            possible_B[row] or bool(shares_E[row].any()),
        )
        for row, document in enumerate(documents)
    ]


def _sums(document: LinkedDocument, edges_E4: Integers, share_E: Floats) -> dict[Statement, float]:
    """Add up the probabilities of all candidates that state the same."""
    sums: dict[Statement, float] = {}
    listed = share_E > _NOT_LISTED
    for (start, end, number, _), share in zip(
        edges_E4[listed].tolist(), share_E[listed].tolist(), strict=True
    ):
        relation = document.relations[number]
        object_ = None if relation.is_open else relation.object
        statement = Statement(start, end, relation.type, object_)
        sums[statement] = sums.get(statement, 0.0) + share
    return sums


def judge(stated_document: StatedDocument, schema: Schema, *, threshold: float) -> CheckedText:
    """Compare what a text states with what is known about its topic."""
    document = stated_document.document
    known: dict[str, list[Fact]] = {}
    for relation in document.relations:
        if relation.type != TITLE and not relation.is_open:
            known.setdefault(relation.type, []).append(fact_of(relation, 0))
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
    label = next(each.label for each in document.relations if each.type == statement.type)
    instead: tuple[Fact, ...] = ()
    if statement.object is not None:
        verdict = GraphVerdict.SUPPORTED
        fact = Fact(statement.type, statement.object, text, label)
    else:
        verdict = GraphVerdict.NEW
        named = schema.names.get(text)
        fact = Fact(statement.type, text if named is None else named.object, text, label)
        there = tuple(known.get(statement.type, ()))
        if there and schema.is_single(statement.type, objects_here=len(there)):
            verdict, instead = GraphVerdict.CONTRADICTED, there
    return Finding(start, end, text, verdict, min(probability, 1.0), document.topic, fact, instead)


def _conflicts(known: Mapping[str, list[Fact]], schema: Schema) -> Iterator[Conflict]:
    """Find types of which the graph has several objects, though topics have one."""
    for type_, facts in known.items():
        objects = {fact.object for fact in facts}
        if len(objects) > 1 and schema.is_single(type_, objects_here=len(objects)):
            yield Conflict(type_, tuple(facts))
