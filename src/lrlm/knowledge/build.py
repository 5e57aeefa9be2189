"""Build a knowledge graph on disk from files of knowledge, as `lrlm kg build` does.

First the statements of every file are extracted, part by part, into a hidden folder beside the
target; then they are joined into tables, and the graph is written and renamed into place. A build
that is killed goes on from its last finished part when it is started again with the same files
and options.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from lrlm.artifacts import (
    fingerprint,
    fingerprints_beside,
    new_folder,
    write_manifest,
)
from lrlm.characters import clean_name
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge.extract import PART_BYTES, KnowledgeFile, extract
from lrlm.knowledge.graph import FORMAT, VERSION, KnowledgeGraph
from lrlm.knowledge.index import CHECKS, INDEX, write_index
from lrlm.knowledge.join import (
    Subset,
    adopt,
    check_memory,
    database_in,
    join_statements,
    tables_beside,
)
from lrlm.knowledge.sources import RDF, SourceFormat, recognise
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.knowledge.sources.triples import parse_id
from lrlm.progress import Progress, silent
from lrlm.text_files import BadLines, beginning_of, read_records

_PLAN = "plan.json"
_PARSERS = 3
"""Counts up when the same lines give other statements: parts of before are not used then."""


class BuildEngine(StrEnum):
    """What reads the sources and joins their statements."""

    DUCKDB = "duckdb"
    """This machine, on as many cores as are given."""
    SPARK = "spark"
    """A cluster."""


@dataclass(frozen=True)
class Selection:
    """Which part of the knowledge is kept; None means no such condition."""

    language: str = "en"
    """Keep names and texts in this language."""
    types: tuple[str, ...] | None = None
    """Keep topics that are an instance of one of these."""
    topics: Path | str | None = None
    """Keep the topics of a file, an id a line, with the names of their objects."""
    instance_of: str = "P31"
    """The relation type that says what something is an instance of; in RDF `rdf:type` always."""
    names: NamePredicates = NAME_PREDICATES
    """The predicates of RDF whose values are names."""

    def __post_init__(self) -> None:
        if not self.language.replace("-", "").isalnum() or not self.language.isascii():
            raise InputError(f"{self.language!r} is not a language code, such as en or zh-hans")
        if self.types is not None and not self.types:
            raise InputError("the list of types is empty")


@dataclass(frozen=True)
class GraphBuildReport:
    """What a build did with its input."""

    graph: KnowledgeGraph
    counts: dict[str, int]
    bad_lines: int = 0
    examples: tuple[str, ...] = ()
    """The first thousand bad lines, each with file, line number and reason."""
    notes: tuple[str, ...] = ()
    """Remarks on lines that were used, such as unknown data types."""
    damaged: tuple[str, ...] = field(default=())
    """Files that were used up to where they are damaged."""


def build_graph(
    out: Path | str,
    sources: Sequence[Path | str] | Path | str,
    *,
    titles: Path | str | None = None,
    selection: Selection | None = None,
    engine: BuildEngine = BuildEngine.DUCKDB,
    master: str | None = None,
    max_bad: float = 0.001,
    keep_damaged: bool = False,
    workers: int = 1,
    memory: str = "800MB",
    part_bytes: int = PART_BYTES,
    overwrite: bool = False,
    progress: Progress = silent,
) -> GraphBuildReport:
    """Build a knowledge graph from files and write it to `out`.

    >>> report = build_graph("graph", ["triples.tsv", "forms.tsv"])
    >>> report.graph.topic("Q585").names
    ('Oslo', 'Kristiania')

    What is written depends on the content of the files and on the selection, not on the engine,
    the number of workers, or on how often the build was interrupted. `memory` bounds the join.
    """
    if not 0 <= max_bad < 1:
        raise InputError(f"the share of bad lines must be from 0 to below 1, not {max_bad}")
    if workers < 1:
        raise InputError(f"at least one worker is needed, not {workers}")
    if master is not None and engine is not BuildEngine.SPARK:
        raise InputError("the address of a master is only for the Spark engine; choose that engine")
    if keep_damaged and engine is BuildEngine.SPARK:
        raise InputError("the Spark engine cannot use a damaged file up to where it is damaged")
    if "?" in str(Path(out).absolute()):  # the database takes it for the query of an address
        raise InputError(f"{out}: choose a folder without a question mark in its path")
    check_memory(memory)
    selection = selection or Selection()
    subset = Subset(
        None if selection.topics is None else _topics(Path(selection.topics), max_bad),
        selection.types,
        clean_name(selection.instance_of),  # as the relation types of tables are cleaned
    )
    files = [sources] if isinstance(sources, Path | str) else sources
    recognised = _recognise([*map(Path, files)], None if titles is None else Path(titles))
    is_rdf = any(source.format in RDF for source in recognised)
    with (
        new_folder(Path(out), overwrite=overwrite) as folder,
        tempfile.TemporaryDirectory(prefix="join-", dir=folder) as scratch,
        # The files are hashed while they are read, so that they come from the disk once.
        fingerprints_beside([source.path for source in recognised]) as prints,
        ExitStack() as stack,
    ):
        if engine is BuildEngine.SPARK:
            from lrlm.knowledge.spark import join_with_spark

            found = join_with_spark(
                recognised,
                Path(scratch),
                language=selection.language,
                names=selection.names,
                subset=subset,
                master=master,
                max_bad=max_bad,
                progress=progress,
            )
        else:
            staging = _staging(Path(out), recognised, selection, part_bytes)
            found = extract(
                recognised,
                stack.enter_context(staging),
                language=selection.language,
                names=selection.names,
                workers=workers,
                max_bad=max_bad,
                keep_damaged=keep_damaged,
                part_bytes=part_bytes,
                progress=progress,
            )
        database = stack.enter_context(database_in(Path(scratch), memory=memory, threads=workers))
        progress("joining facts with names", 0, 0)
        if found.counts is None:
            counts = join_statements(database, found.files, subset, is_rdf=is_rdf)
        else:
            counts = found.counts
            adopt(database, Path(scratch))
        with tables_beside(database, folder) as tables:
            progress("writing the index", 0, 0)
            write_index(database, folder)
            rows = tables.result()
        write_manifest(
            folder,
            format=FORMAT,
            version=VERSION,
            made_by="lrlm kg build",
            inputs=prints.result(),
            selection=_describe(selection, is_rdf=is_rdf),
            tables=rows,
            counts={"bad lines": found.bad_lines.count, **counts},
            files=[
                fingerprint(folder / name)
                for name in (*(f"{name}.parquet" for name in rows), CHECKS, INDEX)
            ],
        )
    return GraphBuildReport(
        KnowledgeGraph(out),
        counts,
        found.bad_lines.count,
        tuple(found.bad_lines.examples),
        tuple(found.notes),
        tuple(found.damaged),
    )


def _recognise(sources: Sequence[Path], titles: Path | None) -> list[KnowledgeFile]:
    if not sources:
        raise InputError("there are no sources: give at least one file")
    for path in (*sources, *([] if titles is None else [titles])):
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
    found = [KnowledgeFile(path, recognise(str(path), beginning_of(path))) for path in sources]
    if titles is not None:
        found.append(KnowledgeFile(titles, SourceFormat.TITLES))
    return found


def _topics(path: Path, max_bad: float) -> list[str]:
    return sorted(set(read_records(path, parse_id, BadLines(max_bad))))


def _describe(selection: Selection, *, is_rdf: bool) -> dict[str, Any]:
    names = {"labels": selection.names.labels, "aliases": selection.names.aliases}
    return {
        "language": selection.language,
        "types": selection.types,
        "topics": None if selection.topics is None else fingerprint(Path(selection.topics)),
        "instance_of": selection.instance_of,
        **(names if is_rdf else {}),
    }


@contextmanager
def _staging(
    out: Path, sources: list[KnowledgeFile], selection: Selection, part_bytes: int
) -> Iterator[Path]:
    """Open the folder of finished parts; what another build left there is cleared.

    It is kept when the build is stopped from outside, as by Ctrl-C or a full disk, and removed
    when it ends or cannot go on.
    """
    folder = out.absolute().parent / f".{out.absolute().name}.parts"
    plan = {
        "version": VERSION,
        "parsers": _PARSERS,
        "language": selection.language,
        "names": [selection.names.labels, selection.names.aliases],
        "part_bytes": part_bytes,
        "sources": [
            [str(each.path.absolute()), each.format, *_identity(each.path)] for each in sources
        ],
    }
    text = json.dumps(plan, indent=2)
    note = folder / _PLAN
    if not note.is_file() or note.read_text(encoding="utf-8") != text:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        note.write_text(text, encoding="utf-8")
    try:
        yield folder
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except (KeyboardInterrupt, LrlmError, OSError):  # what is finished can be used again
        raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
