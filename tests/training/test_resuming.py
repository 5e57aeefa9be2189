"""Stopped anywhere and resumed, training ends with the same weights and losses, to the bit."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lrlm.errors import InputError, StoppedError
from lrlm.runs.config import MUON, TrainingConfig
from lrlm.runs.run import weights_of
from lrlm.training import optimiser
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.environment import Reporter, TrainingEnvironment, TrainingStatus
from lrlm.training.interruption import Interruption
from lrlm.training.metrics import Metrics
from lrlm.training.optimiser import copies
from tests.training.toy_training import CONFIG, make_model, make_trainer

Result = tuple[dict[str, Tensor], dict[str, Tensor], list[dict[str, Any]]]

CASES = [
    ("lrlm", "lstm", replace(CONFIG, epochs=2, accumulate=2)),
    ("lrlm", "transformer-xl", replace(CONFIG, epochs=2, schedule="cosine")),
    ("nklm", "lstm", replace(CONFIG, epochs=2, learning_rate=0.5)),  # so high that it goes back
    ("alias", "lstm", replace(CONFIG, epochs=2)),
    ("lrlm", "lstm", replace(CONFIG, epochs=2, optimiser=MUON, dropout_epochs=2)),
]


@pytest.fixture(autouse=True)
def _toy_matrices_are_large_enough_for_muon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_SMALLEST_SIDE", 2)


def test_a_model_says_which_parts_learn_with_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    config, model = replace(CONFIG, optimiser=MUON), make_model()
    before = make_trainer(model, config).optimiser.tensors()
    monkeypatch.setattr(type(model), "learned_with_adam", ("relations",))
    after = make_trainer(model, config).optimiser.tensors()
    moved = {name.removeprefix("momentum/") for name in before.keys() - after.keys()}
    assert moved == {"relations.linear.0.weight", "relations.linear.1.weight"}
    assert all(f"exp_avg/{name}" in after for name in moved)


def session(
    folder: Path, kind: str, backbone: str, config: TrainingConfig, stop_after: int | None = None
) -> Result | None:
    """Train, from the newest checkpoint if there is one; None if it was stopped."""
    torch.manual_seed(99)  # what came before must not matter
    checkpoints = Checkpoints(folder / "checkpoints")
    checkpoint = checkpoints.read()
    path = folder / "metrics.jsonl"
    path.write_bytes(b"" if checkpoint is None else checkpoint.metrics)
    metrics, interruption = Metrics(path), Interruption()

    def count(_status: TrainingStatus) -> None:
        if trainer.position.updates == stop_after:
            interruption.reason = "a test"

    trainer = make_trainer(
        make_model(kind, backbone),
        config,
        TrainingEnvironment(
            interruption=interruption,
            checkpoints=checkpoints,
            metrics=metrics,
            reporter=Reporter(status=count),
        ),
    )
    if checkpoint is not None:
        trainer.restore(checkpoint)
    try:
        trainer.run()
    except StoppedError as error:
        told = str(error)
    else:
        return (
            copies(weights_of(trainer.model)),
            copies(trainer.optimiser.tensors()),
            list(losses(path)),
        )
    finally:
        metrics.close()
    assert "stopped by a test" in told
    assert "the run can be resumed" in told
    return None


def losses(path: Path) -> Iterator[dict[str, Any]]:
    """Read metrics without what depends on time."""
    for line in path.read_text().splitlines():
        values = json.loads(line)
        for name in ("seconds", "tokens_per_second"):
            values.pop(name, None)
        yield values


def assert_same(first: Result, second: Result) -> None:
    for one, other in zip(first[:2], second[:2], strict=True):
        assert one.keys() == other.keys()
        for name in one:
            assert torch.equal(one[name], other[name]), name
    assert first[2] == second[2]


@pytest.mark.parametrize(("kind", "backbone", "config"), CASES)
def test_stopped_after_any_update(
    kind: str, backbone: str, config: TrainingConfig, tmp_path: Path
) -> None:
    (tmp_path / "whole").mkdir()
    whole = session(tmp_path / "whole", kind, backbone, config)
    assert whole is not None
    updates = whole[2][-1]["update"]
    assert updates > 10
    # In all cases together, every place of a batch and of an epoch.
    for stop_after in range(1 + CASES.index((kind, backbone, config)), updates + 1, 4):
        folder = tmp_path / str(stop_after)
        folder.mkdir()
        assert session(folder, kind, backbone, config, stop_after) is None
        resumed = session(folder, kind, backbone, config)
        assert resumed is not None
        assert_same(whole, resumed)


def test_stopped_again_and_again(tmp_path: Path) -> None:
    kind, backbone, config = CASES[0]
    for name in ("whole", "pieces"):
        (tmp_path / name).mkdir()
    whole = session(tmp_path / "whole", kind, backbone, config)
    resumed, sessions = None, 0
    while resumed is None:
        sessions += 1
        resumed = session(tmp_path / "pieces", kind, backbone, config, 3 * sessions)
    assert whole is not None
    assert sessions > 4
    assert_same(whole, resumed)


def test_a_finished_run_stays_as_it_is_and_can_be_lengthened(tmp_path: Path) -> None:
    kind, backbone, config = CASES[0]
    for name in ("whole", "pieces"):
        (tmp_path / name).mkdir()
    first = session(tmp_path / "pieces", kind, backbone, config)
    again = session(tmp_path / "pieces", kind, backbone, config)
    assert first is not None
    assert again is not None
    assert_same(first, again)
    longer = replace(config, epochs=3)
    whole = session(tmp_path / "whole", kind, backbone, longer)
    resumed = session(tmp_path / "pieces", kind, backbone, longer)
    assert whole is not None
    assert resumed is not None
    assert_same(whole, resumed)


def test_another_number_of_processes_is_refused(tmp_path: Path) -> None:
    session(tmp_path, *CASES[0], 4)
    checkpoint = Checkpoints(tmp_path / "checkpoints").read()
    assert checkpoint is not None
    checkpoint.state["processes"] = 3
    with pytest.raises(InputError, match="trained by 3 processes, not by 1"):
        make_trainer().restore(checkpoint)
