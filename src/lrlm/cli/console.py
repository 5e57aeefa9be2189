"""Where commands write: results to standard output, progress and messages to standard error."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.highlighter import JSONHighlighter
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from lrlm.look import PASTEL, SIXTEEN
from lrlm.plain_data import json_text
from lrlm.progress import Progress


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`, for which a reader that has seen enough is no trouble."""
        raise BrokenPipeError


output = _Console()
errors = _Console(stderr=True)


@contextmanager
def progress_of(unit: str) -> Iterator[Progress]:
    """Draw a progress bar while the block runs, and give the function that moves it.

    Bytes are shown with their speed and the time that is left. Nothing is drawn where standard
    error is not a terminal.
    """
    columns = (
        (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        if unit == "bytes"
        else (MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn())
    )
    with Bars(
        TextColumn("{task.description}"),
        BarColumn(pulse_style="cyan"),
        *columns,
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ) as bars:
        task = bars.add_task("starting", total=None)

        def progress(doing: str, done: int, total: int) -> None:
            bars.update(task, description=escape(doing), completed=done, total=total or None)

        yield progress


def print_json(content: Any) -> None:
    """Print JSON, in colours where there are some; what a terminal would obey is escaped."""
    text = Text(json_text(content, indent=2), no_wrap=True)
    output.print(JSONHighlighter()(text), soft_wrap=True)


def palette() -> Sequence[str]:
    """Give the colours that the terminal tells apart."""
    return SIXTEEN if output.color_system in ("standard", "windows") else PASTEL


def as_plain_text(shown: RenderableType, *, width: int = 100) -> str:
    """Lay out what a terminal would show as text without colours, for a file."""
    written = StringIO()
    Console(file=written, width=width, color_system=None).print(shown)
    return written.getvalue()
