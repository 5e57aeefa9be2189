"""Files of knowledge in; a folder of their statements out, part by part, on all cores.

Each part of a file becomes one Parquet file, written under another name and renamed when it is
complete. A build that was killed finds the parts that are there and goes on behind them; what the
parts hold does not depend on the number of workers or of attempts.
"""

import gc
import json
import mmap
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.errors import FormatError, LrlmError
from lrlm.knowledge.parts import PART_BYTES, Part, parts
from lrlm.knowledge.sources import Format, Parser, parser_of
from lrlm.knowledge.statements import Statements
from lrlm.reading import BadLines

_SUMMARY = b"lrlm part"
_EXAMPLES = 5
_LINES_BEFORE_GIVING_UP = 100_000
"""A file with too many bad lines is given up after so many, not at its end."""


@dataclass(frozen=True)
class Source:
    """A file of knowledge and what is in it."""

    path: Path
    format: Format


@dataclass(frozen=True)
class Progress:
    """How far a build is: bytes of files as they lie on disk, and bytes of text read from them."""

    doing: str
    done: int = 0
    total: int = 0
    text: int = 0


Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class Summary:
    """What a part held; it is kept in the part's file."""

    number: int
    start: int
    end: int
    position: int
    lines: int
    bad: int
    examples: list[tuple[int, str]]
    """The first bad lines, counted from 0 within the part."""
    notes: list[tuple[int, str]]
    damage: str | None

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the summary of a finished part; None if the file is not one."""
        try:
            return cls(**json.loads(pq.read_schema(path).metadata[_SUMMARY]))
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None


@dataclass
class Extracted:
    """What was read from the sources, and what was wrong with some lines."""

    bad_lines: BadLines
    files: list[Path] = field(default_factory=list)
    """Files of statements, unless they have been combined already."""
    notes: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    counts: dict[str, int] | None = None
    """What became of the statements, if they have been combined."""


def extract(
    sources: list[Source],
    folder: Path,
    *,
    language: str,
    workers: int = 1,
    max_bad: float = 0.001,
    keep_damaged: bool = False,
    part_bytes: int = PART_BYTES,
    tell: Tell = lambda _: None,
) -> Extracted:
    """Turn every source into statements in `folder`, going on where an earlier run was stopped."""
    total = sum(source.path.stat().st_size for source in sources)
    extracted = Extracted(BadLines(max_bad))
    before = text_before = 0
    with _pool(workers, language, folder, part_bytes) as submit:
        for number, source in enumerate(sources):
            lines = bad = text = 0
            for path, summary in _parts_in_order(
                number, source, folder, submit, workers=workers, part_bytes=part_bytes
            ):
                extracted.files.append(path)
                for line, reason in summary.examples:
                    extracted.bad_lines.add(source.path, lines + line + 1, reason)
                extracted.bad_lines.count += summary.bad - len(summary.examples)
                for line, remark in summary.notes[: _EXAMPLES - len(extracted.notes)]:
                    extracted.notes.append(f"{source.path}:{lines + line + 1}: {remark}")
                lines += summary.lines
                bad += summary.bad
                text = summary.end
                if lines >= _LINES_BEFORE_GIVING_UP:
                    extracted.bad_lines.check(source.path, bad, lines)
                if summary.damage is not None:
                    _damaged(source, lines + 1, summary.damage, extracted, keep=keep_damaged)
                tell(
                    Progress(
                        f"reading {source.path.name}",
                        before + summary.position,
                        total,
                        text_before + text,
                    )
                )
            extracted.bad_lines.check(source.path, bad, lines)
            if not lines:
                raise FormatError(f"{source.path} is empty")
            before += source.path.stat().st_size
            text_before += text
    return extracted


def _damaged(source: Source, line: int, damage: str, extracted: Extracted, *, keep: bool) -> None:
    message = f"{source.path}:{line}: damaged or truncated ({damage})"
    if not keep:
        raise FormatError(f"{message}; --keep-damaged uses what comes before")
    extracted.damaged.append(message)


def _parts_in_order(
    number: int,
    source: Source,
    folder: Path,
    submit: "_Submit",
    *,
    workers: int,
    part_bytes: int,
) -> Iterator[tuple[Path, Summary]]:
    """Give the parts of a source in their order, made now or by an earlier run."""

    def path_of(part: int) -> Path:
        return folder / f"{number:03d}-{part:06d}.parquet"

    first = start = 0
    while (summary := Summary.read(path_of(first))) is not None:
        yield path_of(first), summary
        first, start = first + 1, summary.end
        if summary.damage is not None:
            return
    waiting: deque[tuple[Path, Future[Summary]]] = deque()
    for part, text in parts(
        source.path, size=part_bytes, threads=workers, number=first, start=start
    ):
        path = path_of(part.number)
        waiting.append((path, submit(text, path, part, number, source.format)))
        while len(waiting) > workers or (waiting and waiting[0][1].done()):
            path, future = waiting.popleft()
            yield path, future.result()
    for path, future in waiting:
        yield path, future.result()


_Submit = Callable[[memoryview, Path, Part, int, Format], "Future[Summary]"]


@contextmanager
def _pool(workers: int, language: str, folder: Path, part_bytes: int) -> Iterator[_Submit]:
    """Give a function that has a part parsed, here or by one of several processes."""
    if workers == 1:
        yield partial(_at_once, language)
        return
    slots: SimpleQueue[_Slot] = SimpleQueue()
    for number in range(workers + 2):
        slots.put(_Slot(folder / f"slot-{number}", part_bytes))
    # A new interpreter for each worker: forking a process with threads is not safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker) as pool:

        def submit(text: memoryview, *task: Any) -> Future[Summary]:
            slot = slots.get()
            slot.text[: len(text)] = text
            future = pool.submit(_extract_slot, language, slot.path, len(text), *task)
            future.add_done_callback(lambda _: slots.put(slot))
            return future

        try:
            yield submit
        except BrokenProcessPool:
            raise LrlmError(
                "a worker process died while reading (out of memory?); try fewer --workers"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Slot:
    """A file in memory through which a text goes to another process without being copied."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        with path.open("w+b") as file:
            file.truncate(size)
            self.text = memoryview(mmap.mmap(file.fileno(), size))


