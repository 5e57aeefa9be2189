"""Files in, their fingerprints out, worked out beside other work for as long as that goes on."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

_CHUNK = 1 << 20


@contextmanager
def fingerprints_beside(paths: Sequence[Path]) -> Iterator[Future[list[dict[str, Any]]]]:
    """Hash files while the block runs; what is not finished when it ends is given up."""
    stop = Event()
    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(lambda: [_fingerprint(path, stop) for path in paths])
        finally:
            stop.set()


def _fingerprint(path: Path, stop: Event) -> dict[str, Any]:
    """Do the same as `lrlm.artifacts.fingerprint`, which cannot be stopped within a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if stop.is_set():
                raise CancelledError
            digest.update(chunk)
    name = os.fsencode(path.name).decode(errors="replace")
    return {"name": name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}
