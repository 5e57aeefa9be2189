"""Join statements into the four tables of a graph, in a database with a memory limit.

    entities.parquet         id, label, facts (how many start at it)
    names.parquet            entity, place (0 is the label), name, title (a page's title only)
    relation_types.parquet   id, label, facts (how many are of it)
    facts.parquet            subject, type, object, kind, unit

The SQL holds to what DuckDB and Spark understand alike, and both run it. Every order is explicit,
so the rows do not depend on the engine, its threads or machines. They are written sorted, in row
groups of a fixed size, so the same knowledge gives the same bytes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.errors import InputError, LrlmError
from lrlm.knowledge.join_rdf import RDF_COUNTS, follow_blank_nodes, rdf_relation_types
from lrlm.knowledge.sources.rdf import RDF_TYPE
from lrlm.knowledge.sources.wikidata_ntriples import USED_DATATYPES
from lrlm.knowledge.statements import FIRST_NAME, LAST_FACT, LAST_NAME, StatementKind, schema

Database: TypeAlias = duckdb.DuckDBPyConnection

TABLES = {
    "entities": "id",
    "names": "entity, place",
    "relation_types": "id",
    "facts": "subject, type, object, kind, unit",
}
"""The tables that make up a graph, and the order of their rows."""

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

VIEWS = {"topic_facts"}
"""Steps that are too simple to be worth storing: they are computed where they are used."""


@dataclass(frozen=True)
class Subset:
    """Which topics are kept, with the names of their objects; None means no such condition."""

    topics: Sequence[str] | None = None
    """Keep topics with one of these ids."""
    types: Sequence[str] | None = None
    """Keep topics that are instances of one of these."""
    instance_of: str = "P31"
    """The relation type that says what something is an instance of."""


def join_steps(subset: Subset, *, is_rdf: bool = False) -> Iterator[tuple[str, str]]:
    """Give the tables to make from `statements`, in order, each with its query.

    `is_rdf` says whether there may be statements of RDF, whose names have ranks and whose blank
    nodes are followed. The ids of the subset are expected in tables `wanted_topics (id)` and
    `wanted_types (id)`.
    """
    by_topics, by_types = subset.topics is not None, subset.types is not None
    yield from _redirects()
    used = ", ".join(f"'{datatype}'" for datatype in USED_DATATYPES)
    yield (
        "unused_types",
        f"""
        SELECT DISTINCT subject AS type FROM statements
        WHERE kind = {StatementKind.DATATYPE} AND object NOT IN ({used})
        """,  # noqa: S608
    )
    rank = "coalesce(type, ''), " if is_rdf else ""
    order = f"kind, {rank}source, block, row"
    yield (
        "own_names",
        f"""
        SELECT subject AS entity, min(object) AS name FROM statements
        WHERE kind = {StatementKind.OWN_NAME} GROUP BY subject
        """,  # noqa: S608
    )
    yield (
        "named_otherwise",
        f"""
        SELECT DISTINCT subject AS entity FROM statements
        WHERE kind BETWEEN {FIRST_NAME} AND {LAST_NAME}
            AND subject IN (SELECT entity FROM own_names)
        """,  # noqa: S608
    )
    yield (
        "all_names",
        f"""
        SELECT entity, name, kind = {StatementKind.TITLE} AS title,
            CAST(row_number() OVER (
                PARTITION BY entity ORDER BY {order}
            ) - 1 AS INTEGER) AS place
        FROM (
            SELECT subject AS entity, object AS name, kind, type, source, block, row,
                row_number() OVER (PARTITION BY subject, object ORDER BY {order}) AS copy
            FROM statements WHERE kind BETWEEN {FIRST_NAME} AND {LAST_NAME}
        ) AS numbered
        WHERE copy = 1
        UNION ALL
        SELECT entity, name, FALSE AS title, 0 AS place FROM own_names
        WHERE entity NOT IN (SELECT entity FROM named_otherwise)
        """,  # noqa: S608
    )
    yield (
        "direct_facts" if is_rdf else "all_facts",
        f"""
        SELECT DISTINCT
            coalesce(subjects.new, subject) AS subject, type,
            CASE WHEN kind = {StatementKind.ENTITY} THEN coalesce(objects.new, object)
                ELSE object END AS object,
            kind, coalesce(units.new, unit) AS unit
        FROM statements
        LEFT JOIN redirects AS subjects ON subjects.old = subject
        LEFT JOIN redirects AS objects ON kind = {StatementKind.ENTITY} AND objects.old = object
        LEFT JOIN unit_redirects AS units ON units.old = unit
        WHERE kind <= {LAST_FACT} AND type NOT IN (SELECT type FROM unused_types)
        """,  # noqa: S608
    )
    if is_rdf:
        yield from follow_blank_nodes()
    yield (
        "topic_facts",
        f"SELECT * FROM all_facts {_of_wanted_topics(subset)}",  # noqa: S608
    )
    yield (
        "facts",
        f"""
        SELECT subject, type, object, kind, unit FROM topic_facts
        WHERE kind <> {StatementKind.ENTITY} OR object IN (SELECT entity FROM all_names)
        """,  # noqa: S608
    )
    is_subset = by_topics or by_types
    yield (
        "entity_ids",
        f"""
        SELECT subject AS id FROM facts
        UNION
        SELECT object AS id FROM facts WHERE kind = {StatementKind.ENTITY}
        UNION
        SELECT unit AS id FROM facts
        WHERE unit IS NOT NULL AND unit IN (SELECT entity FROM all_names)
        """  # noqa: S608
        + (" UNION SELECT entity AS id FROM all_names" if not is_subset else "")
        + (_NAMED_TOPICS if by_topics and not by_types else ""),
    )
    yield (
        "names",
        """
        SELECT entity, place, name, title FROM all_names
        WHERE entity IN (SELECT id FROM entity_ids)
        """,
    )
    yield (
        "entities",
        """
        SELECT id, name AS label, coalesce(number, 0) AS facts
        FROM entity_ids
        LEFT JOIN names ON entity = id AND place = 0
        LEFT JOIN (
            SELECT subject, CAST(count(*) AS INTEGER) AS number FROM facts GROUP BY subject
        ) AS counted ON subject = id
        """,
    )
    if is_rdf:
        yield from rdf_relation_types()
        return
    yield (
        "relation_types",
        f"""
        SELECT type AS id, coalesce(label, type) AS label, number AS facts
        FROM (
            SELECT type, CAST(count(*) AS BIGINT) AS number FROM facts GROUP BY type
        ) AS used
        LEFT JOIN (
            SELECT subject, object AS label, row_number() OVER (
                PARTITION BY subject ORDER BY source, block, row
            ) AS copy
            FROM statements WHERE kind = {StatementKind.TYPE_LABEL}
        ) AS labels ON subject = type AND copy = 1
        """,  # noqa: S608
    )


def _redirects() -> Iterator[tuple[str, str]]:
    """Follow each old id to its last one, twice as many steps with every table.

    What has no end after 16 steps goes in a circle, or into one, and is dropped.
    """
    yield (
        "redirects_within_1",
        f"""
        SELECT subject AS old, min(object) AS new FROM statements
        WHERE kind = {StatementKind.REDIRECT} AND subject <> object GROUP BY subject
        """,  # noqa: S608
    )
    for number in (1, 2, 4, 8):
        yield (
            f"redirects_within_{2 * number}",
            f"""
            SELECT near.old AS old, coalesce(far.new, near.new) AS new
            FROM redirects_within_{number} AS near
            LEFT JOIN redirects_within_{number} AS far ON far.old = near.new
            """,  # noqa: S608
        )
    yield (
        "redirects",
        """
        SELECT followed.old AS old, followed.new AS new FROM redirects_within_16 AS followed
        LEFT JOIN redirects_within_1 AS further ON further.old = followed.new
        WHERE further.old IS NULL
        """,
    )
    yield (  # a small table, for there are few units: joining all facts with it is cheap
        "unit_redirects",
        """
        SELECT old, new FROM redirects
        WHERE old IN (SELECT unit FROM statements WHERE unit IS NOT NULL)
        """,
    )


_NAMED_TOPICS = """
    UNION
    SELECT coalesce(new, id) AS id FROM wanted_topics LEFT JOIN redirects ON old = id
    WHERE coalesce(new, id) IN (SELECT entity FROM all_names)
