"""Write what a command made to a file or to standard output, and say what was left out."""

import os
import sys
from collections.abc import Sequence
from io import BufferedWriter, FileIO, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from lrlm.characters import printable
from lrlm.cli.console import errors
from lrlm.errors import InputError
from lrlm.look import counted
from lrlm.whole_files import replace_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

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


class _AtOnce(BufferedWriter):
    """Writes everything at once, or raises an error."""

    def write(self, content: "ReadableBuffer", /) -> int:
        """Write, and do not keep anything back."""
        length = super().write(content)
        self.flush()
        return length


def keep_output_whole() -> None:
    """Let no part of what is written to standard output be lost silently.

    Where Python was told not to buffer (`python -u`), it takes no notice when a disk that becomes
    full accepts only the first part of what is written.
    """
    own = sys.stdout
    if own is not sys.__stdout__ or own is None:  # somebody else's, as in a notebook or a test
        return
    if isinstance(own.buffer, RawIOBase):
        raw = FileIO(own.fileno(), "wb", closefd=False)  # it stays open, whoever ends first
        sys.stdout = TextIOWrapper(
            _AtOnce(raw), encoding=own.encoding, errors=own.errors, write_through=True
        )


def flush_output() -> None:
    """Write what waits to be written; a program may have been started without an output."""
    if sys.stdout is not None:
        sys.stdout.flush()


def give_up_output() -> None:
    """Write what can still be written; the rest Python must not try, and fail, at its end."""
    try:
        flush_output()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def tell_warnings(warnings: Sequence[str]) -> None:
    """Say what may not be as it was meant."""
    for each in warnings:
        told = escape(printable(each))
        errors.print(f"[bold yellow]warning:[/] {told}", highlight=False, soft_wrap=True)


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
