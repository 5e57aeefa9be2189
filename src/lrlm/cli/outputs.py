"""Where a command is to write its files: refused before any work is done, if it cannot."""

from collections.abc import Sequence
from pathlib import Path

from lrlm.errors import InputError


def check_writable(files: Sequence[Path]) -> None:
    """Refuse places that cannot be written to."""
    for path in files:
        if not path.parent.is_dir():
            raise InputError(f"{path.parent} is not a folder; make it first")
        if path.is_dir():
            raise InputError(f"{path} is a folder, but a file is to be written there")
    if len(set(files)) < len(files):
        raise InputError("two outputs cannot be written to the same file")
