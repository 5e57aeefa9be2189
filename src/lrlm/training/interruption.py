"""Turn Ctrl-C and SIGTERM into a wish to stop, so that training saves its state first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class Interruption:
    """Whether somebody wants training to stop."""

    def __init__(self) -> None:
        self.reason: str | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether to stop as soon as the state can be saved."""
        return self.reason is not None

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.reason is not None and number == signal.SIGINT:
            raise KeyboardInterrupt  # asked twice: at once, and nothing more is saved
        self.reason = _NAMES[signal.Signals(number)]


@contextmanager
def watched() -> Iterator[Interruption]:
    """Catch the signals inside the block; only a program's main thread can."""
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    before = {number: signal.signal(number, interruption._take) for number in _NAMES}  # noqa: SLF001
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
