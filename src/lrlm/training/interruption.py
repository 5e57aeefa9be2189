"""Turn Ctrl-C, SIGTERM and a lost launcher into a wish to stop: training saves its state first."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class Interruption:
    """Whether somebody wants training to stop."""

    def __init__(self, *, is_orphaned: Callable[[], bool] = lambda: False) -> None:
        """`is_orphaned` tells whether the program is gone that would otherwise end this one."""
        self.reason: str | None = None
        self._is_orphaned = is_orphaned

    @property
    def is_wanted(self) -> bool:
        """Whether to stop as soon as the state can be saved."""
        if self.reason is None and self._is_orphaned():
            self.reason = "the end of the program that started it"
        return self.reason is not None

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.reason is not None and number == signal.SIGINT:
            raise KeyboardInterrupt  # asked twice: at once, and nothing more is saved
        self.reason = _NAMES[signal.Signals(number)]


@contextmanager
def watched(*, is_orphaned: Callable[[], bool] = lambda: False) -> Iterator[Interruption]:
    """Catch the signals inside the block; only a program's main thread can."""
    interruption = Interruption(is_orphaned=is_orphaned)
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    before = {number: signal.signal(number, interruption._take) for number in _NAMES}  # noqa: SLF001
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
