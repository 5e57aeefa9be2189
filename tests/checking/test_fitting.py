"""How often findings are right, fitted and compared with how often they were."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.checking.calibration import Calibration, NameStanding, log_odds_of
from lrlm.checking.fitting import (
    JudgedFinding,
    best_threshold,
    fit_calibration,
    fitted_belief,
)
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.errors import InputError
from lrlm.knowledge.schema import Schema
from tests.toy_run import toy_run


def drawn(calibration: Calibration, count: int) -> list[JudgedFinding]:
    """Findings that are right as often as a calibration says."""
    dice = random.Random(3)
    judged = []
    for _ in range(count):
        probability, standing = dice.uniform(0.01, 0.999), dice.choice(list(NameStanding))
        is_right = dice.random() < calibration.believed(probability, standing)
        judged.append(JudgedFinding(probability, standing, is_right))
    return judged


def test_what_was_too_sure_is_fitted() -> None:
    truth = Calibration(slope=0.5, usual=1.0, elsewhere=-2.0, unknown=-0.5)
    fitted = fitted_belief(drawn(truth, 20_000), Calibration(log_odds=7.0))
    for name in ("slope", "usual", "elsewhere", "unknown"):
        assert getattr(fitted, name) == pytest.approx(getattr(truth, name), abs=0.15)
    assert fitted.log_odds == 7.0


def test_few_findings_change_little() -> None:
    assert fitted_belief([], Calibration()) == Calibration()
    lone = fitted_belief([JudgedFinding(0.9, NameStanding.USUAL, False)], Calibration())
    assert lone.unknown == lone.elsewhere == 0.0
    assert 0.3 < lone.believed(0.9, NameStanding.USUAL) < 0.9


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.sampled_from(NameStanding), st.booleans())),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
)
def test_belief_never_turns_an_order_around(
    found: list[tuple[float, NameStanding, bool]], one: float, other: float
) -> None:
    fitted = fitted_belief([JudgedFinding(*each) for each in found], Calibration())
    low, high = sorted((one, other))
    for standing in NameStanding:
        assert 0.0 <= fitted.believed(low, standing) <= fitted.believed(high, standing) <= 1.0


def test_the_threshold_is_the_best_of_all() -> None:
    judged = drawn(Calibration(slope=0.7, unknown=-1.0), 300)

    def f1(threshold: float) -> float:
        found = [each.is_right for each in judged if each.probability >= threshold]
        return 2.0 * sum(found) / (len(found) + 200)

    best = best_threshold(judged, 200)
    assert f1(best) >= max(f1(each) for each in np.linspace(0.0, 1.0, 101)) - 0.01


def test_log_odds_are_finite() -> None:
    assert log_odds_of(0.5) == 0.0
    assert log_odds_of(1.0) == pytest.approx(-log_odds_of(0.0))


def test_without_knowledge_of_types_nothing_is_fitted() -> None:
    with pytest.raises(InputError, match="nothing is known of the relation types"):
        fit_calibration(toy_run("lrlm", "lstm"), KnowledgeOfTypes.of(Schema()), [])
