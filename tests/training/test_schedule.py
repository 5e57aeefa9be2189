"""Learning rates over time, and what becomes of an epoch that has not improved."""

import math

import pytest

from lrlm.runs.config import TrainingConfig
from lrlm.training.schedule import Plateau, WarmUpCosine, make_schedule

PLATEAU = TrainingConfig(learning_rate=0.1, decay=0.5)
COSINE = TrainingConfig(schedule="cosine", learning_rate=0.1, warm_up=9)


def test_the_configuration_chooses() -> None:
    assert isinstance(make_schedule(PLATEAU), Plateau)
    assert isinstance(make_schedule(COSINE), WarmUpCosine)


def test_a_plateau_lowers_the_rate_after_each_miss() -> None:
    schedule = Plateau(PLATEAU)
    seen = []
    for nats in (5.0, 4.0, 4.0, 4.5, 3.0):
        is_best = schedule.judge(nats)
        seen.append((is_best, schedule.goes_back, schedule.rate(7, 0.3)))
    assert seen == [
        (True, False, 0.1),
        (True, False, 0.1),
        (False, True, 0.05),  # the same is not better
        (False, True, 0.025),
        (True, False, 0.025),
    ]


def test_a_cosine_rises_in_a_line_and_falls_to_nothing() -> None:
    schedule = WarmUpCosine(COSINE)
    rises = [schedule.rate(update, 0.0) for update in range(12)]
    assert rises[:10] == pytest.approx([0.01 * number for number in range(1, 11)])
    assert rises[10:] == pytest.approx([0.1, 0.1])
    falls = [schedule.rate(100, progress) for progress in (0.5, 0.75, 1.0)]
    assert falls == pytest.approx([0.05, 0.05 * (1 - math.sqrt(0.5)), 0.0])


def test_warming_up_takes_at_most_a_tenth() -> None:
    schedule = WarmUpCosine(TrainingConfig(schedule="cosine", learning_rate=0.1, warm_up=10**6))
    assert schedule.rate(5, 0.05) == pytest.approx(0.05, rel=0.01)
    assert schedule.rate(10, 0.1) > 0.097


def test_a_cosine_never_goes_back() -> None:
    schedule = WarmUpCosine(COSINE)
    assert schedule.judge(3.0)
    assert not schedule.judge(4.0)
    assert not schedule.goes_back


@pytest.mark.parametrize("config", [PLATEAU, COSINE])
def test_a_state_goes_through_a_checkpoint(config: TrainingConfig) -> None:
    first, second = make_schedule(config), make_schedule(config)
    for nats in (5.0, 6.0, 4.0, 4.1):
        first.judge(nats)
    second.restore(first.state())
    assert second.state() == first.state()
    assert (second.best, second.missed) == (4.0, 1)
    assert second.rate(3, 0.2) == first.rate(3, 0.2)


def test_patience() -> None:
    schedule = make_schedule(TrainingConfig(patience=2))
    verdicts = []
    for nats in (5.0, 6.0, 4.0, 4.1, 4.2):
        schedule.judge(nats)
        verdicts.append(schedule.gives_up)
    assert verdicts == [False, False, False, False, True]
