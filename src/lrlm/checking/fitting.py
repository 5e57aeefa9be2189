"""Fit the calibration of a run: hide facts that texts state, and see how well they are found."""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from lrlm.annotation.annotate import check_posteriors
from lrlm.arrays import Doubles
from lrlm.artifacts import replace_file
from lrlm.checking.calibration import (
    CALIBRATION,
    Calibration,
    NameStanding,
    calibration_text,
    log_odds_of,
)
from lrlm.checking.changed_texts import (
    ChangedText,
    stated_facts,
    with_hidden_facts,
    with_swapped_names,
)
from lrlm.checking.findings import GraphVerdict
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.checking.judging import StatedDocument, calibrated, judge, standing_of, stated
from lrlm.errors import InputError
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

MOST_DOCUMENTS = 200
_DOUBTS = (0.0, 12.0)
_SPELLINGS = (0.0, 0.5, 1.0)
_LOG_ODDS = (-12.0, 24.0)

_WORTH_A_LOOK = 0.01
"""Findings that are less probable are not told, and nothing is learned from them."""
_DRAWN = 1.0
"""How strongly the numbers of belief are drawn to those that change nothing."""


class JudgedFinding(NamedTuple):
    """A finding that the graph does not know, and whether it is right."""

    probability: float
    standing: NameStanding
    is_right: bool


def fit_calibration(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Iterable[LinkedDocument],
    *,
    seed: int = 1,
    progress: Progress = silent,
) -> Calibration:
    """Find the calibration with which hidden facts are found best, and little else (F1).

    Then it is fitted how often findings are right, of hidden facts and of swapped names together,
    and from which probability on they are best. Documents are linked as the run's corpus is; at
    most two hundred are read. Where they have gold mentions these say which facts a text states;
    elsewhere the model itself does, which knows the facts then.
    """
    check_posteriors(run)
    if not known.schema.types:
        raise InputError(
            f"nothing is known of the relation types of {run.folder}: it has no schema, and the"
            " corpus that it was trained on is not found, so no fact could be missed"
        )
    drawn = sample(documents, seed=seed)
    facts = stated_facts(run, drawn)
    hidden = list(with_hidden_facts(run, known, drawn, facts, seed=seed))
    if not any(text.truth for text in hidden):
        raise InputError(
            "the texts state no facts that could be hidden, so nothing can be fitted; give more"
            " texts, or ones about topics with facts"
        )

    best: tuple[float, Calibration] | None = None
    choices = list(product(_SPELLINGS, _DOUBTS))
    for number, (spelling, doubt) in enumerate(choices):
        progress("fitting", number, len(choices))
        rest = {"doubt": doubt, "spelling": spelling}

        def loss(log_odds: float, rest: dict[str, float] = rest) -> float:
            return _loss(hidden, known, Calibration(log_odds, **rest))

        log_odds = _lowest(loss, *_LOG_ODDS)
        found = loss(log_odds), Calibration(round(log_odds, 2), **rest)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    texts = [*hidden, *with_swapped_names(run, known, drawn, facts, seed=seed)]
    believing = fitted_belief(_judged(texts, known, best[1]), best[1])
    expected = sum(len(text.truth) for text in texts)
    threshold = best_threshold(_judged(texts, known, believing), expected)
    return replace(believing, threshold=threshold)


def sample(documents: Iterable[LinkedDocument], *, seed: int) -> list[LinkedDocument]:
    """Draw two hundred documents of the first some thousand: a corpus may be sorted by topic."""
    first = list(islice(documents, 25 * MOST_DOCUMENTS))
    if len(first) <= MOST_DOCUMENTS:
        return first
    chosen = random.Random(seed).sample(range(len(first)), MOST_DOCUMENTS)  # noqa: S311
    return [first[number] for number in sorted(chosen)]


def save_calibration(run: Run, calibration: Calibration) -> None:
    """Keep a calibration with its run, for everyone who checks texts with it."""
    replace_file(run.folder / CALIBRATION, calibration_text(calibration).encode())


def _judged(
    texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration
) -> list[JudgedFinding]:
    """Say of every finding that is not known how probable it is, and whether it is right."""
    judged = []
    for text, found in zip(texts, _stated(texts, known, calibration), strict=True):
        checked = judge(found, known.schema, threshold=_WORTH_A_LOOK, calibration=calibration)
        for each in checked.findings:
            if each.verdict is not GraphVerdict.SUPPORTED:
                standing = standing_of(each.text, each.fact.type, known.schema)
                is_right = text.truth.get((each.start, each.end)) == each.fact.type
                judged.append(JudgedFinding(each.probability, standing, is_right))
    return judged


def fitted_belief(judged: Sequence[JudgedFinding], calibration: Calibration) -> Calibration:
    """Fit how much the log-odds of a hypothesis and the standing of its name count, by log loss.

    Numbers are drawn a little to those that change nothing, so that few texts change little.
    """
    if not judged:
        return calibration
    standings = list(NameStanding)
    is_NS = np.array([[each.standing is one for one in standings] for each in judged], dtype=float)
    log_odds_N = np.array([log_odds_of(each.probability) for each in judged])
    right_N = np.array([each.is_right for each in judged], dtype=float)
    feature_NF = np.column_stack([log_odds_N, is_NS])
    neutral_F = np.array([1.0] + [0.0] * len(standings))

    def loss(weight_F: Doubles) -> tuple[float, Doubles]:
        odds_N = feature_NF @ weight_F
        nats = np.logaddexp(0.0, odds_N).sum() - right_N @ odds_N
        away_F = weight_F - neutral_F
        slope_F = feature_NF.T @ (expit(odds_N) - right_N) + _DRAWN * away_F
        return nats + 0.5 * _DRAWN * away_F @ away_F, slope_F

    found = minimize(loss, neutral_F, jac=True, method="L-BFGS-B").x
    slope, *added = (round(float(weight), 2) for weight in found)
    numbers = {one.value: number for one, number in zip(standings, added, strict=True)}
    # With a slope below zero, what is less probable would be believed more.
    return replace(calibration, slope=max(slope, 0.01), **numbers)


def best_threshold(judged: Sequence[JudgedFinding], expected: int) -> float:
    """Find from which probability on findings have the best F1."""
    right, best, threshold = 0, -1.0, 0.5
    for number, each in enumerate(sorted(judged, key=lambda each: -each.probability), start=1):
        right += each.is_right
        if (f1 := 2.0 * right / (number + expected)) > best:
            best, threshold = f1, each.probability
    return math.floor(100.0 * threshold) / 100.0


def _stated(
    texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration
) -> list[StatedDocument]:
    weighed = [
        calibrated(
            each.document,
            each.places,
            each.scored,
            known.schema,
            calibration,
            readings=each.readings,
        )
        for each in texts
    ]
    documents, places = [each.document for each in texts], [each.places for each in texts]
    return stated(documents, places, weighed)


def _loss(texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration) -> float:
    """Give 1 − F1 as it is expected: every statement is found as often as it is probable."""
    right = found = 0.0
    for text, result in zip(texts, _stated(texts, known, calibration), strict=True):
        starts, ends = text.places.starts, text.places.ends
        for statement, probability in result.probabilities.items():
            if statement.object is None:
                place = starts[statement.start], ends[statement.end - 1]
                found += probability
                right += probability * (text.truth.get(place) == statement.type)
    return 1.0 - 2.0 * right / (found + sum(len(text.truth) for text in texts))


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function with one valley is lowest, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > _PRECISE:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


_PRECISE = 0.5