@cache
def _slot_text(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _extract_slot(language: str, slot: Path, size: int, *task: Any) -> Summary:
    return _extract_part(language, _slot_text(slot)[:size], *task)


def _at_once(language: str, text: memoryview, *task: Any) -> Future[Summary]:
    future: Future[Summary] = Future()
    future.set_result(_extract_part(language, bytes(text), *task))
    return future


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process stops the workers
    gc.disable()  # the rows of a part are no cycles, and there are a great many of them


_parser = lru_cache(maxsize=4)(parser_of)


def _extract_part(  # noqa: PLR0917  passed on by position to another process
    language: str,
    text: bytes,
    path: Path,
    part: Part,
    number: int,
    kind: Format,
) -> Summary:
    """Parse the text of a part and write its statements."""
    lines = text.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    statements = Statements()
    parser: Parser = _parser(kind, language)
    parser(lines, statements)
    statements.counts["lines"] += len(lines)
    summary = Summary(
        number=part.number,
        start=part.start,
        end=part.end,
        position=part.position,
        lines=len(lines),
        bad=len(statements.bad),
        examples=statements.bad[:_EXAMPLES],
        notes=[(line, remark) for remark, line in statements.notes.items()][:_EXAMPLES],
        damage=part.damage,
    )
    statements.bad, statements.notes = [], {}
    table = statements.to_table(source=number, block=part.number)
    table = table.replace_schema_metadata({_SUMMARY: json.dumps(asdict(summary))})
    draft = path.with_suffix(".draft")
    pq.write_table(table, draft, compression="lz4")
    draft.rename(path)
    return summary
