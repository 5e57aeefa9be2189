"""Do the models' work beside the event loop: in few threads, within bounds, and only while wanted.

A `Workshop` is a number of threads with a bounded queue before them. Whoever asks while the queue
is full is refused at once. A job that nobody waits for any more (the client has gone, or time is
up) is not begun, and one that was begun is told to stop.

A `Batcher` gathers requests that arrive while its one thread is busy, and hands them over together.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lrlm.errors import LrlmError

Given = TypeVar("Given")
Made = TypeVar("Made")

_GATHER_SHARE, _GATHER_SECONDS = 0.5, 0.2
"""Clients that were answered together ask again together: the next batch waits for as many, but
not longer than this share of the time that the last one took, nor than so many seconds."""
_GAP_SHARE = 0.1
"""Nor longer than such a share in which no other has come: then the others will not."""


class OverloadedError(LrlmError):
    """There is more to do than the server takes on; the same request may work in a moment."""


class GivenUpError(LrlmError):
    """Nobody waits for the result any more."""


class Order:
    """Says whether somebody still waits for a piece of work."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Say that nobody waits any more."""
        self._stopped.set()

    def check(self) -> None:
        """Raise an error where nobody waits any more."""
        if self._stopped.is_set():
            raise GivenUpError("the request was given up")


class Workshop:
    """Some threads that do one job after the other, and a bounded number of jobs that wait."""

    def __init__(self, name: str, *, threads: int, most_waiting: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"lrlm {name}")
        self._most = threads + most_waiting
        self._taken = 0

    @property
    def taken(self) -> int:
        """Jobs that wait or are being done."""
        return self._taken

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self._taken >= self._most:
            raise OverloadedError("the server has too much to do; try again in a moment")
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    async def do(self, job: Callable[[Order], Made]) -> Made:
        """Do a job in a thread; cancelling stops it."""
        order = Order()

        def begin() -> Made:
            order.check()
            return job(order)

        with self._place():
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(self._threads, begin)
            finally:
                order.stop()

    async def stream(self, job: Callable[[Order], Iterator[Made]]) -> AsyncIterator[Made]:
        """Give what a job makes, piece by piece, as soon as it is there; closing stops it."""
        order = Order()
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[Made | Exception | None] = asyncio.Queue()

        def begin() -> None:
            last: Exception | None = None
            try:
                order.check()
                for piece in job(order):
                    order.check()
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except Exception as error:  # noqa: BLE001  it is raised where somebody waits for it
                last = error
            loop.call_soon_threadsafe(pieces.put_nowait, last)

        with self._place():
            working = loop.run_in_executor(self._threads, begin)
            try:
                while (piece := await pieces.get()) is not None:
                    if isinstance(piece, Exception):
                        raise piece
                    yield piece
            finally:
                order.stop()
                working.cancel()

    def close(self) -> None:
        """Let begun jobs end; what waits is not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(eq=False)
class _Waiting(Generic[Given, Made]):
    given: Given
    result: "asyncio.Future[Made]" = field(init=False)

    def __post_init__(self) -> None:
        self.result = asyncio.get_running_loop().create_future()


class Batcher(Generic[Given, Made]):
    """Hands requests that wait at the same time to one function, all together.

    The function gives one result for each, in their order; an error stands in the place of a
    result.
    """

    def __init__(
        self,
        make: Callable[[Sequence[Given]], Sequence[Made | Exception]],
        *,
        name: str,
        most_waiting: int,
        together: int,
    ) -> None:
        self._make = make
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"lrlm {name}")
        self._most = most_waiting
        self._together = together
        self._waiting: list[_Waiting[Given, Made]] = []
        self._busy = 0
        self._wanted = 0
        """How many the next batch waits for."""
        self._is_full = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    @property
    def taken(self) -> int:
        """Requests that wait or are being worked on."""
        return len(self._waiting) + self._busy

    @property
    def room(self) -> int:
        """How many more may wait."""
        return self._most - len(self._waiting)

    async def do(self, given: Given) -> Made:
        """Give the result of one request; cancelling takes it out of the queue."""
        if self.room < 1:
            raise OverloadedError("the server has too much to do; try again in a moment")
        mine: _Waiting[Given, Made] = _Waiting(given)
        self._waiting.append(mine)
        if len(self._waiting) >= self._wanted:
            self._is_full.set()
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        try:
            return await mine.result
        finally:
            if mine in self._waiting:
                self._waiting.remove(mine)

    async def _work(self) -> None:
        """Hand over batches until nothing waits."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch = self._waiting[: self._together]
                del self._waiting[: len(batch)]
                self._busy, begun = len(batch), loop.time()
                try:
                    results = await loop.run_in_executor(
                        self._thread, self._make, [each.given for each in batch]
                    )
                except Exception as error:  # noqa: BLE001  it is raised where somebody waits for it
                    results = [error] * len(batch)
                for each, result in zip(batch, results, strict=True):
                    if each.result.done():
                        continue
                    if isinstance(result, Exception):
                        each.result.set_exception(result)
                    else:
                        each.result.set_result(result)
                self._busy = 0
                await self._gather(len(batch), loop.time() - begun)
        finally:
            self._working = None

    async def _gather(self, answered: int, seconds: float) -> None:
        """Wait a moment until those ask again who were answered by a batch of so many seconds.

        Without it, clients fall into two halves that take turns, and no batch is ever full.
        """
        self._wanted = min(self._together, answered + len(self._waiting))
        if self._wanted == 1 or len(self._waiting) >= self._wanted:
            return  # a single client would wait for itself
        loop = asyncio.get_running_loop()
        end = loop.time() + min(_GATHER_SHARE * seconds, _GATHER_SECONDS)
        gap = _GAP_SHARE * seconds
        self._is_full.clear()
        come = 0
        while (left := end - loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_full.wait(), min(left, gap))
                return
            if come and len(self._waiting) <= come:
                return
            come = len(self._waiting)

    def close(self) -> None:
        """Let the batch that is being made end."""
        self._thread.shutdown(wait=False, cancel_futures=True)
