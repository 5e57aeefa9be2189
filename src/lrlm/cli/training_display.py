"""News of a training run in, a line of progress on the terminal out."""

import time
from typing import TYPE_CHECKING, Self

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from lrlm.cli.console import errors

if TYPE_CHECKING:
    from lrlm.training.standing import Standing

_SECONDS_BETWEEN_LINES = 30.0
"""How often progress is told where it cannot be drawn."""


class TrainingDisplay:
    """Draws a line of progress on a terminal; elsewhere, writes a plain one now and then."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(pulse_style="cyan"))
        self._drawn = Progress(
            *columns, console=errors, transient=True, disable=not errors.is_terminal
        )
        self._task = self._drawn.add_task("starting", total=None)
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __enter__(self) -> Self:
        self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._drawn.stop()

    def preparing(self, what: str, done: int, total: int) -> None:
        """Show what is being made, and how far it is."""
        self._drawn.update(
            self._task, description=escape(what), completed=done, total=total or None
        )

    def standing(self, now: "Standing") -> None:
        """Show where training is."""
        valid = "" if now.perplexity is None else f", valid {now.perplexity:.2f}"
        text = (
            f"epoch {now.epoch}: loss {now.loss:.3f}{valid}, {now.tokens_per_second:,.0f} tokens/s,"
            f" {'?' if now.seconds_left is None else _duration(now.seconds_left)} left"
        )
        if errors.is_terminal:
            self._drawn.update(self._task, description=text, completed=now.share, total=1.0)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            self.message(text)

    def message(self, text: str) -> None:
        """Write a line that stays."""
        errors.print(escape(text), highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    """Write a time as people say it: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
