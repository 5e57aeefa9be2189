"""What training runs in, and how far it is: devices, processes, checkpoints, and who is told."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from lrlm.runs.run import Tensors
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.interruption import Interruption
from lrlm.training.metrics import Metrics
from lrlm.training.processes import Alone, Processes


@dataclass
class Position:
    """Where training is, and what it has added up since the last line of metrics."""

    epoch: int = 0
    batch: int = 0
    window: int = 0
    updates: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Of training and validating, all sessions together."""
    validation_seconds: float = 0.0
    """Of the last validation: so much of a budget is kept for the last one."""
    logged_nats: float = 0.0
    logged_tokens: int = 0
    perplexity: float | None = None
    """Of the last validation."""


@dataclass(frozen=True)
class TrainingStatus:
    """What can be shown of training while it goes on."""

    epoch: int
    share: float
    """Of all training that is done, from 0 to 1."""
    loss: float
    """Nats per token of the last update."""
    tokens_per_second: float
    seconds_left: float | None
    """None while that cannot be told."""
    perplexity: float | None
    """Of the last validation."""


@dataclass(frozen=True)
class Reporter:
    """Whom training tells how it is going; by default, nobody."""

    status: Callable[[TrainingStatus], None] = lambda _status: None
    message: Callable[[str], None] = lambda _message: None


class Speed:
    """Tokens per second, measured over a few seconds at a time."""

    _LEAST_SECONDS = 2.0

    def __init__(self, clock: Callable[[], float], tokens: int) -> None:
        self._clock = clock
        self._since, self._tokens = clock(), tokens
        self._last: float | None = None

    def at(self, tokens: int) -> float:
        """Tell the speed, given how many tokens have been read in all."""
        passed = self._clock() - self._since
        current = (tokens - self._tokens) / max(passed, 1e-9)
        if passed >= self._LEAST_SECONDS:
            self._since, self._tokens, self._last = self._clock(), tokens, current
        return current if self._last is None else self._last


@dataclass
class TrainingEnvironment:
    """By default: one process on the CPU that keeps nothing and tells nobody."""

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    processes: Processes = field(default_factory=Alone)
    interruption: Interruption = field(default_factory=Interruption)
    reporter: Reporter = field(default_factory=Reporter)
    checkpoints: Checkpoints | None = None
    metrics: Metrics | None = None
    keep_best: Callable[[Tensors], None] = lambda _weights: None
    """Told the weights of every best validation, in the first process only."""
    clock: Callable[[], float] = time.monotonic
