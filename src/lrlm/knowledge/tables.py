"""Statements in, the four tables of a graph out as Parquet, in a database with a memory limit.

    entities.parquet         id, label, facts (how many start at it)
    names.parquet            entity, place (0 is the label), name, title (a page's title only)
    relation_types.parquet   id, label, facts (how many are of it)
    facts.parquet            subject, type, object, kind, unit

Rows are sorted and cut into row groups of a fixed size, so the same knowledge gives the same
bytes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.errors import InputError, LrlmError
from lrlm.knowledge.combine import COUNTS, RESULTS, VIEWS, Subset, steps
from lrlm.knowledge.statements import schema

Database: TypeAlias = duckdb.DuckDBPyConnection

_ROW_GROUP = 131_072
_SCHEMAS = {
    "entities": [("id", pa.string()), ("label", pa.string()), ("facts", pa.int32())],
    "names": [
        ("entity", pa.string()),
        ("place", pa.int32()),
        ("name", pa.string()),
        ("title", pa.bool_()),
    ],
    "relation_types": [("id", pa.string()), ("label", pa.string()), ("facts", pa.int64())],
    "facts": [
        ("subject", pa.string()),
        ("type", pa.string()),
        ("object", pa.string()),
        ("kind", pa.int8()),
        ("unit", pa.string()),
    ],
}


def check_memory(memory: str) -> None:
    """Refuse a memory limit that the database would not take."""
    try:
        duckdb.connect(config={"memory_limit": memory}).close()
    except duckdb.Error:
        raise InputError(f"{memory!r} is not a memory limit, such as 800MB or 2GB") from None


@contextmanager
def database_in(folder: Path, *, memory: str, threads: int) -> Iterator[Database]:
    """Open a scratch database in a folder; its own troubles become errors of this library."""
    try:
        database = duckdb.connect(
            str(folder / "graph.duckdb"),
            config={
                "memory_limit": memory,
                "threads": threads,
                "temp_directory": str(folder / "spill"),
                "preserve_insertion_order": False,  # every order is explicit
            },
        )
        try:
            yield database
        finally:
            database.close()
    except duckdb.Error as error:
        message = " ".join(str(error).split())
        raise LrlmError(f"joining facts with names failed: {message}") from error


def combine(database: Database, parts: Sequence[Path], subset: Subset) -> dict[str, int]:
    """Make the tables of a graph from files of statements; give what became of the input."""
    if parts:
        database.read_parquet([_literally(path) for path in parts]).create_view("statements")
    else:
        database.register("statements", schema().empty_table())
    _fill(database, "wanted_topics", subset.topics or ())
    _fill(database, "wanted_types", subset.types or ())
    for name, query in steps(subset):
        kind = "VIEW" if name in VIEWS else "TABLE"
        database.execute(f"CREATE {kind} {name} AS {query}")
    return {what: int(number) for what, number in sorted(database.execute(COUNTS).fetchall())}


def _fill(database: Database, table: str, ids: Iterable[str]) -> None:
    database.register("ids", pa.table({"id": pa.array(sorted(set(ids)), pa.string())}))
    database.execute(f"CREATE TABLE {table} AS SELECT id FROM ids")  # noqa: S608
    database.unregister("ids")


def adopt(database: Database, folder: Path) -> None:
    """Take the tables of a graph that another engine made, one folder of Parquet a table."""
    for name in RESULTS:
        files = [_literally(path) for path in sorted((folder / name).glob("*.parquet"))]
        if files:
            database.read_parquet(files).create_view(name)
        else:
            database.register(name, pa.schema(_SCHEMAS[name]).empty_table())


def _literally(path: Path) -> str:
    """Write a path so that the database does not take it for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def write_tables(database: Database, folder: Path) -> dict[str, int]:
    """Write the tables of a graph as Parquet; give the number of rows of each."""
    return {name: _write(database, name, folder / f"{name}.parquet") for name in RESULTS}


def _write(database: Database, name: str, path: Path) -> int:
    columns = pa.schema(_SCHEMAS[name])
    query = f"SELECT {', '.join(columns.names)} FROM {name} ORDER BY {RESULTS[name]}"  # noqa: S608
    rows = 0
    with pq.ParquetWriter(path, columns, compression="zstd") as writer:
        for table in _in_row_groups(database.sql(query).to_arrow_reader(_ROW_GROUP)):
            writer.write_table(table.cast(columns), row_group_size=_ROW_GROUP)
            rows += len(table)
    return rows


def _in_row_groups(batches: Iterable[Any]) -> Iterator[pa.Table]:
    """Join batches of any size into tables of one size."""
    waiting: list[Any] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += len(batch)
        while size >= _ROW_GROUP:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, _ROW_GROUP).combine_chunks()
            waiting = table.slice(_ROW_GROUP).to_batches()
            size -= _ROW_GROUP
    if size:
        yield pa.Table.from_batches(waiting).combine_chunks()
