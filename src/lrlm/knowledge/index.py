"""The index of a graph: a SQLite file that finds a topic by its id, and entities by their names.

    entities   number (place of the id in sorted order), id, names and titles (one a line), facts
    stars      number, the facts of an entity as JSON: [[type, kind, object, unit], …], sorted
    types      number, id, label
    keys       key, entity

Entities and types are written as numbers, a literal object as its text; the table of keys is its
own index (WITHOUT ROWID). All rows are put in sorted, which makes the file compact and the same on
every build. Rows come from the database in columns and in pieces, so memory is bounded.

An entity is found by keys: the beginning of each of its names, and of each word in them, whatever
the letter case, accents and punctuation. "Beyoncé Knowles-Carter" has the keys `beyonce knowles
carter`, `knowles carter` and `carter`. Near matches need no index of their own: every key that is
one letter away from what was asked for is looked up.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lrlm.errors import LrlmError
from lrlm.knowledge.statements import StatementKind

if TYPE_CHECKING:
    from lrlm.knowledge.join import Database

INDEX = "graph.sqlite"
KEY_LENGTH = 40
"""Characters of a key; longer names that agree in these are told apart by the names themselves."""
WORDS = 4
"""Names of more words are found by their beginning only: those are titles and phrases."""

_NO_WORD = re.compile(r"[\W_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "


class _WithoutAccents(dict[int, int | None]):
    """Maps a character to itself, or to nothing if it stands above or below another."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.combining(chr(code)) else code
        return self[code]


_WITHOUT_ACCENTS = _WithoutAccents()


def fold(name: str) -> str:
    """Write a name without letter case, accents and punctuation."""
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name.casefold())
        name = decomposed.translate(_WITHOUT_ACCENTS)
    folded = name.lower()
    if not folded.replace(" ", "").isalnum():
        folded = _NO_WORD.sub(" ", folded)
    folded = " ".join(folded.split())
    return folded or " ".join(name.split())  # a name of signs only, as "!!!"


def keys(name: str) -> list[str]:
    """Give the keys of a name: the whole, and from each word to the end."""
    folded = fold(name)
    if " " not in folded:
        return [folded[:KEY_LENGTH]]
    words = folded.split(" ")
    starts = len(words) if len(words) <= WORDS else 1
    return [" ".join(words[start:])[:KEY_LENGTH] for start in range(starts)]


IS_PLAIN = "regexp_full_match({0}, '[ -~]*') AND regexp_matches({0}, '[A-Za-z0-9]')"
"""Whether a name has printable ASCII characters only, and a letter or digit among them: SQL."""
PLAIN_WORDS = "string_split(trim(regexp_replace(lower({0}), '[^a-z0-9]+', ' ', 'g')), ' ')"
PLAIN_KEYS = f"""[
    left(array_to_string({{0}}[start:], ' '), {KEY_LENGTH})
    FOR start IN range(1, CASE WHEN len({{0}}) <= {WORDS} THEN len({{0}}) + 1 ELSE 2 END)
]"""
"""The words of a plain name, and from them the same keys as above: for many names at once."""


