"""Write folders whole or not at all, and say in a `manifest.json` what a folder is.

A folder is made under a hidden name beside its final one and renamed when it is complete, so an
error, Ctrl-C or a kill leaves the old state; what a killed process left is cleared by the next.

A manifest lists the files of its folder with their sizes and SHA-256, and ends with a SHA-256 of
itself, so that damage is noticed before a file is used.
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Event
from typing import IO, Any

from lrlm.errors import ExistsError, FormatError, InputError
from lrlm.plain_data import LARGEST_NUMBER, parse_json, read_bytes, shown
from lrlm.whole_files import disk_full_told, draft_path, move_into_place, replace_file

try:
    import fcntl
except ImportError:  # a system without POSIX locks: two writers at once are not detected there
    fcntl = None  # type: ignore[assignment]

AnyPath = str | os.PathLike[str]
"""What users may give where a file or folder is meant: a text, a `Path`, or a trained run."""

MANIFEST = "manifest.json"

_FILES, _SEAL = "files", "sha256"
_CHANGED = (
    "cannot be read (it is not as lrlm wrote it: it is damaged, or another program changed it)"
)
_LARGEST_MANIFEST = 16 << 20
_LONGEST_NAME = 1000
_ATTEMPTS = 5
_CHUNK = 1 << 20


@contextmanager
def new_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Open a new folder to fill; it becomes `target` when the block ends without an error.

    An existing `target` is refused unless it is empty, or it was written by lrlm and `overwrite`
    is set; it then stays in place until the new one is complete. A full disk is told as one.
    """
    with disk_full_told(target), _draft_of(target, overwrite=overwrite) as draft:
        yield draft


@contextmanager
def _draft_of(target: Path, *, overwrite: bool) -> Iterator[Path]:
    target = Path(os.path.realpath(target))  # a link stays, and what it leads to is replaced
    parent = target.parent
    if not parent.is_dir():
        raise InputError(f"{parent} is not a folder; make it first, or choose another place")
    draft, aside = draft_path(target), parent / f".{target.name}.previous"
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
        manifest, _ = _parse_manifest(folder / MANIFEST)
    except FormatError:
        return False
    return str(manifest.get("format")).startswith("lrlm ")


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
    """Write what a folder is into it. Nothing there depends on when or where it was made.

    The last entry is the SHA-256 of all that stands before it. Where the folder is complete,
    `files` holds what `fingerprints_in` gives, so that damage to them is noticed.
    """
    manifest = {"format": format, "version": version, **content, _SEAL: ""}
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    head = text[: text.rindex('""')].encode()
    replace_file(folder / MANIFEST, head + _seal(head))


def _seal(head: bytes) -> bytes:
    """Give the end of a manifest that begins like this."""
    return f'"{hashlib.sha256(head).hexdigest()}"\n}}\n'.encode()


def read_manifest(folder: Path, *, format: str, version: int, hint: str) -> dict[str, Any]:  # noqa: A002
    """Read what a folder is; where it is something else, `hint` tells how to make one."""
    path = folder / MANIFEST
    if not path.is_file():
        if folder.is_file():
            raise FormatError(f"{folder} is a file, not the folder of an {format}; {hint}")
        raise FormatError(f"{folder} is not an {format}: it has no {MANIFEST}; {hint}")
    manifest, content = _parse_manifest(path)
    if manifest.get("format") != format:
        raise FormatError(f"{folder} is not an {format}; {hint}")
    if manifest.get("version") != version:
        raise FormatError(
            f"{folder} was written in version {shown(manifest.get('version'))} of its format,"
            f" this lrlm reads version {version}; {hint}"
        )
    return _unsealed(manifest, content, path)


