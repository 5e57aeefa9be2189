"""Explained places in, how often and how reliably the best explanation is the true one out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lrlm.checks import check_at_least
from lrlm.evaluation.explanations import Place, Way


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
