"""Write what a command made to a file or to standard output, and say what was left out."""

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.markup import escape

from lrlm.artifacts import replace_file
from lrlm.cli.console import errors
from lrlm.errors import InputError
from lrlm.look import counted

STREAM = "-"
"""Standard input or output, in place of a file."""

_MOST_EXAMPLES = 5


def check_writable(files: Sequence[Path]) -> None:
    """Refuse places that cannot be written to, before any work is done."""
    for path in files:
        if not path.parent.is_dir():
            raise InputError(f"{path.parent} is not a folder; create it first")
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file to write to")
    if len(set(files)) < len(files):
        raise InputError("two outputs cannot be written to the same file")


def is_stream(out: Path | None) -> bool:
    """Whether there is no file to write to."""
    return out is None or str(out) == STREAM


def write_out(content: str, out: Path | None) -> None:
    """Write to a file, whole or not at all, or to standard output."""
    if out is None or is_stream(out):
        typer.echo(content, nl=False)
    else:
        replace_file(out, content.encode())
        tell_written(out)


def tell_written(path: Path) -> None:
    """Say that a file is there."""
    errors.print(f"Wrote {escape(str(path))}.", highlight=False, soft_wrap=True)


def tell_bad_lines(bad_lines: Sequence[str], count: int) -> None:
    """Show lines that could not be used, and how many there were, if any.

    A terminal shows the first few; a file that takes its place gets all that are known.
    """
    shown = bad_lines[:_MOST_EXAMPLES] if errors.is_terminal else bad_lines
    for each in shown:
        errors.print(f"[yellow]skipped:[/] {escape(each)}", highlight=False, soft_wrap=True)
    if count:
        lines = counted(count, "malformed line")
        more = "; standard error in a file (2> FILE) tells more of them"
        is_all = len(shown) == len(bad_lines)
        errors.print(f"[yellow]{lines} skipped[/]{'' if is_all else more}", highlight=False)