def read_number(
    folder: Path,
    manifest: Mapping[str, Any],
    name: str,
    *,
    at_least: int = 1,
    at_most: int = LARGEST_NUMBER,
) -> int:
    """Read a whole number of a folder's manifest; one that is out of range is refused."""
    value = manifest.get(name)
    if type(value) is not int or not at_least <= value <= at_most:
        raise FormatError(
            f"{folder / MANIFEST}: {name!r} must be a whole number from {at_least} to"
            f" {at_most:,}, not {shown(value)}"
        )
    return value


def _parse_manifest(path: Path) -> tuple[dict[str, Any], bytes]:
    content = read_bytes(path, largest=_LARGEST_MANIFEST)
    manifest = parse_json(content, where=str(path))
    return manifest if isinstance(manifest, dict) else {}, content


def _unsealed(manifest: dict[str, Any], content: bytes, path: Path) -> dict[str, Any]:
    """Check a manifest against its own SHA-256, and the shape of its list of files.

    Version 0.1 wrote neither, except for the files of checkpoints.
    """
    is_of_0_1 = not {_SEAL, _FILES} & manifest.keys()
    is_of_0_1 |= list(manifest) == ["format", "version", _FILES]
    if not is_of_0_1:
        head = content[: content.rfind(b'"', 0, content.rfind(b'"'))]
        if content != head + _seal(head):
            raise FormatError(f"{path}: {_CHANGED}")
    entries = manifest.get(_FILES, [])
    if not isinstance(entries, list) or not all(map(_is_fingerprint, entries)):
        raise FormatError(f"{path}: its list of files is damaged")
    return {key: value for key, value in manifest.items() if key != _SEAL}


def _is_fingerprint(entry: object) -> bool:
    """Whether an entry names a file inside its folder, with a size and a SHA-256."""
    match entry:
        case {"name": str(name), "bytes": int(), "sha256": str(), **other} if not other:
            parts = PurePosixPath(name).parts
            is_inside = bool(parts) and not {"..", "/", "//"} & {*parts}
            return is_inside and "\0" not in name and len(name) <= _LONGEST_NAME
    return False


def fingerprints_in(folder: Path) -> list[dict[str, Any]]:
    """Fingerprint the files of a folder for its manifest, by their names from the folder on.

    A folder inside that has a manifest of its own is known by that. Hidden files do not count.
    """
    found: list[dict[str, Any]] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == MANIFEST:
            continue
        if path.is_file():
            found.append(fingerprint(path))
        else:
            inside = [fingerprint(path / MANIFEST)] if _is_ours(path) else fingerprints_in(path)
            found += [{**each, "name": f"{path.name}/{each['name']}"} for each in inside]
    return found


def check_files(
    folder: Path,
    manifest: Mapping[str, Any],
    names: Container[str] | None = None,
    *,
    but: Container[str] = (),
) -> None:
    """Refuse files that are not as their folder's manifest says: these, or all but some.

    Where the manifest says nothing of a file, nothing can be told of it.
    """
    for name, accepted in _listed(manifest).items():
        if (names is None or name in names) and name not in but:
            fault = _fault(folder, name, accepted)
            if fault is not None:
                raise FormatError(f"{folder / name}: {fault}")


