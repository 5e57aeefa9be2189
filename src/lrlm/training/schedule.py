"""The schedule of the learning rate, and which validation was the best.

plateau   the paper's for LSTMs: an epoch that has not improved is undone, and the rate falls
cosine    the paper's for Transformer-XL: a linear warm-up, then half a cosine down to zero
"""

import math
from abc import ABC, abstractmethod
from typing import Any

from lrlm.runs.config import PLATEAU, TrainingConfig

_LONGEST_WARM_UP = 0.1
"""Share of all training after which the rate is at its highest, however few updates that is."""


class Schedule(ABC):
    """Remembers the best validation; its state is part of every checkpoint."""

    can_go_back = False
    """Whether the best weights and optimiser state are needed later."""

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.best: float | None = None
        """The lowest nats per word of all validations."""
        self.missed = 0
        """Validations since then."""

    @abstractmethod
    def rate(self, updates: int, progress: float) -> float:
        """Give the learning rate after a number of updates and a share of all training."""

    def judge(self, nats_per_word: float) -> bool:
        """Take in a validation; tell whether it is the best so far."""
        if self.best is None or nats_per_word < self.best:
            self.best, self.missed = nats_per_word, 0
            return True
        self.missed += 1
        return False

    @property
    def goes_back(self) -> bool:
        """Whether training goes on from the best weights now."""
        return self.can_go_back and self.missed > 0

    @property
    def gives_up(self) -> bool:
        """Whether more training is not expected to help."""
        return self.config.patience is not None and self.missed >= self.config.patience

    def state(self) -> dict[str, Any]:
        """Give all that changes."""
        return {"best": self.best, "missed": self.missed}

    def restore(self, state: dict[str, Any]) -> None:
        """Take on a state that `state` gave."""
        self.best, self.missed = state["best"], state["missed"]


class Plateau(Schedule):
    """Keeps the rate while validation improves; each miss is undone and lowers the rate."""

    can_go_back = True

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__(config)
        self._rate = config.learning_rate

    def rate(self, updates: int, progress: float) -> float:  # noqa: ARG002
        """Give the rate, whatever the time."""
        return self._rate

    def judge(self, nats_per_word: float) -> bool:
        """Lower the rate if this is not the best validation so far."""
        is_best = super().judge(nats_per_word)
        if not is_best:
            self._rate *= self.config.decay
        return is_best

    def state(self) -> dict[str, Any]:
        """Give all that changes."""
        return {**super().state(), "rate": self._rate}

    def restore(self, state: dict[str, Any]) -> None:
        """Take on a state that `state` gave."""
        super().restore(state)
        self._rate = state["rate"]


class WarmUpCosine(Schedule):
    """Rises in a straight line over `warm_up` updates, then falls along a cosine to the end."""

    def rate(self, updates: int, progress: float) -> float:
        """Give the rate; the end is where the epochs or the minutes are used up."""
        by_updates = (updates + 1) / (self.config.warm_up + 1)
        rise = min(1.0, max(by_updates, progress / _LONGEST_WARM_UP))
        return self.config.learning_rate * rise * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))


def make_schedule(config: TrainingConfig) -> Schedule:
    """Choose the schedule that a configuration names."""
    return Plateau(config) if config.schedule == PLATEAU else WarmUpCosine(config)
