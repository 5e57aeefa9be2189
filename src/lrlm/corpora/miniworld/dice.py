"""A seed in, the same choices out on every machine and every version of Python.

Only `random.Random.random` promises to give the same numbers in every version; every choice is
therefore built on it here.
"""

import random
from collections.abc import Sequence
from math import fsum
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Choices that depend on the seed alone."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # noqa: S311  (no secrets are made here)

    def chance(self, probability: float) -> bool:
        """Say yes with this probability."""
        return self._random() < probability

    def between(self, low: float, high: float) -> float:
        """Draw a number from `[low, high)`, all equally likely."""
        return low + (high - low) * self._random()

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, choices: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """Draw one choice, each as likely as its weight."""
        if weights is None:
            return choices[int(self._random() * len(choices))]
        left = self._random() * fsum(weights)  # sum() of floats differs between versions
        for choice, weight in zip(choices, weights, strict=True):
            left -= weight
            if left < 0:
                return choice
        return choices[-1]

    def shuffled(self, choices: Sequence[T]) -> list[T]:
        """Give the choices in a random order."""
        order = list(choices)
        for last in range(len(order) - 1, 0, -1):
            other = self.integer(0, last)
            order[last], order[other] = order[other], order[last]
        return order
