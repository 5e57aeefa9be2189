"""A real disk of a few kilobytes, which is soon full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class NoSmallDiskError(Exception):
    """This machine lets nobody mount a disk; says why."""


@contextmanager
def mounted_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a small disk at a new folder."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoSmallDiskError(f"no small disk can be mounted here ({error})") from None
    if mounted.returncode:
        raise NoSmallDiskError(f"no small disk can be mounted here ({mounted.stderr.strip()})")
    try:
        yield folder
    finally:
        # Lazily: tensors that were read from it may still be mapped into memory.
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a small disk at a new folder; where that is not allowed, the test is skipped."""
    try:
        with mounted_disk(folder, kilobytes) as disk:
            yield disk
    except NoSmallDiskError as error:
        pytest.skip(str(error))


def fill(folder: Path, *, leave: int = 0) -> Path:
    """Fill a disk with one file, but for some bytes."""
    status = os.statvfs(folder)
    path = folder / "filler"
    path.write_bytes(bytes(max(status.f_bavail * status.f_frsize - leave, 0)))
    return path
