"""A real disk of a few kilobytes, which is soon full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a small disk at a new folder; where that is not allowed, the test is skipped."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no small disk can be mounted here ({error})")
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here ({mounted.stderr.strip()})")
    try:
        yield folder
    finally:
        # Lazily: tensors that were read from it may still be mapped into memory.
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, *, leave: int = 0) -> Path:
    """Fill a disk with one file, but for some bytes."""
    status = os.statvfs(folder)
    path = folder / "filler"
    path.write_bytes(bytes(max(status.f_bavail * status.f_frsize - leave, 0)))
    return path
