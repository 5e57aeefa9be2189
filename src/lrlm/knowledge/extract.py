"""Extract the statements of files of knowledge, part by part, on all cores.

A file is cut into parts of whole lines: a part ends at the last line end within its size, so the
parts depend on nothing but the text. Each part becomes one Parquet file of statements, written
under another name and renamed when it is complete. A build that was killed finds the parts that
are there and goes on behind them; what they hold does not depend on the number of workers or of
attempts. Formats whose statements are not lines are written as lines while they are read, see
`sources.rdf_documents`.
"""

import codecs
import gc
import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.errors import DamagedFileError, FormatError, WorkerError
from lrlm.knowledge.sources import DOCUMENTS, SourceFormat, parser_of
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.knowledge.sources.rdf_documents import RdfDocument
from lrlm.knowledge.sources.tables import TableLayout
from lrlm.knowledge.statements import Statements
from lrlm.progress import Progress, silent
from lrlm.text_files import (
    LINES_BEFORE_GIVING_UP,
    MOST_TOLD,
    BadLines,
    Expansion,
    TextStream,
    is_plain,
)

PART_BYTES = 32 << 20
"""The size of a part in bytes of text, not compressed: what a kill can cost for each worker."""

_MOST_LINES = 1_000_000
"""Of a part: what is noted of each line takes memory, however short it is."""
_SUMMARY = b"lrlm part"
_NOTES = 5


@dataclass(frozen=True)
class KnowledgeFile:
    """A file of knowledge and its format."""

    path: Path
    format: SourceFormat
    layout: TableLayout | None = None
    """How its lines are read, if it is a table."""


@dataclass(frozen=True)
class FilePart:
    """Whole lines of a file: the bytes from `start` to `end` of its text."""

    number: int
    start: int
    end: int
    position: int
    """How far the file itself has been read, in its own (compressed) bytes."""
    damage: str | None = None
    """Why nothing can be read after this part, if the file is truncated or damaged."""


@dataclass(frozen=True)
class PartSummary:
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
    """Files of statements, unless they have been joined already."""
    notes: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    counts: dict[str, int] | None = None
    """What became of the statements, if they have been joined already."""


def extract(
    sources: list[KnowledgeFile],
    folder: Path,
    *,
    language: str,
    names: NamePredicates = NAME_PREDICATES,
    workers: int = 1,
    max_bad: float = 0.001,
    keep_damaged: bool = False,
    part_bytes: int = PART_BYTES,
    progress: Progress = silent,
) -> Extracted:
    """Extract the statements of all files into `folder`, going on where an earlier run stopped.

    Progress is told in bytes of the files as they lie on disk.
    """
    total = sum(source.path.stat().st_size for source in sources)
    extracted = Extracted(BadLines(max_bad))
    before = 0
    with _pool(workers, (language, names), folder) as submit:
        for number, source in enumerate(sources):
            lines = bad = 0
            for path, summary in _parts_in_order(
                number, source, folder, submit, workers=workers, part_bytes=part_bytes
            ):
                extracted.files.append(path)
                for line, reason in summary.examples:
                    extracted.bad_lines.add(source.path, lines + line + 1, reason)
                extracted.bad_lines.count += summary.bad - len(summary.examples)
                for line, remark in summary.notes[: _NOTES - len(extracted.notes)]:
                    extracted.notes.append(f"{source.path}:{lines + line + 1}: {remark}")
                lines += summary.lines
                bad += summary.bad
                if lines >= LINES_BEFORE_GIVING_UP:
                    extracted.bad_lines.check(source.path, bad, lines)
                if summary.damage is not None:
                    _damaged(source, lines + 1, summary.damage, extracted, keep=keep_damaged)
                progress(f"reading {source.path.name}", before + summary.position, total)
            extracted.bad_lines.check(source.path, bad, lines)
            if not lines:
                raise FormatError(f"{source.path} is empty")
            before += source.path.stat().st_size
    return extracted


def _damaged(
    source: KnowledgeFile, line: int, damage: str, extracted: Extracted, *, keep: bool
) -> None:
    message = f"{source.path}:{line}: damaged or truncated ({damage})"
    if source.format in DOCUMENTS:  # whose own lines are not those that are counted
        message = f"{source.path}: {damage}"
    if not keep:
        raise DamagedFileError(f"{message}; what comes before could be used")
    extracted.damaged.append(message)


def _parts_in_order(
    number: int,
    source: KnowledgeFile,
    folder: Path,
    submit: "_Submit",
    *,
    workers: int,
    part_bytes: int,
) -> Iterator[tuple[Path, PartSummary]]:
    """Give the parts of a source in their order, made now or by an earlier run."""

    def path_of(part: int) -> Path:
        return folder / f"{number:03d}-{part:06d}.parquet"

    first = start = 0
    while (summary := PartSummary.read(path_of(first))) is not None:
        yield path_of(first), summary
        first, start = first + 1, summary.end
        if summary.damage is not None:
            return
    waiting: deque[tuple[Path, Future[PartSummary]]] = deque()
    for part, text in file_parts(
        source.path, source.format, size=part_bytes, threads=workers, number=first, start=start
    ):
        path = path_of(part.number)
        waiting.append((path, submit(text, path, part, number, source)))
        while len(waiting) > workers or (waiting and waiting[0][1].done()):
            path, future = waiting.popleft()
            yield path, future.result()
    for path, future in waiting:
        yield path, future.result()