def near_keys(key: str) -> set[str]:
    """Give all keys that are one letter away: left out, put in, replaced or swapped."""
    cuts = [(key[:place], key[place:]) for place in range(len(key) + 1)]
    near = {head + tail[1:] for head, tail in cuts if tail}
    near |= {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    for letter in _LETTERS:
        near |= {head + letter + tail for head, tail in cuts}
        near |= {head + letter + tail[1:] for head, tail in cuts if tail}
    near = {each.strip()[:KEY_LENGTH] for each in near}
    near -= {key, ""}
    return near


def likeness(asked: str, name: str) -> float:
    """Say how alike two names are, from 0 to 1; 1 if they differ in case and accents only."""
    asked, name = fold(asked), fold(name)
    if asked == name:
        return 1.0
    whole = SequenceMatcher(None, asked, name, autojunk=False).ratio()
    begins = name.startswith(asked) or f" {asked} " in f" {name} "
    return min(0.99, whole + 0.3 * begins)


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
    CREATE TABLE stars (number INTEGER PRIMARY KEY, facts TEXT NOT NULL);
    CREATE TABLE types (number INTEGER PRIMARY KEY, id TEXT NOT NULL, label TEXT NOT NULL);
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
    SELECT s.number, concat(
            '[', t.number, ',', kind, ',',
            coalesce(CAST(o.number AS VARCHAR), CAST(to_json(object) AS VARCHAR)), ',',
            coalesce(CAST(u.number AS VARCHAR), 'null'), ']'
        ) AS fact
    FROM facts
    JOIN entity_numbers AS s ON s.id = subject
    JOIN type_numbers AS t ON t.id = facts.type
    LEFT JOIN entity_numbers AS o ON kind = {StatementKind.ENTITY} AND o.id = object
    LEFT JOIN entity_numbers AS u ON u.id = unit
    ORDER BY s.number, t.number, object, kind, unit
"""  # noqa: S608
_PLAIN_KEYS = f"""
    CREATE TABLE keys AS
        SELECT unnest({PLAIN_KEYS.format("words")}) AS key, number AS entity FROM (
            SELECT number, {PLAIN_WORDS.format("name")} AS words
            FROM names JOIN entity_numbers ON id = entity WHERE {IS_PLAIN.format("name")}
        )
"""  # noqa: S608
_OTHER_NAMES = f"""
    SELECT number, name FROM names JOIN entity_numbers ON id = entity
    WHERE NOT ({IS_PLAIN.format("name")})
"""  # noqa: S608
_KEYS = "SELECT DISTINCT key, entity FROM keys ORDER BY key, entity"


def write_index(database: "Database", folder: Path) -> None:
    """Write the file for random access beside the tables."""
    try:
        with closing(sqlite3.connect(folder / INDEX, isolation_level=None)) as index:
            _fill(index, database)
    except sqlite3.Error as error:
        raise LrlmError(f"writing the index {INDEX} failed: {error}") from error


def _fill(index: sqlite3.Connection, database: "Database") -> None:
    index.executescript(_TABLES)
    database.execute(_NUMBERED)
    index.execute("BEGIN")
    index.executemany("INSERT INTO entities VALUES (?, ?, ?, ?, ?)", _entities(database))
    index.executemany("INSERT INTO stars VALUES (?, ?)", _stars(database))
    types = "SELECT number, id, label FROM type_numbers ORDER BY number"
    index.executemany("INSERT INTO types VALUES (?, ?, ?)", _rows(database, types))
    _collect_keys(database)
    index.executemany("INSERT INTO keys VALUES (?, ?)", _rows(database, _KEYS))
    index.execute("CREATE UNIQUE INDEX entity_ids ON entities (id)")
    index.execute("CREATE UNIQUE INDEX type_ids ON types (id)")
    index.execute("COMMIT")


def _columns(database: "Database", query: str) -> Iterator[list[list[Any]]]:
    """Run a query; give its columns, a piece of the rows at a time."""
    for batch in database.sql(query).to_arrow_reader(_ROWS_AT_ONCE):
        if len(batch):
            yield [column.to_pylist() for column in batch.columns]


def _rows(database: "Database", query: str) -> Iterator[tuple[Any, ...]]:
    for columns in _columns(database, query):
        yield from zip(*columns, strict=True)


def _groups(database: "Database", query: str) -> Iterator[list[list[Any]]]:
    """Run a query; give the columns of the rows that agree in the first one, which is sorted."""
    import numpy as np

    waiting: list[list[Any]] = []
    for piece in _columns(database, query):
        columns = [
            before + now for before, now in zip(waiting or [[]] * len(piece), piece, strict=True)
        ]
        numbers = np.asarray(columns[0])
        bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()]
        for start, end in pairwise(bounds):
            yield [column[start:end] for column in columns]
        waiting = [column[bounds[-1] :] for column in columns]  # may go on in the next piece
    if waiting:
        yield waiting


def _entities(database: "Database") -> Iterator[tuple[int, str, str, str, int]]:
    """Gather the names of each entity, those that text uses before the titles of pages."""
    for numbers, ids, facts, names, is_title in _groups(database, _ENTITIES):
        if not any(is_title):
            used, titles = ("" if names[0] is None else "\n".join(names)), ""
        else:
            named = list(zip(names, is_title, strict=True))
            used = "\n".join(name for name, title in named if not title)
            titles = "\n".join(name for name, title in named if title)
            if not used:
                used, titles = titles, ""
        yield numbers[0], ids[0], used, titles, facts[0]


def _stars(database: "Database") -> Iterator[tuple[int, str]]:
    for numbers, facts in _groups(database, _FACTS):
        yield numbers[0], f"[{','.join(facts)}]"


def _collect_keys(database: "Database") -> None:
    """Make the table of keys: of plain names in the database, of all others here."""
    import pyarrow as pa

    database.execute(_PLAIN_KEYS)
    with database.cursor() as reader:
        for numbers, names in _columns(reader, _OTHER_NAMES):
            found = [
                (key, number)
                for number, name in zip(numbers, names, strict=True)
                for key in keys(name)
            ]
            batch = pa.table(
                {
                    "key": pa.array([key for key, _ in found], pa.string()),
                    "entity": pa.array([number for _, number in found], pa.int64()),
                }
            )
            database.register("batch", batch)
            database.execute("INSERT INTO keys SELECT key, entity FROM batch")
            database.unregister("batch")
