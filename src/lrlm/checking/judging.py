"""From the scores of a text with hypotheses to findings: what it states, and what the graph says.

Everything here is a pure function of scored documents, whichever model or models scored them.

Shapes: E candidate edges of a document, N its tokens.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from lrlm.annotation.annotation import Fact, fact_of
from lrlm.arrays import Doubles, Floats, Integers
from lrlm.checking.calibration import Calibration, Trust, TypeStanding
from lrlm.checking.circumstances import WORTH_A_LOOK, Circumstances
from lrlm.checking.findings import CheckedText, Conflict, Finding, GraphVerdict
from lrlm.checking.hypotheses import kind_share, schema_for_document
from lrlm.checking.name_spans import is_doubtful
from lrlm.checking.statements import StatedDocument, Statement
from lrlm.knowledge import TITLE
from lrlm.knowledge.schema import NameKind, Schema, kind_of_name
from lrlm.lattice import posteriors
from lrlm.models import ScoredDocument, lattice_of
from lrlm.text import LinkedDocument, TokenPlaces

_LEAST_SHARE = 1e-3
"""A kind of name that a type was never seen with may still be one of its."""
_LEAST_LIKENESS = 1e-3
"""A known name may be one of a type that has nothing in common with those it is known of."""
UNCALIBRATED = Calibration()
"""Leaves the probabilities of the lattice as they are."""

_TINY = 1e-300
_NOT_LISTED = 1e-6
"""What no candidate makes more probable than this is not listed."""


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
    calibration says; if the name is known of other types, also times how much the type has in
    common with them. Where scores are the sum of several `readings` of the text, it costs that in
    each of them.
    """
    edges_E4, relations = scored.encoded.edges_E4, document.relations
    open_R = np.array([relation.is_open for relation in relations], dtype=bool)
    number_E = np.flatnonzero(open_R[edges_E4[:, 2]])
    if not len(number_E):
        return scored
    width = len(places.starts) + 1
    key_P, place_E = np.unique(
        edges_E4[number_E, 0] * width + edges_E4[number_E, 1], return_inverse=True
    )
    start_P, end_P = key_P // width, key_P % width
    types = list(dict.fromkeys(relation.type for relation in relations))
    number_of = {type_: number for number, type_ in enumerate(types)}
    type_R = np.array([number_of[relation.type] for relation in relations])
    through_N = np.concatenate([[0.0], scored.encoded.spelling_N.cumsum(dtype=np.float64)])
    log_new_P = calibration.spelling * (through_N[end_P] - through_N[start_P])
    begin_P, stop_P = np.asarray(places.starts)[start_P], np.asarray(places.ends)[end_P - 1]
    share_PT = _name_shares(
        document.text,
        list(zip(begin_P.tolist(), stop_P.tolist(), strict=True)),
        types,
        schema_for_document(document, schema),
        likeness=schema.likeness,
        log_new_P=log_new_P - calibration.log_odds,
        doubt=calibration.doubt,
    )
    log_share_E = np.log(share_PT[place_E, type_R[edges_E4[number_E, 2]]])
    score_E = scored.score_E.clone()
    score_E[number_E] += readings * torch.from_numpy(log_share_E)
    return replace(scored, score_E=score_E)


def _name_shares(
    text: str,
    places: Sequence[tuple[int, int]],
    types: Sequence[str],
    schema: Schema,
    *,
    likeness: Callable[[str, str], float],
    log_new_P: Doubles,
    doubt: float,
) -> Doubles:
    """Say how probable the name at each place is for an unknown object of each type.

    `likeness` says how well a known name suits a type that it is not known of. `log_new_P` has the
    log-probability of a name that nobody has, and `doubt` is what is taken from it where it may be
    no name.
    """
    names = [text[start:end] for start, end in places]
    doubtful_P = [is_doubtful(text, start, end, schema.names) for start, end in places]
    new_P = np.exp(log_new_P - doubt * np.array(doubtful_P))
    kinds = list(NameKind)
    new_TK = np.array([_shares_of_new_names(type_, kinds, schema) for type_ in types])
    kind_P = [kinds.index(kind_of_name(name)) for name in names]
    share_PT: Doubles = new_P[:, None] * new_TK.T[kind_P]
    number_of = {type_: number for number, type_ in enumerate(types)}
    for place, name in enumerate(names):
        if name in schema.names:
            share_PT[place] *= [max(likeness(name, type_), _LEAST_LIKENESS) for type_ in types]
            for type_, count in schema.names[name].types.items():
                usual = schema.types.get(type_)
                if usual is not None and type_ in number_of:
                    share_PT[place, number_of[type_]] += count / (usual.facts + usual.objects)
    return np.maximum(share_PT, _TINY)


