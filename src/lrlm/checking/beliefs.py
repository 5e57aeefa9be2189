"""Fit how often hypotheses are right, by the circumstances under which they stand in texts.

A logistic regression for each standing of a type, drawn to zero (L2) as strongly as is best for
topics that it was not fitted on: texts of one topic stay together.

Shapes: N hypotheses, F circumstances.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from lrlm.arrays import Doubles
from lrlm.checking.calibration import Calibration, Trust, TypeStanding

_STRENGTHS = (3.0, 10.0, 30.0, 100.0)
"""How strongly weights are drawn to zero, in hypotheses; circumstances are standardised first."""
_FOLDS = 5
_BOUNDS: Mapping[str, tuple[float, float]] = {"log_odds": (0.0, math.inf), "rival": (0.0, math.inf)}
"""What is less probable in the lattice is never believed more."""
_SMALLEST = 1e-3
_ALWAYS = "always"


class Hypothesis(NamedTuple):
    """What a text may state that the graph does not have, and whether it does."""

    text: int
    topic: str
    start: int
    end: int
    """Characters."""
    standing: TypeStanding
    circumstances: Mapping[str, float]
    is_right: bool
    is_swapped: bool
    """Whether it stands in a text where a name was swapped; else a fact was hidden."""
    is_trained: bool = False
    """Whether the model was trained on the text."""


class Fitted(NamedTuple):
    """A calibration, and how well it did on texts that nothing was fitted or trained on."""

    calibration: Calibration
    f1: float


class BestThreshold(NamedTuple):
    """From which probability on findings are best, and the best F1 of all thresholds."""

    threshold: float
    f1: float


def fitted_beliefs(
    hypotheses: Sequence[Hypothesis],
    calibration: Calibration,
    *,
    hidden: int,
    swapped: int,
    seed: int = 1,
) -> Fitted:
    """Fit weights by log loss, and the thresholds with the best F1.

    A type of which the topic has no object can only be right where a fact is hidden, so these
    hypotheses are taken from texts with hidden facts; others from all texts, and where one side is
    trusted, from those in which the other was changed. Thresholds are those of texts that the model
    was not trained on, in which `hidden` and `swapped` are how many statements there are to find;
    weights are learned from the others as well, for weights of few topics are those of these
    topics.
    """
    fold_of = _folds(hypotheses, seed)
    held = [each for each in hypotheses if each.standing is TypeStanding.HELD]
    lacked = [each for each in hypotheses if each.standing is TypeStanding.LACKED]
    lacked_weights, lacked_N = _fit(lacked, [not each.is_swapped for each in lacked], fold_of)
    expected = {Trust.NEITHER: hidden + swapped, Trust.GRAPH: swapped, Trust.TEXT: hidden}
    weights, best = {}, {}
    for trust in Trust:
        weights[trust], held_N = _fit(held, [_is_case_of(trust, each) for each in held], fold_of)
        told = [*zip(held, held_N.tolist(), strict=True)]
        if trust is not Trust.GRAPH:
            told += zip(lacked, lacked_N.tolist(), strict=True)
        told = [(each, p) for each, p in told if _is_case_of(trust, each) and not each.is_trained]
        judged = apart([each for each, _ in told], np.array([p for _, p in told]))
        best[trust] = best_threshold([(p, each.is_right) for p, each in judged], expected[trust])
    calibration = replace(
        calibration,
        threshold=best[Trust.NEITHER].threshold,
        error_threshold=best[Trust.GRAPH].threshold,
        new_threshold=best[Trust.TEXT].threshold,
        held=weights[Trust.NEITHER],
        lacked=lacked_weights,
        held_in_wrong_texts=weights[Trust.GRAPH],
        held_in_right_texts=weights[Trust.TEXT],
    )
    return Fitted(calibration, best[Trust.NEITHER].f1)


def _is_case_of(trust: Trust, hypothesis: Hypothesis) -> bool:
    """Tell whether a text was changed as it may happen where one side is trusted."""
    return trust is Trust.NEITHER or hypothesis.is_swapped is (trust is Trust.GRAPH)


def _folds(hypotheses: Iterable[Hypothesis], seed: int) -> dict[str, int]:
    """Give each topic a number, so that there is about the same number of topics of each."""
    topics = sorted({each.topic for each in hypotheses})
    random.Random(seed).shuffle(topics)  # noqa: S311
    return {topic: number % min(_FOLDS, len(topics)) for number, topic in enumerate(topics)}


def _fit(
    hypotheses: Sequence[Hypothesis], used: Sequence[bool], fold_of: Mapping[str, int]
) -> tuple[dict[str, float], Doubles]:
    """Give the weights, and what is believed of each hypothesis by those of other topics.

    Weights are learned from those hypotheses that are `used`.
    """
    used_N = np.array(used, dtype=bool)
    if not used_N.any():
        return {"log_odds": 1.0}, np.array(
            [expit(each.circumstances.get("log_odds", 0.0)) for each in hypotheses]
        )
    names = sorted({name for each in hypotheses for name in each.circumstances})
    value_NF = np.array(
        [[each.circumstances.get(name, 0.0) for name in names] for each in hypotheses]
    )
    right_N = np.array([each.is_right for each in hypotheses], dtype=float)
    fold_N = np.array([fold_of[each.topic] for each in hypotheses])
    best: tuple[float, float, Doubles] | None = None
    for strength in _STRENGTHS:
        odds_N = np.zeros(len(hypotheses))
        for fold in np.unique(fold_N):
            others_N = used_N & (fold_N != fold)
            weight_F = _weights(names, value_NF[others_N], right_N[others_N], strength)
            odds_N[fold_N == fold] = value_NF[fold_N == fold] @ weight_F
        nats = np.logaddexp(0.0, odds_N[used_N]).sum() - right_N[used_N] @ odds_N[used_N]
        if best is None or nats < best[0]:
            best = float(nats), strength, odds_N
    assert best is not None
    # What is sure of topics that were fitted may be less sure of others; its scale never grows.
    odds_N2 = np.column_stack([best[2], np.ones(len(hypotheses))])
    scale, shift = _weights(
        ("scale", _ALWAYS), odds_N2[used_N], right_N[used_N], 1.0, bounds={"scale": (0.0, 1.0)}
    ).tolist()
    weight_F = _weights(names, value_NF[used_N], right_N[used_N], best[1])
    weights = dict(zip(names, (scale * weight_F).tolist(), strict=True))
    weights[_ALWAYS] = weights.get(_ALWAYS, 0.0) + shift
    kept = {name: round(each, 3) for name, each in weights.items() if abs(each) >= _SMALLEST}
    return kept, expit(odds_N2 @ np.array([scale, shift]))


def _weights(
    names: Sequence[str],
    value_NF: Doubles,
    right_N: Doubles,
    strength: float,
    *,
    bounds: Mapping[str, tuple[float, float]] = _BOUNDS,
) -> Doubles:
    """Fit one logistic regression; what always holds is hardly drawn."""
    if not len(value_NF):
        return np.array([float(name == "log_odds") for name in names])
    scale_F = np.maximum(value_NF.std(axis=0), 0.0)
    drawn_F = np.where(scale_F > 0, strength * scale_F**2, 1.0)

    def loss(weight_F: Doubles) -> tuple[float, Doubles]:
        odds_N = value_NF @ weight_F
        nats = np.logaddexp(0.0, odds_N).sum() - right_N @ odds_N
        slope_F = value_NF.T @ (expit(odds_N) - right_N) + drawn_F * weight_F
        return nats + 0.5 * (drawn_F * weight_F) @ weight_F, slope_F

    allowed = [bounds.get(name, (-math.inf, math.inf)) for name in names]
    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=allowed)
    weight_F: Doubles = found.x
    return weight_F


def apart(hypotheses: Sequence[Hypothesis], believed_N: Doubles) -> list[tuple[float, Hypothesis]]:
    """Give the most believed hypotheses of each text that do not overlap, as a check tells them."""
    taken: dict[int, list[tuple[int, int]]] = {}
    kept = []
    for number in np.argsort(-believed_N, kind="stable").tolist():
        each = hypotheses[number]
        there = taken.setdefault(each.text, [])
        if all(each.end <= start or end <= each.start for start, end in there):
            there.append((each.start, each.end))
            kept.append((float(believed_N[number]), each))
    return kept


def best_threshold(judged: Iterable[tuple[float, bool]], expected: int) -> BestThreshold:
    """Say from which probability on findings are best, and the best F1 of all thresholds.

    If probabilities are what they say, F1 is best from half its best value on: a finding that is
    right less often lowers it. That depends less on chance than where the best one was.
    """
    right, best = 0, 0.0
    for number, (_, is_right) in enumerate(sorted(judged, key=lambda each: -each[0]), start=1):
        right += is_right
        best = max(best, 2.0 * right / (number + expected))
    return BestThreshold(math.floor(50.0 * best) / 100.0, best)
