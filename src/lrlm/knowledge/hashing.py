"""Files in, their fingerprints out, worked out beside other work for as long as that goes on."""

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from lrlm.artifacts import fingerprint


@contextmanager
def fingerprints_beside(paths: Sequence[Path]) -> Iterator[Future[list[dict[str, Any]]]]:
    """Hash files while the block runs; what is not finished when it ends is given up."""
    stop = Event()

    def go_on() -> None:
        if stop.is_set():
            raise CancelledError

    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(lambda: [fingerprint(path, before_chunk=go_on) for path in paths])
        finally:
            stop.set()
