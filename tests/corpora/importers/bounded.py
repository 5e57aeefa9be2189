"""Reads files of strangers in a process of its own, which may crash, and says how it went."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

LARGEST_PEAK = 1 << 30
LONGEST = 10.0
"""Seconds of computing for one file."""


def _pickle(path: Path) -> None:
    from lrlm.corpora.importers.plain_pickle import load_plain, stream_plain_list

    with path.open("rb") as stream:
        value = load_plain(stream, path.name)
    repr(value)
    for item in stream_plain_list(path, path.name):
        repr(item)


def _tensors(path: Path) -> None:
    from lrlm.corpora.importers.release_vectors import read_matrix

    read_matrix(path, path.name)


def _tar(path: Path) -> None:
    from lrlm.corpora.importers.safe_files import files_in

    for _, stream in files_in(path):
        while stream.read(1 << 20):
            pass


def _xml(path: Path) -> None:
    from lrlm.corpora.importers.safe_files import elements

    for _ in elements(path, "entry"):
        pass


READERS: dict[str, Callable[[Path], None]] = {
    "pickle": _pickle,
    "tensors": _tensors,
    "tar": _tar,
    "xml": _xml,
}


def outcomes(reader: str, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, str]]:
    """Read files; give for each its name and the error's text, or nothing if it was accepted.

    Anything but an error of the library, a crash, too much memory or too much time is a failure.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            (Path(folder) / name).write_bytes(content)
        command = [sys.executable, "-W", "ignore", "-m", __name__, reader, folder]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told = [json.loads(line) for line in run.stdout.splitlines()]
    last = told[-1]["name"] if told else "the beginning"
    assert run.returncode == 0, f"it died after {last}: {run.stderr[-2000:]}"
    for each in told:
        assert each["error"] in (None, "LrlmError"), each
        assert each["seconds"] < LONGEST, each
        assert each["peak"] < LARGEST_PEAK, each
        assert len(each["text"]) < 1000, each
        yield each["name"], each["text"]


def _peak() -> int:
    """Give the most memory this process has had; `getrusage` counts the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def _main(reader: str, folder: str) -> None:
    from lrlm.errors import LrlmError

    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    for path in sorted(Path(folder).iterdir()):
        start = time.process_time()
        told: dict[str, Any] = {"name": path.name, "error": None, "text": ""}
        try:
            READERS[reader](path)
        except LrlmError as error:
            told |= {"error": "LrlmError", "text": str(error)}
        except Exception as error:  # noqa: BLE001  it is told
            told |= {"error": type(error).__name__, "text": str(error)[:300]}
        told["seconds"] = time.process_time() - start
        told["peak"] = _peak()
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])
