"""Train with one process or several: sum tensors over all of them with torch.distributed.

Started by `torchrun`, the processes find each other through the environment that it sets. A
process that dies ends the run of all others with an error: nobody waits longer than the timeout.
When `torchrun` itself is killed, nobody is left who would end the others: each of them looks
whether it is still there.
"""

import os
import signal
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import Tensor, distributed

from lrlm.errors import StoppedError
from lrlm.runs.devices import are_several

_LONGEST_PREPARATION = timedelta(days=2)
"""Features may take long to make; if the process that makes them dies, `torchrun` ends the rest."""

_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_TO_ANSWER = 5.0
_ATTEMPTS = 3
_SECONDS_TO_SAVE = 25.0
"""After `torchrun` has died, a process that has not ended by then is ended: nobody else would."""


class Launcher:
    """The program that started this process, if that was `torchrun`."""

    def __init__(self) -> None:
        self._pid = os.getppid() if "TORCHELASTIC_RUN_ID" in os.environ else None

    @property
    def is_gone(self) -> bool:
        """Whether there was such a program, and it has ended before this process."""
        return self._pid is not None and os.getppid() != self._pid

    @contextmanager
    def outlived_briefly(self) -> Iterator[None]:
        """End this process soon after its launcher, whatever it does inside the block.

        Training looks for itself whether the launcher is gone, saves and ends. Before and after
        training this is as Ctrl-C; and what has not ended after some time is stuck.
        """
        if self._pid is None:
            yield
            return
        left = threading.Event()

        def watch() -> None:
            while not left.wait(_SECONDS_BETWEEN_LOOKS):
                if self.is_gone:
                    break
            is_training = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            if not left.is_set() and not is_training:
                os.kill(os.getpid(), signal.SIGINT)
            if not left.wait(_SECONDS_TO_SAVE):
                os._exit(2)

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            left.set()


class Processes(ABC):
    """The processes of a run."""

    rank: int
    """Which of them this one is."""
    count: int

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes."""
        return self.rank == 0

    @abstractmethod
    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Let the first process through the block before the others enter it."""

    @abstractmethod
    def add(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes."""

    @abstractmethod
    def spread(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by those of the first process."""

    @abstractmethod
    def collect(self, content: bytes) -> list[bytes]:
        """Give everybody's content to the first process; to the others, nothing."""


class Alone(Processes):
    """A run of one process."""

    rank = 0
    count = 1

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Go through the block."""
        yield

    def add(self, tensor: Tensor) -> None:
        """Leave a tensor as it is."""

    def spread(self, tensors: Sequence[Tensor]) -> None:
        """Leave tensors as they are."""

    def collect(self, content: bytes) -> list[bytes]:
        """Give the content back."""
        return [content]


class Together(Processes):
    """A run of several processes, each of which reads its share of every batch."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.rank = distributed.get_rank()
        self.count = distributed.get_world_size()
        self._turns = 0

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Wait for the first process, but not for longer than it lives."""
        store = distributed.distributed_c10d._get_default_store()  # noqa: SLF001  no other way
        self._turns += 1
        key = f"lrlm/turn/{self._turns}"
        if not self.is_first:
            with _or_explain():
                store.wait([key], _LONGEST_PREPARATION)
        yield
        if self.is_first:
            with _or_explain():
                store.set(key, "done")

    def add(self, tensor: Tensor) -> None:
        """Sum a tensor over all processes, in place."""
        with _or_explain():
            distributed.all_reduce(tensor)

    def spread(self, tensors: Sequence[Tensor]) -> None:
        """Copy tensors of the first process to all others."""
        with _or_explain():
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)

    def collect(self, content: bytes) -> list[bytes]:
        """Gather bytes in the first process."""
        lengths = torch.zeros(self.count, dtype=torch.long, device=self._device)
        lengths[self.rank] = len(content)
        self.add(lengths)
        padded = torch.zeros(int(lengths.max()), dtype=torch.uint8, device=self._device)
        padded[: len(content)] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        parts = [torch.empty_like(padded) for _ in range(self.count)]
        with _or_explain():
            distributed.all_gather(parts, padded)
        if not self.is_first:
            return []
        return [
            part[:length].cpu().numpy().tobytes()
            for part, length in zip(parts, lengths.tolist(), strict=True)
        ]


@contextmanager
def joined(device: torch.device, *, timeout_minutes: float) -> Iterator[Processes]:
    """Join the other processes of the run, if there are any."""
    if not are_several():
        yield Alone()
        return
    backend = "nccl" if device.type == "cuda" else "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(device)  # which NCCL then uses for this process
    _require_launcher()
    with _or_explain():
        distributed.init_process_group(backend, timeout=timedelta(minutes=timeout_minutes))
    try:
        yield Together(device)
        with _or_explain():  # one that is done must not take the connection away from the others
            distributed.barrier()
    finally:
        # One that failed must not wait here for others that wait for it.
        distributed.destroy_process_group()


def _require_launcher() -> None:
    """End at once if `torchrun` has died while this process was starting.

    Then this process never knew it, but it would wait long for the others: they meet at a store
    that `torchrun` keeps.
    """
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    for _ in range(_ATTEMPTS):
        try:
            socket.create_connection(address, timeout=_SECONDS_TO_ANSWER).close()
        except OSError:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        else:
            return
    raise StoppedError("the program that started this process is gone; nothing was done yet")


@contextmanager
def _or_explain() -> Iterator[None]:
    """Turn the many errors of a lost connection into one that says what to do."""
    try:
        yield
    except RuntimeError as error:
        first_line = (str(error).splitlines() or ["no reason given"])[0]
        raise StoppedError(
            "another process of this run died or does not answer; the last checkpoint is kept, and"
            f" the run can be resumed from it ({first_line})"
        ) from None
