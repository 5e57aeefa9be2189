"""How often, and how reliably, the most probable explanation of a span is the true one.

A place is a span `[start, end)` of words that at least one candidate covers exactly. A segmentation
explains it in one of these ways, which exclude one another and leave nothing out:

    a relation   the span is one segment, copied through that relation
    words        each of its tokens is a WORD
    otherwise    a segment that is not this span covers some of its tokens
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lrlm.checks import check_at_least
from lrlm.evaluation.judged import JudgedDocument
from lrlm.text import GoldMention, LinkedDocument


class Way(StrEnum):
    """How a place came about."""

    RELATION = "relation"
    WORDS = "words"
    OTHERWISE = "otherwise"


class PlaceExplanation(NamedTuple):
    """One way to explain a place; `fact` is the type and the object where it is a relation."""

    way: Way
    fact: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A candidate span, what the posterior says of it, and what is true of it."""

    document: str
    start: int
    end: int
    words: tuple[str, ...]
    probabilities: dict[PlaceExplanation, float]
    """They sum to one."""
    truth: Way
    best: PlaceExplanation
    """The most probable explanation; of equals a relation, then words."""
    is_right: bool
    """Whether the best explanation is the true one."""
    is_overlapped: bool
    """Whether another candidate span shares a token with it."""
    gold: GoldMention | None = None
    """The true mention, where the place is one."""

    @property
    def confidence(self) -> float:
        """The probability of the best explanation."""
        return self.probabilities[self.best]

    @property
    def candidates(self) -> int:
        """Relations that the place may be a copy of."""
        return sum(explanation.way is Way.RELATION for explanation in self.probabilities)

    @property
    def truth_probability(self) -> float:
        """The probability of the true explanation."""
        return sum(
            probability
            for explanation, probability in self.probabilities.items()
            if explanation.way is self.truth
            and (self.gold is None or _agrees(self.gold, explanation.fact))
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a group of places was explained."""

    places: int
    right: int
    calibration_error: float
    """Expected calibration error: by how much confidence and accuracy differ in ten bins."""

    @property
    def accuracy(self) -> float | None:
        """The share of places whose most probable explanation is the true one."""
        return self.right / self.places if self.places else None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Places of about the same confidence `(low, high]`."""

    low: float
    high: float
    places: int
    confidence: float
    """The mean probability of the best explanations; 0 where there is none."""
    accuracy: float
    """How many of them are true; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class AnnotationQuality:
    """The posterior of a model beside the truth."""

    overall: Verdict
    contested: Verdict
    by_truth: dict[Way, Verdict]
    unlinked: int
    """True mentions that no candidate covers; they count as wrong, but not for calibration."""
    reliability: tuple[ReliabilityBin, ...]


def annotation_quality(places: Sequence[Place], *, unlinked: int = 0) -> AnnotationQuality:
    """Judge all explanations of a model; `unlinked` counts true mentions without a candidate."""
    by_truth = {way: [place for place in places if place.truth is way] for way in Way}
    return AnnotationQuality(
        overall=_verdict(places, missed=unlinked),
        contested=_verdict(contested(places)),
        by_truth={
            way: _verdict(group, missed=unlinked if way is Way.RELATION else 0)
            for way, group in by_truth.items()
        },
        unlinked=unlinked,
        reliability=tuple(reliability(places)),
    )


def truth_by_document(places: Iterable[Place]) -> dict[str, float]:
    """Give the mean probability of the true explanations in each document that has places."""
    found: dict[str, list[float]] = {}
    for place in places:
        found.setdefault(place.document, []).append(place.truth_probability)
    return {document: sum(each) / len(each) for document, each in found.items()}


def contested(places: Iterable[Place]) -> list[Place]:
    """Choose the places where several candidates or a word compete.

    There either several relations have this span as a form, or another candidate span overlaps it,
    or the same words are plain words somewhere among the places. A place inside or across the true
    mention is left out: the true mention, or the words, stand for that decision.
    """
    places = list(places)
    also_words = {place.words for place in places if place.truth is Way.WORDS}
    return [
        place
        for place in places
        if place.truth is not Way.OTHERWISE
        and (place.candidates > 1 or place.is_overlapped or place.words in also_words)
    ]


def reliability(places: Sequence[Place], bins: int = 10) -> list[ReliabilityBin]:
    """Group places by confidence into bins of equal width."""
    check_at_least("bins", bins, 1)
    confidences = np.array([place.confidence for place in places], dtype=np.float64)
    is_right = np.array([place.is_right for place in places], dtype=np.float64)
    edges = [number / bins for number in range(bins + 1)]
    bin_of_place = np.searchsorted(edges[1:-1], confidences, side="left")
    table = []
    for number, (low, high) in enumerate(pairwise(edges)):
        here = bin_of_place == number
        count = int(here.sum())
        table.append(
            ReliabilityBin(
                low,
                high,
                count,
                float(confidences[here].mean()) if count else 0.0,
                float(is_right[here].mean()) if count else 0.0,
            )
        )
    return table


def calibration_error(places: Sequence[Place], bins: int = 10) -> float:
    """Give the expected calibration error: 0 where confidence is exactly how often it is right."""
    table = reliability(places, bins)
    gaps = (each.places * abs(each.confidence - each.accuracy) for each in table)
    return sum(gaps) / max(len(places), 1)


def _verdict(places: Sequence[Place], *, missed: int = 0) -> Verdict:
    return Verdict(
        len(places) + missed,
        sum(place.is_right for place in places),
        calibration_error(places),
    )


def places_of(document: LinkedDocument, judged: JudgedDocument) -> list[Place]:
    """Explain the candidate spans of a document whose truth is known."""
    spans = [(span.start, span.end) for span in (*judged.spans, *judged.spans_within_words)]
    return [
        _place(
            document,
            (span.start, span.end),
            span.facts,
            span.words,
            is_overlapped=any(
                other != (span.start, span.end) and other[0] < span.end and span.start < other[1]
                for other in spans
            ),
        )
        for span in judged.spans
    ]


def _place(
    document: LinkedDocument,
    span: tuple[int, int],
    facts: Sequence[tuple[tuple[str, str], float]],
    words: float,
    *,
    is_overlapped: bool,
) -> Place:
    start, end = span
    probabilities = {PlaceExplanation(Way.RELATION, fact): value for fact, value in facts}
    probabilities[PlaceExplanation(Way.WORDS)] = words
    probabilities[PlaceExplanation(Way.OTHERWISE)] = max(1.0 - sum(probabilities.values()), 0.0)
    truth, gold = _truth(document.gold or (), start, end)
    best = max(probabilities, key=lambda explanation: probabilities[explanation])
    return Place(
        document=document.id,
        start=start,
        end=end,
        words=tuple(document.tokens.words[start:end]),
        probabilities=probabilities,
        truth=truth,
        best=best,
        is_right=best.way is truth and (gold is None or _agrees(gold, best.fact)),
        is_overlapped=is_overlapped,
        gold=gold,
    )


def _truth(golds: Sequence[GoldMention], start: int, end: int) -> tuple[Way, GoldMention | None]:
    """Say how a span came about, and what it names if it is a mention."""
    overlapping = [gold for gold in golds if gold.start < end and start < gold.end]
    for gold in overlapping:
        if (gold.start, gold.end) == (start, end):
            return Way.RELATION, gold
    return (Way.OTHERWISE if overlapping else Way.WORDS), None


def _agrees(gold: GoldMention, fact: tuple[str, str] | None) -> bool:
    """Compare with what is known of a mention; a type or an object may be left open."""
    return fact is not None and all(
        known is None or known == said
        for known, said in zip((gold.type, gold.object), fact, strict=True)
    )
