"""One of several processes that train the toy world: `python -m tests.training.worker MODE FOLDER`.

learn   save the gradients of an epoch; then stop, resume, and compare with not stopping
die     the second process is killed on the way
hang    the second process stops answering
"""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from lrlm.errors import LrlmError, StoppedError
from lrlm.models import LanguageModel
from lrlm.runs.run import weights_of
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.environment import Reporter, TrainingEnvironment
from lrlm.training.interruption import Interruption
from lrlm.training.loop import Trainer
from lrlm.training.optimiser import copies
from lrlm.training.processes import Processes, joined
from tests.training.toy_training import CONFIG, make_model, make_trainer

EXACT = replace(CONFIG, epochs=1, batch_size=5)


def gradients(trainer: Trainer) -> list[Tensor]:
    """Train, and give the gradient of every update before it is clipped."""
    found: list[Tensor] = []
    clip = trainer.optimiser.clip

    def noted(longest: float) -> float:
        found.append(trainer.optimiser.gradient.clone())
        return clip(longest)

    trainer.optimiser.clip = noted  # type: ignore[method-assign]
    trainer.run()
    return found


def learn(processes: Processes, folder: Path) -> None:
    trainer = make_trainer(make_model(dropout=0.0), EXACT, TrainingEnvironment(processes=processes))
    found = gradients(trainer)
    if processes.is_first:
        save_file({str(number): each for number, each in enumerate(found)}, folder / "gradients")
    whole = _weights(processes, None, stop_after=None)
    checkpoints = Checkpoints(folder / "checkpoints")
    assert _weights(processes, checkpoints, stop_after=7) is None
    resumed = _weights(processes, checkpoints, stop_after=None)
    assert whole is not None
    assert resumed is not None
    for name, weight in whole.items():
        assert torch.equal(weight, resumed[name]), name
    (folder / f"same-{processes.rank}").touch()


def _weights(
    processes: Processes, checkpoints: Checkpoints | None, *, stop_after: int | None
) -> dict[str, Tensor] | None:
    """Train with dropout; only the second process is asked to stop."""
    interruption = Interruption()

    def count(_status: object) -> None:
        if processes.rank == 1 and trainer.position.updates == stop_after:
            interruption.reason = "a test"

    model: LanguageModel = make_model()
    environment = TrainingEnvironment(
        processes=processes,
        checkpoints=checkpoints,
        interruption=interruption,
        reporter=Reporter(status=count),
    )
    trainer = make_trainer(model, replace(CONFIG, epochs=2, accumulate=2), environment)
    with processes.first_before_others():
        checkpoint = None if checkpoints is None else checkpoints.read()
    if checkpoint is not None:
        trainer.restore(checkpoint)
    try:
        trainer.run()
    except StoppedError:
        return None
    return copies(weights_of(model))


def fail(processes: Processes, how: str) -> None:
    def count(_status: object) -> None:
        if processes.rank == 1 and trainer.position.updates == 3:
            if how == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)

    trainer = make_trainer(
        config=replace(CONFIG, epochs=100),
        environment=TrainingEnvironment(processes=processes, reporter=Reporter(status=count)),
    )
    trainer.run()


def main() -> int:
    mode, folder = sys.argv[1], Path(sys.argv[2])
    timeout = 0.05 if mode == "hang" else 1.0
    try:
        with joined(torch.device("cpu"), timeout_minutes=timeout) as processes:
            learn(processes, folder) if mode == "learn" else fail(processes, mode)
    except LrlmError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