"""


def _of_wanted_topics(subset: Subset) -> str:
    conditions = []
    if subset.topics is not None:
        conditions.append(
            "subject IN (SELECT coalesce(new, id) FROM wanted_topics"
            " LEFT JOIN redirects ON old = id)"
        )
    if subset.types is not None:
        quoted = subset.instance_of.replace("'", "''")
        conditions.append(
            f"subject IN (SELECT subject FROM all_facts WHERE type IN ('{quoted}', '{RDF_TYPE}')"  # noqa: S608
            f" AND kind = {StatementKind.ENTITY} AND object IN (SELECT id FROM wanted_types))"
        )
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


_COUNTS = f"""
    SELECT 'facts read' AS what, count(*) AS number FROM statements WHERE kind <= {LAST_FACT}
    UNION ALL SELECT 'facts of relation types left out', count(*) FROM statements
        WHERE kind <= {LAST_FACT} AND type IN (SELECT type FROM unused_types)
    UNION ALL SELECT 'different facts', count(*) FROM all_facts
    UNION ALL SELECT 'facts of the wanted topics', count(*) FROM topic_facts
    UNION ALL SELECT 'facts whose object has no name',
        (SELECT count(*) FROM topic_facts) - (SELECT count(*) FROM facts)
    UNION ALL SELECT 'redirects', count(*) FROM redirects
    UNION ALL SELECT 'facts whose object was redirected', count(*) FROM statements
        WHERE kind = {StatementKind.ENTITY} AND object IN (SELECT old FROM redirects)
    UNION ALL SELECT 'entities without a name', count(*) FROM entities WHERE label IS NULL
    UNION ALL SELECT subject, sum(row) FROM statements
        WHERE kind = {StatementKind.COUNT} GROUP BY subject