def file_parts(
    path: Path,
    format: SourceFormat | None = None,  # noqa: A002
    *,
    size: int = PART_BYTES,
    threads: int = 1,
    number: int = 0,
    start: int = 0,
) -> Iterator[tuple[FilePart, memoryview]]:
    """Cut a file into parts, beginning with part `number` at byte `start` of its text.

    The text that comes with a part is overwritten when the next part is asked for.
    """
    buffer = bytearray(size)
    kept, at_end, damage = 0, False, None
    with _open(path, format, threads) as stream:
        expansion = Expansion(path) if format in DOCUMENTS or not is_plain(path) else None
        if damage := stream.skip(start):
            raise FormatError(f"{path}: damaged or truncated ({damage})")
        while True:
            filled = kept
            if not at_end and damage is None:
                new, damage = stream.fill(memoryview(buffer)[kept:])
                if expansion is not None:
                    expansion.take(new, buffer.count(b"\n", kept, kept + new))
                filled += new
                at_end = filled < size and damage is None
            whole = filled if at_end else buffer.rfind(b"\n", 0, filled) + 1
            if not (whole or at_end) and damage is None:
                raise FormatError(
                    f"{path}: a line of more than {size >> 20 or 1} MiB after byte {start:,};"
                    " is this the right file?"
                )
            cut = _end_of_lines(buffer, whole)
            is_last = cut == whole and (at_end or damage is not None)
            if cut or damage is not None:
                mark = number == 0 and buffer.startswith(codecs.BOM_UTF8)  # of some editors
                text = memoryview(buffer)[len(codecs.BOM_UTF8) * mark : cut]
                found = damage if is_last else None
                yield FilePart(number, start, start + cut, stream.position(), found), text
            if is_last:
                return
            number, start = number + 1, start + cut
            kept = filled - cut
            buffer[:kept] = buffer[cut:filled]


def _open(path: Path, format: SourceFormat | None, threads: int) -> TextStream | RdfDocument:  # noqa: A002
    """Open the lines of a file, or of what is written as lines while it is read."""
    if format in DOCUMENTS:
        return RdfDocument.open(path, format, threads=threads)
    return TextStream.open(path, threads=threads)


def _end_of_lines(buffer: bytearray, end: int) -> int:
    """Give where a part ends that would reach to `end`, but may have only so many lines."""
    while buffer.count(b"\n", 0, end) > _MOST_LINES:
        half = buffer.rfind(b"\n", 0, end // 2)
        end = (half if half >= 0 else buffer.find(b"\n")) + 1
    return end


_Wanted = tuple[str, NamePredicates]
"""The language of names and texts, and the predicates of RDF that give names."""
_Submit = Callable[[memoryview, Path, FilePart, int, KnowledgeFile], "Future[PartSummary]"]


@contextmanager
def _pool(workers: int, wanted: _Wanted, folder: Path) -> Iterator[_Submit]:
    """Give a function that submits a part for parsing, here or in one of several processes."""
    if workers == 1:
        yield partial(_at_once, wanted)
        return
    # A part reaches its worker through a file. It is written, not mapped into memory: where the
    # disk is full, writing gives an error, but a mapped page that finds no room ends the process.
    slots: SimpleQueue[Path] = SimpleQueue()
    for number in range(workers + 2):
        slots.put(folder / f"slot-{number}")
    # A new interpreter for each worker: forking a process with threads is not safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=start_worker) as pool:

        def submit(text: memoryview, *task: Any) -> Future[PartSummary]:
            slot = slots.get()
            slot.write_bytes(text)
            future = pool.submit(_extract_slot, wanted, slot, len(text), *task)
            future.add_done_callback(lambda _: slots.put(slot))
            return future

        try:
            yield submit
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process died while reading; use fewer workers if memory is short, and"
                " in a script of your own call this under 'if __name__ == \"__main__\":'"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            for slot in folder.glob("slot-*"):
                slot.unlink(missing_ok=True)


def _extract_slot(wanted: _Wanted, slot: Path, size: int, *task: Any) -> PartSummary:
    text = slot.read_bytes()
    if len(text) != size:
        raise WorkerError(f"{slot} has {len(text):,} bytes, not {size:,}; was it changed?")
    return _extract_part(wanted, text, *task)


def _at_once(wanted: _Wanted, text: memoryview, *task: Any) -> Future[PartSummary]:
    future: Future[PartSummary] = Future()
    future.set_result(_extract_part(wanted, bytes(text), *task))
    return future


def start_worker() -> None:
    """Leave Ctrl-C to the main process, and end with it, even when it is killed."""
    gc.disable()  # rows and documents hold no cycles, and looking for them takes long
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Do not look for cycles among objects: rows hold none, and looking takes a third longer."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_parser = lru_cache(maxsize=4)(parser_of)


def _extract_part(  # noqa: PLR0917  passed on by position to another process
    wanted: _Wanted,
    text: bytes,
    path: Path,
    part: FilePart,
    number: int,
    source: KnowledgeFile,
) -> PartSummary:
    """Parse the text of a part and write its statements."""
    lines = text.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    statements = Statements(number)
    with _without_cycles():
        _parser(source.format, *wanted, source.layout)(lines, statements)
    statements.counts["lines"] += len(lines)
    summary = PartSummary(
        number=part.number,
        start=part.start,
        end=part.end,
        position=part.position,
        lines=len(lines),
        bad=len(statements.bad),
        examples=statements.bad[:MOST_TOLD],
        notes=[(line, remark) for remark, line in statements.notes.items()][:_NOTES],
        damage=part.damage,
    )
    statements.bad, statements.notes = [], {}
    with _without_cycles():
        table = statements.to_table(block=part.number)
    table = table.replace_schema_metadata({_SUMMARY: json.dumps(asdict(summary))})
    draft = path.with_suffix(".draft")
    pq.write_table(table, draft, compression="lz4")
    draft.rename(path)
    return summary
