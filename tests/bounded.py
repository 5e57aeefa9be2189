"""Reads files of strangers in processes of their own, which may crash, and says how it went.

Each file is read in a process that is watched: its memory, its time, and whether it does anything
that a reader has no reason to do, as starting programs, opening connections or writing files.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_PEAK = 1 << 30
LONGEST = 10.0
"""Seconds of computing for one file."""
_LONGEST_MESSAGE = 1000
_MOST_MEMORY = 6 << 30
_GIVEN_UP = 60
"""Seconds of computing after which a reader is stopped."""


@dataclass(frozen=True)
class Trial:
    """How reading one file went."""

    reader: str
    name: str
    error: str | None
    """The kind of error, `LrlmError` for all of the library; None where the file was accepted."""
    text: str
    seconds: float
    peak: int
    """Bytes of memory."""
    deeds: tuple[str, ...]
    """What the reader did beside reading."""

    @property
    def fault(self) -> str | None:
        """Say which bound was broken."""
        if self.error not in (None, "LrlmError"):
            return f"{self.name}: {self.error} {self.text[:200]}"
        if self.seconds >= LONGEST:
            return f"{self.name}: took {self.seconds:.1f} s"
        if self.peak >= LARGEST_PEAK:
            return f"{self.name}: took {self.peak / 2**30:.1f} GB"
        if len(self.text) >= _LONGEST_MESSAGE or not self.text.isprintable():
            return f"{self.name}: a message that cannot be shown: {self.text[:100]!a}"
        if self.deeds:
            return f"{self.name}: {', '.join(self.deeds[:3])}"
        return None


def _pickle(path: Path) -> None:
    from lrlm.corpora.importers.plain_pickle import load_plain, stream_plain_list

    with path.open("rb") as stream:
        value = load_plain(stream, path.name)
    repr(value)
    for item in stream_plain_list(path, path.name):
        repr(item)


def _pickled_list(path: Path) -> None:
    from lrlm.corpora.importers.plain_pickle import stream_plain_list

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


def _fasttext(path: Path) -> None:
    from lrlm.features.config import FormVectorConfig
    from lrlm.features.fasttext import read_fasttext

    found = read_fasttext(path, FormVectorConfig(width=3), {"the"})
    found.word_vectors(["a" * 20_000])


def _safetensors(path: Path) -> None:
    from lrlm.tensor_files import read_tensors

    read_tensors(path, {"a": (2, 3)})


def _names(path: Path) -> None:
    from lrlm.tensor_files import read_names

    read_names(path, count=2)


def _openke(path: Path) -> None:
    """Read the ids of a file, which also says how many vectors there are."""
    from lrlm.features.openke import FILES, read_openke

    folder = path.with_name(f"{path.name}-folder")
    for name in FILES:
        (folder / name).write_bytes(b"")
    (folder / "entity2id.txt").unlink()
    (folder / "entity2id.txt").symlink_to(path)
    read_openke(folder, nodes={"Q1"}, types=set(), width=3)


def _topic(path: Path) -> None:
    from lrlm.knowledge import Topic

    Topic.from_json(path)


def _configuration(path: Path) -> None:
    from lrlm.runs.sizes import read_config

    read_config(path.read_text(encoding="utf-8", errors="replace"), where=path.name)


def _vocabulary(path: Path) -> None:
    from lrlm.text import Vocabulary

    Vocabulary.read(path)


def _articles(path: Path) -> None:
    from lrlm.corpora.articles import parse_article
    from lrlm.text_files import BadLines, read_records

    for _ in read_records(path, parse_article, BadLines()):
        pass


def _knowledge(path: Path) -> None:
    from lrlm.knowledge.extract import KnowledgeFile, extract
    from lrlm.knowledge.sources import recognise
    from lrlm.text_files import beginning_of

    source = KnowledgeFile(path, recognise(str(path), beginning_of(path)))
    extract([source], path.with_name(f"{path.name}-folder"), language="en")


READERS: dict[str, Callable[[Path], None]] = {
    "pickles": _pickle,
    "pickled lists": _pickled_list,
    "tensors": _tensors,
    "archives": _tar,
    "XML": _xml,
    "fastText": _fasttext,
    "safetensors": _safetensors,
    "names of rows": _names,
    "OpenKE": _openke,
    "topics": _topic,
    "configurations": _configuration,
    "vocabularies": _vocabulary,
    "articles": _articles,
    "triples": _knowledge,
    "Wikidata JSON": _knowledge,
    "N-Triples": _knowledge,
}


def trials(files: Mapping[str, Iterable[tuple[str, bytes]]]) -> Iterator[Trial]:
    """Read files, by their readers, and say how each went; a death is one of the ways."""
    with tempfile.TemporaryDirectory() as folder:
        for reader, named in files.items():
            (Path(folder) / reader).mkdir()
            for name, content in named:
                (Path(folder) / reader / name).write_bytes(content)
        command = [sys.executable, "-W", "ignore", "-m", __name__, folder]
        run = subprocess.run(command, capture_output=True, text=True, timeout=7200, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    for line in run.stdout.splitlines():
        told = json.loads(line)
        yield Trial(**{**told, "deeds": tuple(told["deeds"])})


def outcomes(reader: str, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, str]]:
    """Read files; give for each its name and the error's text, or nothing if it was accepted.

    Anything but an error of the library, a crash, too much memory or too much time is a failure.
    """
    for trial in trials({reader: files}):
        assert trial.fault is None, trial.fault
        yield trial.name, trial.text


def _peak() -> int:
    """Give the most memory this process has had; `getrusage` counts the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