"""  # noqa: S608


def counts_query(*, is_rdf: bool = False) -> str:
    """Give the query that counts what became of the input, to run after all the steps."""
    return _COUNTS + RDF_COUNTS * is_rdf


def check_memory(memory: str) -> None:
    """Refuse a memory limit that the database would not take."""
    try:
        duckdb.connect(config={"memory_limit": memory}).close()
    except duckdb.Error:
        raise InputError(f"{memory!r} is not a memory limit, such as 800MB or 2GB") from None


@contextmanager
def database_in(folder: Path, *, memory: str, threads: int) -> Iterator[Database]:
    """Open a scratch database in a folder; its errors become errors of this library."""
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
        database.execute("SET enable_progress_bar = false")  # the library prints nothing
        try:
            yield database
        except BaseException:
            with suppress(duckdb.Error):  # what went wrong first is what matters
                database.close()
            raise
        database.close()
    except duckdb.Error as error:
        message = " ".join(str(error).split())
        raise LrlmError(f"joining facts with names failed: {message}") from error


def join_statements(
    database: Database, parts: Sequence[Path], subset: Subset, *, is_rdf: bool = False
) -> dict[str, int]:
    """Make the tables of a graph from files of statements; give counts of what became of them."""
    if parts:
        database.read_parquet([_literally(path) for path in parts]).create_view("statements")
    else:
        database.register("statements", schema().empty_table())
    _fill(database, "wanted_topics", subset.topics or ())
    _fill(database, "wanted_types", subset.types or ())
    for name, query in join_steps(subset, is_rdf=is_rdf):
        kind = "VIEW" if name in VIEWS else "TABLE"
        database.execute(f"CREATE {kind} {name} AS {query}")
    return {
        what: int(number)
        for what, number in sorted(database.execute(counts_query(is_rdf=is_rdf)).fetchall())
    }


def _fill(database: Database, table: str, ids: Iterable[str]) -> None:
    database.register("ids", pa.table({"id": pa.array(sorted(set(ids)), pa.string())}))
    database.execute(f"CREATE TABLE {table} AS SELECT id FROM ids")  # noqa: S608
    database.unregister("ids")


def adopt(database: Database, folder: Path) -> None:
    """Use the tables of a graph that another engine made, one folder of Parquet a table."""
    for name in TABLES:
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
    return {name: _write(database, name, folder / f"{name}.parquet") for name in TABLES}


@contextmanager
def tables_beside(database: Database, folder: Path) -> Iterator[Future[dict[str, int]]]:
    """Write the tables in a thread while the block runs; an error in the block stops it."""
    cursor = database.cursor()
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(write_tables, cursor, folder)
        try:
            yield rows
        except BaseException:
            while not rows.done():  # the database cannot be closed while somebody works with it
                cursor.interrupt()
                wait([rows], timeout=0.05)
            raise


def _write(database: Database, name: str, path: Path) -> int:
    columns = pa.schema(_SCHEMAS[name])
    query = f"SELECT {', '.join(columns.names)} FROM {name} ORDER BY {TABLES[name]}"  # noqa: S608
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
