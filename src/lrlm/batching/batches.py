"""Group documents of similar length into batches, in a seeded order."""

from collections.abc import Sequence

import numpy as np

from lrlm.errors import InputError

_BATCHES_IN_A_POOL = 50
"""Documents are sorted by length within pools of this many batches: enough to waste little padding,
few enough that the batches of an epoch differ from those of the one before."""


_TOKENS_WORTH_A_BATCH = 128
"""So many are read almost as fast, each of them, as many more."""

_LEAST_FILLED = 0.8
"""A document that fills less of its row goes into the next batch."""


def training_batches(
    lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int
) -> list[list[int]]:
    """Shuffle documents into batches of similar length; the same seed and epoch, the same batches.

    Every document is in exactly one batch.
    """
    _check(batch_size)
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    order = random.permutation(len(lengths))
    pool = batch_size * _BATCHES_IN_A_POOL
    batches: list[list[int]] = []
    for first in range(0, len(order), pool):
        members = sorted(order[first : first + pool].tolist(), key=lengths.__getitem__)
        batches += _chunks(members, batch_size)
    return [batches[index] for index in random.permutation(len(batches))]


def evaluation_batches(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Sort documents into batches by length, longest first, so that memory runs out at once."""
    _check(batch_size)
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    return _chunks(order, batch_size)


def token_batches(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Sort documents into batches by length, longest first, of at most so many tokens.

    Padding counts. So short documents are read many at a time, long ones few, and one that is
    longer than that alone. A batch is also full where the next document would be padded by much.
    """
    _check(most_tokens)
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batches: list[list[int]] = []
    longest = tokens = 0
    for index in order:
        is_padded = tokens >= _TOKENS_WORTH_A_BATCH and lengths[index] < _LEAST_FILLED * longest
        if not batches or tokens + longest > most_tokens or is_padded:
            batches.append([])
            longest, tokens = lengths[index], 0
        batches[-1].append(index)
        tokens += longest
    return batches


def _chunks(members: list[int], size: int) -> list[list[int]]:
    return [members[first : first + size] for first in range(0, len(members), size)]


def _check(batch_size: int) -> None:
    if batch_size < 1:
        raise InputError(f"a batch must have at least 1 document, not {batch_size}")
