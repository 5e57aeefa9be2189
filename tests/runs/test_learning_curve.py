"""Learning curves, from the metrics that training writes."""

from pathlib import Path

import pytest

from lrlm.errors import FormatError
from lrlm.runs.learning_curve import LossPoint, ValidationPoint, read_learning_curve

TRAIN = '{"kind": "train", "update": 50, "epoch": 1, "loss": 6.7, "rate": 0.1, "seconds": 4.6}'
VALID = (
    '{"kind": "valid", "update": 80, "epoch": 1, "nats_per_token": 2.0, "perplexity": 7.4,'
    ' "is_best": true, "seconds": 9.0}'
)
WORSE = VALID.replace("7.4", "8.0").replace("true", "false").replace("80", "160")


def write(folder: Path, *lines: str) -> Path:
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_losses_and_validations(tmp_path: Path) -> None:
    curve = read_learning_curve(write(tmp_path, TRAIN, VALID, '{"kind": "other"}', WORSE))
    assert curve is not None
    assert curve.losses == (LossPoint(50, 4.6, 6.7),)
    assert curve.best == ValidationPoint(80, 9.0, 1, 7.4, is_best=True)
    assert curve.validations[1].is_best is False
    assert (curve.updates, curve.seconds) == (160, 9.0)


def test_a_packed_run_has_none(tmp_path: Path) -> None:
    assert read_learning_curve(tmp_path) is None
    assert read_learning_curve(write(tmp_path)) is None


def test_a_last_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    curve = read_learning_curve(write(tmp_path, TRAIN, VALID[:40]))
    assert curve is not None
    assert curve.validations == ()
    assert curve.best is None


def test_other_damage_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"metrics.jsonl:2: cannot be read"):
        read_learning_curve(write(tmp_path, TRAIN, VALID[:40], TRAIN))


@pytest.mark.parametrize("line", ["[]", "7", TRAIN.replace("6.7", '"6.7"'), '{"kind": "valid"}'])
def test_a_line_without_its_numbers_is_no_point(tmp_path: Path, line: str) -> None:
    curve = read_learning_curve(write(tmp_path, line, VALID))
    assert curve is not None
    assert curve.losses == ()
