"""How often findings are right, fitted and compared with how often they were."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.checking.beliefs import Hypothesis, apart, best_threshold, fitted_beliefs
from lrlm.checking.calibration import (
    CALIBRATION,
    Calibration,
    NameStanding,
    Trust,
    TypeStanding,
    calibration_of,
    calibration_text,
    log_odds_of,
)
from lrlm.checking.fitting import fit_calibration
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.errors import FormatError, InputError
from lrlm.knowledge.schema import Schema
from tests.toy_run import toy_run

TRUTH = Calibration(
    held={"always": -1.0, "log_odds": 0.5, "named_too": -2.0},
    lacked={"always": -2.0, "log_odds": 0.3, "type_word": 1.5},
)


def drawn(calibration: Calibration, count: int, topics: int = 50) -> list[Hypothesis]:
    """Hypotheses that are right as often as a calibration says."""
    dice = random.Random(3)
    hypotheses = []
    for number in range(count):
        standing = dice.choice(list(TypeStanding))
        circumstances = {
            "always": 1.0,
            "log_odds": dice.uniform(-4.0, 7.0),
            "named_too": float(dice.random() < 0.4),
            "type_word": float(dice.random() < 0.4),
            "later_sentence": float(dice.random() < 0.5),
        }
        is_right = dice.random() < calibration.weighed(standing, circumstances)
        topic = str(dice.randrange(topics))
        hypotheses.append(
            Hypothesis(number, topic, 0, 1, standing, circumstances, is_right, is_swapped=False)
        )
    return hypotheses


def test_what_speaks_for_and_against_is_fitted() -> None:
    fitted, f1 = fitted_beliefs(
        drawn(TRUTH, 20_000), Calibration(log_odds=7.0), hidden=9000, swapped=0
    )
    assert fitted.log_odds == 7.0
    assert 0.3 < f1 < 1.0
    for standing in ("held", "lacked"):
        true, found = getattr(TRUTH, standing), getattr(fitted, standing)
        for name in ("always", "log_odds", "named_too", "type_word", "later_sentence"):
            assert found.get(name, 0.0) == pytest.approx(true.get(name, 0.0), abs=0.2)


def test_new_types_are_learned_from_hidden_facts_alone() -> None:
    hypotheses = drawn(TRUTH, 4000)
    swapped = [
        each._replace(text=10_000 + each.text, is_right=False, is_swapped=True)
        for each in hypotheses
        if each.standing is TypeStanding.LACKED
    ]
    alone, _ = fitted_beliefs(hypotheses, Calibration(), hidden=1000, swapped=0)
    both, _ = fitted_beliefs([*hypotheses, *swapped], Calibration(), hidden=1000, swapped=1000)
    assert both.lacked == alone.lacked
    assert both.held == alone.held


def test_who_trusts_one_side_learns_from_what_may_happen_then() -> None:
    """Of types that the topic has, another name is an error in one half of the texts only."""
    dice = random.Random(5)
    hypotheses = [
        each._replace(
            text=number,
            is_swapped=number % 2 == 0,
            is_right=number % 2 == 0 and dice.random() < 0.9,
        )
        for number, each in enumerate(drawn(TRUTH, 4000))
        if each.standing is TypeStanding.HELD
    ]
    right = sum(each.is_right for each in hypotheses)
    fitted, _ = fitted_beliefs(hypotheses, Calibration(), hidden=0, swapped=right)

    def believed(trust: Trust) -> float:
        ps = [fitted.weighed(TypeStanding.HELD, each.circumstances, trust) for each in hypotheses]
        return sum(ps) / len(ps)

    assert believed(Trust.NEITHER) == pytest.approx(0.45, abs=0.03)
    assert believed(Trust.GRAPH) == pytest.approx(0.9, abs=0.03)
    assert believed(Trust.TEXT) < 0.03
    assert fitted.error_threshold > fitted.threshold
    # A calibration that was fitted before there was the choice says the same in all cases.
    assert TRUTH.weighed(TypeStanding.HELD, {"always": 1.0}, Trust.TEXT) == TRUTH.weighed(
        TypeStanding.HELD, {"always": 1.0}
    )


def test_texts_that_were_trained_on_teach_weights_and_choose_nothing() -> None:
    """There the model is surer than elsewhere, so thresholds and F1 are those of other texts."""
    new = drawn(TRUTH, 300, topics=5)
    taught = [
        each._replace(text=10_000 + each.text, topic=f"t{each.topic}", is_trained=True)
        for each in drawn(TRUTH, 8000)
    ]
    alone = fitted_beliefs(new, Calibration(), hidden=200, swapped=0)
    both = fitted_beliefs([*new, *taught], Calibration(), hidden=200, swapped=0)

    def away(calibration: Calibration) -> float:
        pairs = ((TRUTH.held, calibration.held), (TRUTH.lacked, calibration.lacked))
        return sum(
            abs(found.get(name, 0.0) - weight)
            for true, found in pairs
            for name, weight in true.items()
        )

    assert away(both.calibration) < 0.5 < away(alone.calibration)
    right = [each._replace(is_right=True) for each in taught]
    flattered = fitted_beliefs([*new, *right], Calibration(), hidden=200, swapped=0)
    assert flattered.f1 == pytest.approx(both.f1, abs=0.1)
    assert fitted_beliefs(taught, Calibration(), hidden=0, swapped=0).f1 == 0.0


def test_what_no_other_topic_confirms_counts_little() -> None:
    """One topic whose hypotheses are all right by chance does not make it a rule."""
    hypotheses = drawn(TRUTH, 200, topics=20)
    odd = [
        each._replace(topic="odd", is_right=True, circumstances={**each.circumstances, "date": 1.0})
        for each in hypotheses[:60]
    ]
    fitted, _ = fitted_beliefs([*hypotheses, *odd], Calibration(), hidden=100, swapped=0)
    weighed = fitted.held.get("date", 0.0), fitted.lacked.get("date", 0.0)
    assert max(weighed) < 3.0


def test_without_hypotheses_the_lattice_is_believed() -> None:
    fitted, f1 = fitted_beliefs([], Calibration(), hidden=3, swapped=3)
    assert f1 == 0.0
    assert fitted.weighed(TypeStanding.HELD, {"log_odds": 0.0}) == 0.5
    lone = Hypothesis(0, "a", 0, 1, TypeStanding.HELD, {"always": 1.0}, True, is_swapped=True)
    fitted, _ = fitted_beliefs([lone], Calibration(), hidden=1, swapped=1)
    assert 0.5 < fitted.weighed(TypeStanding.HELD, {"always": 1.0}) < 0.9


@given(st.lists(st.tuples(st.floats(-9, 9), st.booleans(), st.integers(0, 3)), max_size=30))
def test_what_is_more_probable_is_never_believed_less(
    found: list[tuple[float, bool, int]],
) -> None:
    hypotheses = [
        Hypothesis(
            number, str(topic), 0, 1, TypeStanding.HELD,
            {"always": 1.0, "log_odds": odds}, is_right, is_swapped=False,
        )
        for number, (odds, is_right, topic) in enumerate(found)
    ]  # fmt: skip
    fitted, _ = fitted_beliefs(hypotheses, Calibration(), hidden=3, swapped=3)
    beliefs = [
        fitted.weighed(TypeStanding.HELD, {"always": 1.0, "log_odds": odds})
        for odds in (-1e4, -5.0, 0.0, 5.0, 1e4)
    ]
    assert beliefs == sorted(beliefs)
    assert 0.0 <= beliefs[0] <= beliefs[-1] <= 1.0


def test_of_hypotheses_that_overlap_the_most_believed_stays() -> None:
    first = Hypothesis(0, "a", 0, 5, TypeStanding.HELD, {}, True, is_swapped=False)
    others = [first._replace(start=3, end=9), first._replace(start=5, end=9)]
    kept = apart([first, *others, first._replace(text=1)], np.array([0.5, 0.4, 0.3, 0.2]))
    assert [(p, each.text, each.start) for p, each in kept] == [
        (0.5, 0, 0), (0.3, 0, 5), (0.2, 1, 0),
    ]  # fmt: skip


def test_the_threshold_is_the_best_of_all() -> None:
    judged = [
        (TRUTH.weighed(each.standing, each.circumstances), each.is_right)
        for each in drawn(TRUTH, 5000)
    ]
    expected = 2500

    def f1(threshold: float) -> float:
        found = [is_right for probability, is_right in judged if probability >= threshold]
        return 2.0 * sum(found) / (len(found) + expected)

    threshold, best = best_threshold(judged, expected)
    assert best == pytest.approx(max(f1(each) for each in np.linspace(0.0, 1.0, 1001)), abs=0.002)
    assert f1(threshold) >= best - 0.01
    assert best_threshold([], 3) == (0.0, 0.0)


def test_a_calibration_is_kept_to_the_digit(tmp_path: Path) -> None:
    run = replace(toy_run("lrlm", "lstm"), folder=tmp_path)
    for calibration in (Calibration(), replace(TRUTH, new_threshold=0.1, threshold=0.3)):
        (tmp_path / CALIBRATION).write_text(calibration_text(calibration))
        assert calibration_of(run) == calibration


def test_calibrations_of_earlier_versions_mean_what_they_meant(tmp_path: Path) -> None:
    run = replace(toy_run("lrlm", "lstm"), folder=tmp_path)
    old = {"log_odds": 5.0, "doubt": 15.0, "spelling": 0.0, "slope": 0.5, "usual": 0.0}
    old |= {"elsewhere": -1.0, "unknown": -0.25, "threshold": 0.23}
    (tmp_path / CALIBRATION).write_text(json.dumps(old))
    calibration = calibration_of(run)
    assert not calibration.weighs_circumstances
    assert calibration.threshold == 0.23
    expected = 1.0 / (1.0 + math.exp(0.25 - 0.5 * log_odds_of(0.9)))
    assert calibration.believed(0.9, NameStanding.UNKNOWN) == pytest.approx(expected)
    broken: list[object] = [
        {"held": 3},
        {"held": {"always": "x"}},
        {"lacked": {"always": math.nan}},
        [],
    ]
    for damaged in broken:
        (tmp_path / CALIBRATION).write_text(json.dumps(damaged))
        with pytest.raises(FormatError, match=CALIBRATION):
            calibration_of(run)


def test_log_odds_are_finite() -> None:
    assert log_odds_of(0.5) == 0.0
    assert log_odds_of(1.0) == pytest.approx(-log_odds_of(0.0))


def test_without_knowledge_of_types_nothing_is_fitted() -> None:
    with pytest.raises(InputError, match="nothing is known of the relation types"):
        fit_calibration(toy_run("lrlm", "lstm"), KnowledgeOfTypes.of(Schema()), [])
