"""Identify large files by their content without reading them again each time.

The hash of a file is kept in the user's cache folder, under the file's path, size, time of change
and number on disk. A file that is replaced has another of these, so its hash is made anew.
"""

import json
import os
from pathlib import Path
from typing import Any

from lrlm.artifacts import fingerprint
from lrlm.errors import FormatError, LrlmError
from lrlm.plain_data import read_json
from lrlm.text_files import reading
from lrlm.whole_files import replace_file

_LARGEST_CACHE = 1 << 20
_MOST_ENTRIES = 1000


def kept_fingerprint(path: Path) -> dict[str, Any]:
    """Give a file's name, size and SHA-256, from the cache if the file is as it was."""
    with reading(path, "a readable file"):
        key = _key(path)
        known = _read()
        digest = known.get(key)
        if isinstance(digest, str):
            return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}
        made = fingerprint(path)
        if _key(path) == key:  # else it was changed while it was read
            _write({**known, key: made["sha256"]})
    return made


def _key(path: Path) -> str:
    status = path.stat()
    return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ino}"


def _cache_file() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lrlm" / "pretrained-hashes.json"


def _read() -> dict[str, Any]:
    """Read the cache; one that is damaged or too large is as good as none."""
    try:
        known = read_json(_cache_file(), largest=_LARGEST_CACHE)
    except FormatError:
        return {}
    return known if isinstance(known, dict) else {}


def _write(known: dict[str, Any]) -> None:
    """Keep the newest entries; where nothing can be written, nothing is kept."""
    entries = dict(list(known.items())[-_MOST_ENTRIES:])
    path = _cache_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(entries, indent=0).encode())
    except (OSError, LrlmError):
        return
