"""What training runs in: the device, the other processes, checkpoints, and who is told."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from lrlm.runs.run import Tensors
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.interruption import Interruption
from lrlm.training.metrics import Metrics
from lrlm.training.processes import Alone, Processes
from lrlm.training.status import Reporter


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
