"""Choose the clusters of an adaptive softmax for a vocabulary and a device.

An adaptive softmax (Grave et al. 2017) puts the frequent words into a head that is scored for
every token, and the rare ones into tails that are scored only for the tokens that need them, with
narrower vectors. Which cutoffs are fastest depends on how often words occur and on what a matrix
product costs, so both are asked instead of fixing numbers. Speed alone would give wide vectors to
a few dozen words only: what the model must be able to tell apart sets the limits. What was chosen
is kept in a model's configuration: a saved model never depends on the machine it is loaded on.
"""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch.nn import functional

from lrlm.errors import InputError

MOST_TAILS = 3
FEWEST_WORDS = 2000
"""Fewer words are not clustered: their softmax is a small part of a step as it is."""
WIDE_SHARE = 0.8
"""At least this share of the running words is in the head, where vectors have their full width."""
NARROWEST = 24
"""No tail is chosen whose vectors would have fewer values."""
WORTH_IT = 0.8
"""Clusters are used only if they are expected to take at most this share of the full softmax."""

_GRID = 28
"""Cutoffs are looked for among this many sizes, evenly spaced in their logarithm."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The words `[first, last)`, with vectors of this width."""

    first: int
    last: int
    width: int

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class SoftmaxCost:
    """Seconds of a softmax over n words of width k for x tokens, forward and backward."""

    call: float = 2e-4
    """For the call itself, whatever its size."""
    score: float = 2e-9
    """For each of the x·n scores: exponentials and memory."""
    product: float = 6e-11
    """For each of the x·n·k products."""

    def seconds(self, tokens: float, words: float, width: float) -> float:
        """Estimate the time of one softmax."""
        return self.call + tokens * words * (self.score + width * self.product)


def choose_cutoffs(
    counts: Sequence[int],
    *,
    width: int,
    divisor: float,
    tokens: int = 4500,
    cost: SoftmaxCost | None = None,
) -> tuple[int, ...]:
    """Give the first word of each tail, or nothing where a full softmax is as good.

    `counts` are those of the words in order of frequency, `width` that of the head's vectors, each
    tail's is `divisor` times smaller than the one before, and `tokens` are scored at a time. The
    fastest cutoffs are taken that respect `FEWEST_WORDS`, `WIDE_SHARE` and `NARROWEST`.
    """
    if any(later > earlier for earlier, later in itertools.pairwise(counts)):
        raise InputError("word counts must be in descending order for an adaptive softmax")
    cost = cost or SoftmaxCost()
    size = len(counts)
    if size < FEWEST_WORDS:
        return ()
    seen = np.concatenate([[0.0], np.cumsum(counts, dtype=np.float64)])
    share = seen / max(seen[-1], 1.0)
    smallest_head = min(max(int(np.searchsorted(share, WIDE_SHARE)), 1), size - 1)
    grid = np.unique(np.geomspace(smallest_head, size - 1, _GRID).round().astype(int)).tolist()
    best, best_seconds = (), WORTH_IT * cost.seconds(tokens, size, width)
    for tails in range(1, MOST_TAILS + 1):
        if width / divisor**tails < NARROWEST:
            break
        for cutoffs in itertools.combinations(grid, tails):
            seconds = cost.seconds(tokens, cutoffs[0] + tails, width)
            for tail, (first, last) in enumerate(itertools.pairwise((*cutoffs, size)), start=1):
                in_tail = tokens * (share[last] - share[first])
                narrow = width / divisor**tail
                seconds += cost.seconds(in_tail, last - first, narrow)
                seconds += cost.seconds(in_tail, narrow, width) + cost.call
            if seconds < best_seconds:
                best, best_seconds = cutoffs, seconds
    return tuple(best)


@cache
def measure_softmax_cost(device: str = "cpu") -> SoftmaxCost:
    """Time a few softmaxes on a device and solve for their cost; takes about a second.

    Each figure is rounded to a power of four: only its size matters for the choice, and two models
    that are to be compared should not get other clusters because the machine was busy for one.
    """
    shapes = ((64, 64, 16), (1024, 4096, 16), (1024, 4096, 256))
    seconds = [_time_softmax(*shape, device=device) for shape in shapes]
    rows = [(1.0, tokens * words, tokens * words * width) for tokens, words, width in shapes]
    call, score, product = np.linalg.solve(np.array(rows), np.array(seconds)).tolist()
    # On a busy machine a figure can come out as nothing or less, or a call as far too long.
    return SoftmaxCost(
        _power_of_four(min(max(call, 1e-6), 1e-3)),
        _power_of_four(max(score, 1e-12)),
        _power_of_four(max(product, 1e-14)),
    )


def _power_of_four(value: float) -> float:
    return float(4.0 ** round(math.log(value, 4)))


def _time_softmax(tokens: int, words: int, width: int, *, device: str, repeats: int = 15) -> float:
    states = torch.randn(tokens, width, device=device, requires_grad=True)
    table = torch.randn(words, width, device=device, requires_grad=True)
    targets = torch.zeros(tokens, dtype=torch.long, device=device)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        loss = functional.cross_entropy(states @ table.t(), targets)
        torch.autograd.grad(loss, (states, table))
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)