_DEEDS = (
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect",
    "socket.bind", "socket.getaddrinfo", "pickle.find_class", "ctypes.dlopen",
)  # fmt: skip
_CHANGES = {
    "os.remove": 0, "os.mkdir": 0, "os.rmdir": 0, "os.chmod": 0, "os.truncate": 0,
    "os.rename": 1, "os.link": 1, "os.symlink": 1,
}  # fmt: skip
"""What changes a folder, and which of its arguments says where."""


def _watch(deeds: list[str], allowed: Path) -> None:
    """Note what a reader has no reason to do; it may write into one folder."""

    def is_inside(path: object) -> bool:
        if not isinstance(path, str):
            return False
        return Path(os.path.normpath(Path.cwd() / path)).is_relative_to(allowed)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _DEEDS or (event in _CHANGES and not is_inside(arguments[_CHANGES[event]])):
            deeds.append(f"{event} {arguments!r:.100}")
        elif event == "open" and isinstance(arguments[0], str | os.PathLike):
            writes = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if writes and not is_inside(arguments[0]):
                deeds.append(f"writes {arguments[0]}")

    sys.addaudithook(hook)


def _try(reader: str, path: Path) -> dict[str, Any]:
    """Read one file in this process."""
    from lrlm.errors import LrlmError

    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_GIVEN_UP + 20, _GIVEN_UP + 20))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _GIVEN_UP)
    told: dict[str, Any] = {"reader": reader, "name": path.name, "error": None, "text": ""}
    deeds: list[str] = []
    _watch(deeds, path.with_name(f"{path.name}-folder"))
    start = time.process_time()
    try:
        READERS[reader](path)
    except LrlmError as error:
        told |= {"error": "LrlmError", "text": str(error)}
    except Exception as error:  # noqa: BLE001  it is told
        told |= {"error": type(error).__name__, "text": str(error)[:300]}
    return {**told, "seconds": time.process_time() - start, "peak": _peak(), "deeds": deeds}


def _try_apart(reader: str, path: Path) -> dict[str, Any]:
    """Read one file in a process made for it; where it dies, say so."""
    ours, theirs = os.pipe()
    folder = path.with_name(f"{path.name}-folder")
    folder.mkdir()
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.chdir(folder)
        told = _try(reader, path)
        with os.fdopen(theirs, "w") as pipe:
            json.dump(told, pipe)
            pipe.flush()
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    shutil.rmtree(folder)
    if text:
        return dict(json.loads(text))
    return {
        "reader": reader,
        "name": path.name,
        "error": "died",
        "text": f"with signal {os.WTERMSIG(status)} after {time.perf_counter() - start:.1f} s",
        "seconds": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss << 10,
        "deeds": (),
    }


def _prepare(reader: str) -> None:
    """Import everything that reading needs, so that it is not counted."""
    import duckdb  # noqa: F401
    import torch  # noqa: F401

    import lrlm.corpora.importers
    import lrlm.corpora.importers.release_vectors
    import lrlm.features
    import lrlm.knowledge.extract
    import lrlm.runs.sizes
    import lrlm.tensor_files  # noqa: F401

    content = b""
    if reader == "fastText":
        from tests.generators.hostile_numbers import fasttext_file

        content = fasttext_file()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "warm-up").write_bytes(content)
        (Path(folder) / "warm-up-folder").mkdir()
        try:
            READERS[reader](Path(folder) / "warm-up")
        except Exception:  # noqa: BLE001  only what it imports is wanted
            return


def _main(folder: str) -> None:
    for place in sorted(Path(folder).iterdir()):
        _prepare(place.name)
        for path in sorted(place.iterdir()):
            sys.stdout.write(json.dumps(_try_apart(place.name, path)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])
