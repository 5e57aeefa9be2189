"""Where commands write to: results on standard output, all else on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`, for which a reader that has seen enough is no trouble."""
        raise BrokenPipeError


output = _Console()
errors = _Console(stderr=True)


@contextmanager
def progress_of(unit: str) -> Iterator[Callable[..., None]]:
    """Give a function that shows what is being done and how far it is; silent when piped."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(pulse_style="cyan"),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=errors, transient=True, disable=not errors.is_terminal
    ) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda doing, done, total=0: progress.update(
            task, description=escape(doing), completed=done, total=total or None
        )


def as_plain_text(shown: RenderableType, *, width: int = 100) -> str:
    """Lay out what a terminal would show as text without colours, for a file."""
    written = StringIO()
    Console(file=written, width=width, color_system=None).print(shown)
    return written.getvalue()