def _shares_of_new_names(type_: str, kinds: Sequence[NameKind], schema: Schema) -> list[float]:
    """Say how many facts of a type have an object that none had before, with each kind of name."""
    usual = schema.types.get(type_)
    unseen = 1.0 if usual is None else usual.unseen
    return [unseen * max(kind_share(type_, kind, schema), _LEAST_SHARE) for kind in kinds]


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


def judge(
    stated_document: StatedDocument,
    schema: Schema,
    *,
    threshold: float,
    calibration: Calibration = UNCALIBRATED,
    trust: Trust = Trust.NEITHER,
) -> CheckedText:
    """Compare what a text states with what is known about its topic."""
    document = stated_document.document
    known: dict[str, list[Fact]] = {}
    for relation in document.relations:
        if relation.type != TITLE and not relation.is_open:
            known.setdefault(relation.type, []).append(fact_of(relation, 0))
    believed = _believed(stated_document, schema, calibration, trust)
    findings = [
        _finding(stated_document, statement, probability, known, schema, trust=trust)
        for statement, probability in _apart(believed)
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


def _believed(
    stated_document: StatedDocument, schema: Schema, calibration: Calibration, trust: Trust
) -> Iterator[tuple[Statement, float]]:
    """Say how probable statements are, hypotheses by how often such ones are right."""
    circumstances = Circumstances(stated_document, schema)
    for statement, probability in stated_document.probabilities.items():
        if statement.object is not None:
            yield statement, probability
            continue
        standing = circumstances.type_standing(statement)
        if trust is Trust.GRAPH and standing is TypeStanding.LACKED:
            continue  # it could only be a fact that the graph lacks
        if calibration.weighs_circumstances:
            if probability >= WORTH_A_LOOK and statement.type != TITLE:
                there = circumstances.of(statement)
                yield statement, calibration.weighed(standing, there, trust)
        else:
            known_name = circumstances.standing(statement)
            yield statement, calibration.believed(min(probability, 1.0), known_name)


def _apart(statements: Iterable[tuple[Statement, float]]) -> list[tuple[Statement, float]]:
    """Give the most probable statements that do not overlap, in the order of the text."""
    taken: set[int] = set()
    kept = []
    for statement, probability in sorted(statements, key=lambda each: -each[1]):
        tokens = range(statement.start, statement.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            kept.append((statement, probability))
    return sorted(kept)


def _finding(
    stated_document: StatedDocument,
    statement: Statement,
    probability: float,
    known: Mapping[str, list[Fact]],
    schema: Schema,
    *,
    trust: Trust,
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
        is_all = trust is Trust.GRAPH or schema.is_single(statement.type, objects_here=len(there))
        if there and is_all:
            verdict, instead = GraphVerdict.CONTRADICTED, there
    return Finding(start, end, text, verdict, min(probability, 1.0), document.topic, fact, instead)


def _conflicts(known: Mapping[str, list[Fact]], schema: Schema) -> Iterator[Conflict]:
    """Find types of which the graph has several objects, though topics have one."""
    for type_, facts in known.items():
        objects = {fact.object for fact in facts}
        if len(objects) > 1 and schema.is_single(type_, objects_here=len(objects)):
            yield Conflict(type_, tuple(facts))