def _listed(manifest: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Give what a manifest says of each file; of one that is being replaced, two things."""
    listed: dict[str, list[dict[str, Any]]] = {}
    for entry in manifest.get(_FILES, ()):
        listed.setdefault(entry["name"], []).append(entry)
    return listed


def _fault(folder: Path, name: str, accepted: Sequence[Mapping[str, Any]]) -> str | None:
    """Say what is wrong with a file; None where it is as it was written.

    Both may be replaced just now by another process: what has changed is looked at again.
    """
    fault = None
    for _ in range(_ATTEMPTS):
        fault = _difference(folder / name, accepted)
        if fault is None:
            return None
        try:
            path = folder / MANIFEST
            now = _listed(_unsealed(*_parse_manifest(path), path)).get(name, [])
        except FormatError:
            return fault
        if now == accepted:
            return fault
        accepted = now
    return fault


def _difference(path: Path, accepted: Sequence[Mapping[str, Any]]) -> str | None:
    try:
        size = path.stat().st_size
        if all(size != entry["bytes"] for entry in accepted):
            wanted = accepted[0]["bytes"]
            return f"cannot be read (it has {size:,} bytes, not the {wanted:,} that were written)"
        digest = fingerprint(path)["sha256"]
    except FileNotFoundError:
        return "cannot be read (it is missing)"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None if any(digest == entry["sha256"] for entry in accepted) else _CHANGED


def replace_listed(draft: Path, path: Path) -> None:
    """Move a finished file into a folder, and tell the folder's manifest, if it lists files.

    In between the manifest accepts the old file and the new one, so a kill at any moment leaves
    a folder that can be used.
    """
    folder, manifest = path.parent, {}
    if (folder / MANIFEST).is_file():
        manifest = _unsealed(*_parse_manifest(folder / MANIFEST), folder / MANIFEST)
    if _FILES not in manifest:
        move_into_place(draft, path)
        return
    new = {**fingerprint(draft), "name": path.name}
    old = _listed(manifest).get(path.name, [])
    others = [entry for entry in manifest[_FILES] if entry["name"] != path.name]

    def list_as(*entries: dict[str, Any]) -> None:
        files = sorted((*others, *entries), key=lambda entry: str(entry["name"]))
        write_manifest(folder, **{**manifest, _FILES: files})

    if old and old != [new]:
        list_as(new, *old)
    move_into_place(draft, path)
    if old != [new]:
        list_as(new)


def rewrite_manifests(folder: Path) -> None:
    """Fingerprint the files of all folders with manifests in a folder again, innermost first."""
    for path in sorted(folder.rglob(MANIFEST), key=lambda path: -len(path.parts)):
        if not _is_ours(path.parent):
            continue
        manifest, _ = _parse_manifest(path)
        content = {key: value for key, value in manifest.items() if key not in (_SEAL, _FILES)}
        write_manifest(path.parent, **content, files=fingerprints_in(path.parent))


@dataclass(frozen=True)
class FolderCheck:
    """Whether everything in a folder is as it was written."""

    folder: Path
    format: str
    """What the folder is, as `lrlm run`; empty where it only holds such folders."""
    files: int
    """How many files were checked, manifests included."""
    bytes: int
    damaged: tuple[str, ...]
    """Files that are not as they were written, each with the reason."""
    unchecked: tuple[str, ...]
    """Folders of version 0.1, which kept no checksums."""


def verify(folder: Path | str) -> FolderCheck:
    """Check every file in a folder that lrlm wrote, and in all such folders inside it.

    >>> verify("runs/lrlm").damaged
    ()
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    paths = [path for path in folder.rglob(MANIFEST) if not _is_hidden(path.relative_to(folder))]
    files = size = 0
    damaged: list[str] = []
    unchecked: list[str] = []
    formats: dict[Path, str] = {}
    for path in sorted(paths):
        try:
            parsed, content = _parse_manifest(path)
            manifest = _unsealed(parsed, content, path)
        except FormatError as error:
            damaged.append(str(error))
            formats[path] = "damaged"
            continue
        if not str(manifest.get("format")).startswith("lrlm "):
            continue  # another program's
        formats[path] = manifest["format"]
        files, size = files + 1, size + len(content)
        if not {_SEAL, _FILES} & parsed.keys():
            unchecked.append(str(path.parent))
        for name, accepted in _listed(manifest).items():
            fault = _fault(path.parent, name, accepted)
            if fault is not None and path.exists():  # else it was removed just now
                damaged.append(f"{path.parent / name}: {fault}")
            elif not name.endswith(MANIFEST):
                files, size = files + 1, size + accepted[0]["bytes"]
    if not formats:
        raise InputError(f"{folder} holds nothing that lrlm wrote: there is no {MANIFEST} of it")
    own = formats.get(folder / MANIFEST, "")
    return FolderCheck(folder, own, files, size, tuple(damaged), tuple(unchecked))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


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
