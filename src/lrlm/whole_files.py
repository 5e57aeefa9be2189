"""Write files whole or not at all, and tell a full disk as one.

A file is made under a hidden name beside its final one and renamed when it is complete.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from lrlm.errors import DiskFullError, LrlmError

DRAFT = ".partial"
"""The ending of the names of files and folders that are not complete yet."""


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write piece by piece; it appears when the block ends without an error.

    Two writers of one file at once do not disturb each other: the last one's file stays. A device
    or a pipe is written to directly. A full disk is told as one.
    """
    with disk_full_told(path), _draft_file(path) as file:
        yield file


@contextmanager
def _draft_file(path: Path) -> Iterator[IO[bytes]]:
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}{DRAFT}")
    try:
        with draft.open("wb") as file:
            yield file
        move_into_place(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def move_into_place(draft: Path, path: Path) -> None:
    """Rename a finished file to its real name once it has reached the disk."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


_FULL = (errno.ENOSPC, errno.EDQUOT)
_TOLD_AS_FULL = ("No space left on device", "Disk quota exceeded", "database or disk is full")


def is_disk_full(error: BaseException) -> bool:
    """Tell whether an error says that there is no room left, whoever raised it.

    Several libraries that write files give no number with an error, only the system's words.
    """
    if isinstance(error, DiskFullError) or getattr(error, "errno", None) in _FULL:
        return True
    return any(words in str(error) for words in _TOLD_AS_FULL)


@contextmanager
def disk_full_told(target: Path) -> Iterator[None]:
    """Turn the many errors of a full disk into one that names what was to be written."""
    try:
        yield
    except (OSError, LrlmError) as error:
        inner = getattr(error, "path", None)
        is_part = inner is not None and draft_path(target) in inner.parents
        if not is_disk_full(error) or (isinstance(error, DiskFullError) and not is_part):
            raise
        full = DiskFullError(
            f"the disk is full: there is no room left to write {target}; what was there before is"
            " unchanged"
        )
        full.path = target
        raise full from error


def draft_path(target: Path) -> Path:
    """Say where a file or folder is made before it is complete."""
    real = Path(os.path.realpath(target))
    return real.with_name(f".{real.name}{DRAFT}")
