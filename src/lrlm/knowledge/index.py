"""The tables of a graph in, a SQLite file out: a topic by its id, entities by their names.

    entities   number (place of the id in sorted order), id, names and titles (one a line), facts
    types      number, id, label
    facts      subject, place → type, kind, object, unit; sorted, so a star lies in one place
    keys       key, entity; what a name is found by, see `lrlm.knowledge.search`

Entities and types are written as numbers, a literal object as its text; the tables of facts and
keys are their own index (WITHOUT ROWID). All rows are put in sorted, which makes the file compact
and the same on every build.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from lrlm.knowledge.graph import INDEX
from lrlm.knowledge.search import keys
from lrlm.knowledge.statements import Kind
from lrlm.knowledge.tables import Database

_ROWS_AT_ONCE = 65_536
_TABLES = """
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    CREATE TABLE entities (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL,
        names TEXT NOT NULL, titles TEXT NOT NULL, facts INTEGER NOT NULL
    );
    CREATE TABLE types (number INTEGER PRIMARY KEY, id TEXT NOT NULL, label TEXT NOT NULL);
    CREATE TABLE facts (
        subject INTEGER NOT NULL, place INTEGER NOT NULL,
        type INTEGER NOT NULL, kind INTEGER NOT NULL, object NOT NULL, unit INTEGER,
        PRIMARY KEY (subject, place)
    ) WITHOUT ROWID;
    CREATE TABLE keys (
        key TEXT NOT NULL, entity INTEGER NOT NULL, PRIMARY KEY (key, entity)
    ) WITHOUT ROWID;
"""
_NUMBERED = """
    CREATE TABLE entity_numbers AS
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS number, facts FROM entities;
    CREATE TABLE type_numbers AS
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS number, label FROM relation_types;
"""
_ENTITIES = """
    SELECT number, id, facts, name, title
    FROM entity_numbers LEFT JOIN names ON entity = id ORDER BY number, place
"""
_FACTS = f"""
    SELECT s.number, row_number() OVER (
            PARTITION BY subject ORDER BY facts.type, object, kind, unit
        ) - 1 AS place,
        t.number, kind, o.number, CASE WHEN kind <> {Kind.ENTITY} THEN object END, u.number
    FROM facts
    JOIN entity_numbers AS s ON s.id = subject
    JOIN type_numbers AS t ON t.id = facts.type
    LEFT JOIN entity_numbers AS o ON kind = {Kind.ENTITY} AND o.id = object
    LEFT JOIN entity_numbers AS u ON u.id = unit
    ORDER BY s.number, place
"""  # noqa: S608


def write_index(database: Database, folder: Path) -> None:
    """Write the file for random access beside the tables."""
    index = sqlite3.connect(folder / INDEX, isolation_level=None)
    try:
        index.executescript(_TABLES)
        database.execute(_NUMBERED)
        index.execute("BEGIN")
        database.execute("CREATE TABLE keys (key VARCHAR, entity BIGINT)")
        with database.cursor() as reader:
            entities = _with_names(_rows(reader, _ENTITIES))
            index.executemany(
                "INSERT INTO entities VALUES (?, ?, ?, ?, ?)", _keeping_keys(entities, database)
            )
        types = _rows(database, "SELECT number, id, label FROM type_numbers ORDER BY number")
        index.executemany("INSERT INTO types VALUES (?, ?, ?)", types)
        index.executemany(
            "INSERT INTO facts VALUES (?, ?, ?, ?, coalesce(?, ?), ?)", _rows(database, _FACTS)
        )
        sorted_keys = "SELECT DISTINCT key, entity FROM keys ORDER BY key, entity"
        index.executemany("INSERT INTO keys VALUES (?, ?)", _rows(database, sorted_keys))
        index.execute("CREATE UNIQUE INDEX entity_ids ON entities (id)")
        index.execute("CREATE UNIQUE INDEX type_ids ON types (id)")
        index.execute("COMMIT")
    finally:
        index.close()


def _rows(database: Database, query: str) -> Iterator[tuple[Any, ...]]:
    result = database.execute(query)
    while rows := result.fetchmany(_ROWS_AT_ONCE):
        yield from rows


_Entity = tuple[int, str, list[str], list[str], int]


def _with_names(rows: Iterable[tuple[Any, ...]]) -> Iterator[_Entity]:
    """Gather the names of each entity, those that text uses before the titles of pages."""
    for _, group in groupby(rows, key=lambda row: row[0]):
        first = next(group)
        number, id_, facts, name, _ = first
        named = [(row[3], row[4]) for row in chain([first], group)] if name is not None else []
        used = [name for name, title in named if not title]
        titles = [name for name, title in named if title]
        yield number, id_, *((used, titles) if used else (titles, [])), facts


def _keeping_keys(
    entities: Iterable[_Entity], database: Database
) -> Iterator[tuple[int, str, str, str, int]]:
    """Pass entities on as rows, and put the keys of their names aside to be sorted."""
    found: list[str] = []
    numbers: list[int] = []
    for number, id_, names, titles, facts in entities:
        for name in (*names, *titles):
            for key in keys(name):
                found.append(key)
                numbers.append(number)
        if len(found) >= _ROWS_AT_ONCE:
            _put_aside(database, found, numbers)
            found, numbers = [], []
        yield number, id_, "\n".join(names), "\n".join(titles), facts
    _put_aside(database, found, numbers)


def _put_aside(database: Database, found: list[str], numbers: list[int]) -> None:
    batch = pa.table(
        [pa.array(found, pa.string()), pa.array(numbers, pa.int64())], ["key", "entity"]
    )
    database.register("batch", batch)
    database.execute("INSERT INTO keys SELECT key, entity FROM batch")
    database.unregister("batch")
