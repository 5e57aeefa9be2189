"""Nothing in, one thread out: for training whose operations are too small to share.

A small operation that is shared waits for the slowest core: on a machine with other work, two
threads took TransE about five times the CPU time of one. With one thread a sum is
also always taken in the same order, so that what is trained does not depend on the number of cores.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute on one thread inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
