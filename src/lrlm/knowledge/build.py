"""Build a knowledge graph on disk from files of knowledge, as `lrlm kg build` does.

First the statements of every file are extracted, part by part, into a hidden folder beside the
target; then they are joined into tables, and the graph is written and renamed into place. A build
that is killed goes on from its last finished part when it is started again with the same files
and options.
"""

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
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
from lrlm.errors import FormatError, InputError, LrlmError
from lrlm.knowledge.doubts import (
    MAX_UNKNOWN,
    Doubts,
    TableDoubts,
    doubt_facts,
    doubt_topic_names,
)
from lrlm.knowledge.extract import PART_BYTES, KnowledgeFile, extract
from lrlm.knowledge.graph import FORMAT, VERSION, KnowledgeGraph
from lrlm.knowledge.index import CHECKS, INDEX, write_index
from lrlm.knowledge.join import (
    Database,
    Subset,
    adopt,
    check_memory,
    database_in,
    join_statements,
    tables_beside,
)
from lrlm.knowledge.sources import FORMAT_OF_TABLE, RDF, SourceFormat, recognise
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.knowledge.sources.tables import TableKind, layout_of
from lrlm.knowledge.sources.triples import parse_id
from lrlm.knowledge.statements import StatementKind
from lrlm.parquet_lines import is_parquet
from lrlm.progress import Progress, silent
from lrlm.text_files import BadLines, beginning_of, read_records

_PLAN = "plan.json"
_PARSERS = 4
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
    warnings: tuple[str, ...] = ()
    """What may not be as it was meant, such as facts whose objects have no names."""


def build_graph(
    out: Path | str,
    sources: Sequence[Path | str] | Path | str,
    *,
    wide: Sequence[Path | str] = (),
    titles: Path | str | None = None,
    ids_as_names: bool = False,
    selection: Selection | None = None,
    engine: BuildEngine = BuildEngine.DUCKDB,
    master: str | None = None,
    max_bad: float = 0.001,
    max_unknown: float = MAX_UNKNOWN,
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

    Formats are recognised by content. `wide` names tables with a row for each entity and a column
    for each relation that are not known as such by their header. With `ids_as_names` an entity
    of a table that has no name is called by its id, and dates and numbers are texts.

    What is written depends on the content of the files and on the selection, not on the engine,
    the number of workers, or on how often the build was interrupted. `memory` bounds the join.

    Knowledge that cannot be what was meant is refused: a graph without facts, or in which more
    than the share `max_unknown` of the facts lead to an object without a name, or of the relation
    types are entities. Less of it is a `KnowledgeWarning`, which the report holds, too.
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
    doubts = Doubts(max_unknown)
    selection = selection or Selection()
    subset = Subset(
        None if selection.topics is None else _topics(Path(selection.topics), max_bad),
        selection.types,
        clean_name(selection.instance_of),  # as the relation types of tables are cleaned
    )
    files = [sources] if isinstance(sources, Path | str) else sources
    recognised = [
        *_recognise([*map(Path, files)], ids_as_names=ids_as_names),
        *_wide_tables([*map(Path, wide)]),
        *([] if titles is None else [KnowledgeFile(_existing(titles), SourceFormat.TITLES)]),
    ]
    if not recognised:
        raise InputError("there are no sources: give at least one file")
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
        _doubt(recognised, counts, doubts, database, has_all_facts=found.counts is None)
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
    doubts.tell()
    return GraphBuildReport(
        KnowledgeGraph(out),
        counts,
        found.bad_lines.count,
        tuple(found.bad_lines.examples),
        tuple(found.notes),
        tuple(found.damaged),
        tuple(doubts.warnings),
    )


def _doubt(
    sources: Sequence[KnowledgeFile],
    counts: dict[str, int],
    doubts: Doubts,
    database: Database,
    *,
    has_all_facts: bool,
) -> None:
    """Doubt what was joined, before it is written; Spark keeps no table of all facts."""
    formats = {source.format for source in sources}
    doubt_facts(counts, doubts, only_names=formats <= {SourceFormat.FORMS, SourceFormat.TITLES})

    def ask(query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = database.execute(query).fetchall()
        return rows

    tables = TableDoubts(
        ask,
        doubts,
        facts=f"""
            SELECT subject, type, object, kind <> {StatementKind.ENTITY} AS literal
            FROM {"topic_facts" if has_all_facts else "facts"}
        """,  # noqa: S608
        names=f"SELECT entity, name FROM {'all_names' if has_all_facts else 'names'}",  # noqa: S608
    )
    if formats <= {SourceFormat.TRIPLES, SourceFormat.FORMS, SourceFormat.TITLES}:
        tables.doubt_order()  # in other formats a relation type may be an entity, too
    tables.doubt_names(
        counts["facts whose object has no name"], counts["facts of the wanted topics"]
    )
    (number, topics), *_ = ask(
        "SELECT count(*) FILTER (label IS NULL), count(*) FROM entities WHERE facts > 0"
    )
    examples = ask("SELECT id FROM entities WHERE facts > 0 AND label IS NULL ORDER BY id LIMIT 3")
    doubt_topic_names([id_ for (id_,) in examples], number, topics, doubts)


def _recognise(sources: Sequence[Path], *, ids_as_names: bool) -> list[KnowledgeFile]:
    found = []
    for path in map(_existing, sources):
        layout = layout_of(path) if is_parquet(path) else None
        if layout is None:
            format_ = recognise(str(path), beginning_of(path))
            layout = layout_of(path) if format_ in FORMAT_OF_TABLE.values() else None
        if layout is not None:
            format_ = FORMAT_OF_TABLE[layout.kind]
            layout = replace(layout, ids_are_names=ids_as_names)
        found.append(KnowledgeFile(path, format_, layout))
    return found


def _wide_tables(paths: Sequence[Path]) -> Iterator[KnowledgeFile]:
    for path in map(_existing, paths):
        layout = layout_of(path, wide=True)
        if layout is None or layout.kind is not TableKind.WIDE:
            raise FormatError(
                f"{path}:1: not a header of a wide table: expected at least two columns, each with"
                " a name of its own"
            )
        yield KnowledgeFile(path, SourceFormat.WIDE, layout)


def _existing(path: Path | str) -> Path:
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file")
    return Path(path)


def _topics(path: Path, max_bad: float) -> list[str]:
    return sorted(set(read_records(path, parse_id, BadLines(max_bad))))


def graph_in_a_folder(
    out: Path | str | None, sources: Sequence[Path | str] | Path | str, **options: Any
) -> KnowledgeGraph:
    """Build a graph in a folder, or in a temporary one that goes when the graph is not used more.

    `options` are those of `build_graph`.
    """
    with ExitStack() as stack:
        if out is None:
            home = tempfile.mkdtemp(prefix="lrlm-graph-")
            stack.callback(shutil.rmtree, home, ignore_errors=True)
            out = Path(home) / "graph"
        graph = build_graph(out, sources, **options).graph
        weakref.finalize(graph, stack.pop_all().close)
    return graph


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
            [str(each.path.absolute()), each.format, repr(each.layout), *_identity(each.path)]
            for each in sources
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
