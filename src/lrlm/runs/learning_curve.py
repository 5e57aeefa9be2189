"""Read how the training of a run went from its metrics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrlm.artifacts import AnyPath
from lrlm.errors import FormatError
from lrlm.plain_data import parse_json, read_bytes
from lrlm.runs.run import METRICS

_LARGEST = 64 << 20
"""Bytes of metrics: hundreds of thousands of lines."""


@dataclass(frozen=True, slots=True)
class LossPoint:
    """The loss of training since the point before."""

    update: int
    seconds: float
    loss: float
    """Nats per token."""


@dataclass(frozen=True, slots=True)
class ValidationPoint:
    """What the validation documents cost."""

    update: int
    seconds: float
    epoch: int
    perplexity: float
    is_best: bool
    """Whether it was the best so far, so that its weights were kept."""


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The losses and validations of a run, in their order."""

    losses: tuple[LossPoint, ...]
    validations: tuple[ValidationPoint, ...]

    @property
    def best(self) -> ValidationPoint | None:
        """The validation whose weights the run has."""
        return min(self.validations, key=lambda point: point.perplexity, default=None)

    @property
    def updates(self) -> int:
        """Updates of the weights in all, as far as the metrics go."""
        return max((point.update for point in self._points), default=0)

    @property
    def seconds(self) -> float:
        """The time of training and validating."""
        return max((point.seconds for point in self._points), default=0.0)

    @property
    def _points(self) -> list[LossPoint | ValidationPoint]:
        return [*self.losses, *self.validations]


def read_learning_curve(folder: AnyPath) -> LearningCurve | None:
    """Read the metrics of a run; None where it has none, as a run that was packed.

    The last line is passed over if it is cut off, as it may be where training was killed.
    """
    path = Path(folder) / METRICS
    if not path.is_file():
        return None
    losses, validations = [], []
    lines = read_bytes(path, largest=_LARGEST).splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            point = _point(parse_json(line, where=f"{path}:{number}"))
        except FormatError:
            if number == len(lines):
                break
            raise
        if isinstance(point, LossPoint):
            losses.append(point)
        elif isinstance(point, ValidationPoint):
            validations.append(point)
    return LearningCurve(tuple(losses), tuple(validations)) if losses or validations else None


def _point(values: Any) -> LossPoint | ValidationPoint | None:
    """Read a line; None for one that is no part of the curve, as where a loss is no number."""
    if not isinstance(values, dict):
        return None
    numbers = {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    kind = values.get("kind")
    if kind == "train" and {"update", "seconds", "loss"} <= numbers.keys():
        return LossPoint(int(numbers["update"]), numbers["seconds"], numbers["loss"])
    if kind == "valid" and {"update", "seconds", "epoch", "perplexity"} <= numbers.keys():
        return ValidationPoint(
            int(numbers["update"]),
            numbers["seconds"],
            int(numbers["epoch"]),
            numbers["perplexity"],
            is_best=values.get("is_best") is True,
        )
    return None
