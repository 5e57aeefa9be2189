"""Show how training goes: a progress bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from lrlm.cli.console import errors

if TYPE_CHECKING:
    from lrlm.training.environment import TrainingStatus

_SECONDS_BETWEEN_LINES = 30.0
"""How often a line is written where no bar can be drawn."""


class TrainingDisplay:
    """Draws a progress bar on a terminal; where there is none, writes a line every 30 seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_line = clock() + _SECONDS_BETWEEN_LINES
        columns = (TextColumn("{task.description}"), BarColumn(pulse_style="cyan"))
        self._bars = Bars(*columns, console=errors, transient=True, disable=not errors.is_terminal)
        self._task = self._bars.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def preparing(self, doing: str, done: int, total: int) -> None:
        """Show what is read or made before training begins, and how far that is."""
        self._show(f"{doing}: {done:,} of {total:,}" if total else doing, done, total)

    def status(self, now: "TrainingStatus") -> None:
        """Show how far training is."""
        valid = "" if now.perplexity is None else f", validation perplexity {now.perplexity:.2f}"
        left = "?" if now.seconds_left is None else _duration(now.seconds_left)
        speed = f"{now.tokens_per_second:,.0f} tokens/s"
        self._show(
            f"epoch {now.epoch}: loss {now.loss:.3f}{valid}, {speed}, {left} left", now.share, 1
        )

    def _show(self, text: str, done: float, total: float) -> None:
        if errors.is_terminal:
            self._bars.update(
                self._task, description=escape(text), completed=done, total=total or None
            )
        elif self._clock() >= self._next_line:
            self._next_line = self._clock() + _SECONDS_BETWEEN_LINES
            self.message(text)

    def message(self, text: str) -> None:
        """Write a line that stays, such as the result of an epoch."""
        errors.print(escape(text), highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    """Write a time as people say it: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
