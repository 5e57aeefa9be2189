"""Write files and folders whole or not at all, and say in a `manifest.json` what a folder is.

A folder is made under a hidden name beside its final one and renamed when it is complete, so an
error, Ctrl-C or a kill leaves the old state; what a killed process left is cleared by the next.
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO, Any
from uuid import uuid4

from lrlm.errors import ExistsError, FormatError, InputError

try:
    import fcntl
except ImportError:  # a system without POSIX locks: two writers at once are not detected there
    fcntl = None  # type: ignore[assignment]

AnyPath = str | os.PathLike[str]
"""What users may give where a file or folder is meant: a text, a `Path`, or a trained run."""

MANIFEST = "manifest.json"
DRAFT = ".partial"
"""The ending of the names of files and folders that are not complete yet."""

_CHUNK = 1 << 20


@contextmanager
def new_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Open a new folder to fill; it becomes `target` when the block ends without an error.

    An existing `target` is refused unless it is empty, or it was written by lrlm and `overwrite`
    is set; it then stays in place until the new one is complete.
    """
    target = Path(os.path.realpath(target))  # a link stays, and what it leads to is replaced
    parent = target.parent
    if not parent.is_dir():
        raise InputError(f"{parent} is not a folder; make it first, or choose another place")
    draft, aside = parent / f".{target.name}{DRAFT}", parent / f".{target.name}.previous"
    with sole_writer(parent / f".{target.name}.lock", target):
        if aside.exists():  # killed between the two renames below
            shutil.rmtree(aside) if target.exists() else aside.rename(target)
        _refuse_unless_replaceable(target, overwrite=overwrite)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir()
            yield draft
            _flush_to_disk(draft)
            if target.exists():
                target.rename(aside)
            draft.rename(target)
            shutil.rmtree(aside, ignore_errors=True)
        finally:
            if aside.exists() and not target.exists():  # stopped between the two renames
                aside.rename(target)
            shutil.rmtree(draft, ignore_errors=True)


def _refuse_unless_replaceable(target: Path, *, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target} is a file; choose another place")
    if not any(target.iterdir()):
        return
    if not _is_ours(target):
        raise InputError(f"{target} holds files that lrlm did not write; choose another place")
    if not overwrite:
        raise ExistsError(f"{target} exists already; choose another place, or overwrite it")


def _is_ours(folder: Path) -> bool:
    """Whether a folder has a manifest of lrlm; other programs write files of that name too."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and str(manifest.get("format")).startswith("lrlm ")


@contextmanager
def sole_writer(lock_path: Path, target: Path) -> Iterator[None]:
    """Hold a lock file inside the block; refuse at once where another process holds it."""
    if fcntl is None:
        yield
        return
    with lock_path.open("w") as lock:
        is_ours = False
        try:
            is_ours = _lock(lock, lock_path)
            if not is_ours:
                raise InputError(f"another process is writing {target} right now")
            yield
        finally:
            if is_ours:
                lock_path.unlink(missing_ok=True)


def _lock(lock: IO[str], lock_path: Path) -> bool:
    """Take a lock if nobody holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The writer before may have removed the file between our opening and locking it.
        return os.path.samestat(os.fstat(lock.fileno()), lock_path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _flush_to_disk(folder: Path) -> None:
    """Make sure that the rename does not reach the disk before the files do."""
    for path in (*folder.rglob("*"), folder):
        if path.is_file() or path == folder:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # no such thing here
                    raise
            finally:
                os.close(descriptor)


def write_manifest(folder: Path, *, format: str, version: int, **content: Any) -> None:  # noqa: A002
    """Write what a folder is into it. Nothing there depends on when or where it was made."""
    manifest = {"format": format, "version": version, **content}
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(folder: Path, *, format: str, version: int, hint: str) -> dict[str, Any]:  # noqa: A002
    """Read what a folder is; where it is something else, `hint` tells how to make one."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(f"{folder} is not an {format}: it has no {MANIFEST}; {hint}") from None
    except NotADirectoryError:
        raise FormatError(f"{folder} is a file, not the folder of an {format}; {hint}") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: cannot be read ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("format") != format:
        raise FormatError(f"{folder} is not an {format}; {hint}")
    if manifest.get("version") != version:
        raise FormatError(
            f"{folder} was written in version {manifest.get('version')} of its format,"
            f" this lrlm reads version {version}; {hint}"
        )
    return manifest


def fingerprint(path: Path) -> dict[str, Any]:
    """Identify a file by its content: its last name, its size and its SHA-256."""
    return _fingerprint(path, lambda: None)


@contextmanager
def fingerprints_beside(paths: Sequence[Path]) -> Iterator[Future[list[dict[str, Any]]]]:
    """Hash files in a thread while the block runs; what is not finished when it ends is given up.

    Large files that the block reads anyway then come from the disk only once.
    """
    stop = Event()

    def go_on() -> None:
        if stop.is_set():
            raise CancelledError

    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(lambda: [_fingerprint(path, go_on) for path in paths])
        finally:
            stop.set()


def _fingerprint(path: Path, before_chunk: Callable[[], None]) -> dict[str, Any]:
    """Read a file in chunks; what is called before each may raise, to give up."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            before_chunk()
            digest.update(chunk)
    name = os.fsencode(path.name).decode(errors="replace")  # names need not be text
    return {"name": name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write piece by piece; it appears when the block ends without an error.

    Two writers of one file at once do not disturb each other: the last one's file stays. A device
    or a pipe is written to directly.
    """
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
