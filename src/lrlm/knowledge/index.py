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

Beside it lies `graph.checks`: the CRC-32 of each row of entities, of stars, and of the table of
types. An index that is too large to be read whole when it is opened is checked by it, row by row.
"""

import os
import re
import sqlite3
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from difflib import SequenceMatcher
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lrlm.errors import FormatError, LrlmError
from lrlm.knowledge.statements import StatementKind

if TYPE_CHECKING:
    from lrlm.knowledge.join import Database

INDEX = "graph.sqlite"
CHECKS = "graph.checks"
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


class RowChecks:
    """Tells rows of an index that are not as they were written."""

    def __init__(self, folder: Path, entities: int) -> None:
        self._folder, self._entities = folder, entities
        try:
            with (folder / CHECKS).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size != 4 * (2 * entities + 1):
                    raise FormatError(f"{folder / CHECKS}: has {size:,} bytes, which is not right")
                self._sums = mmap(file.fileno(), 0, access=ACCESS_READ)
        except OSError as error:
            raise FormatError(f"{folder / CHECKS}: cannot be read ({error.strerror})") from None

    def check_entity(self, row: tuple[Any, ...]) -> None:
        """Refuse a damaged row of the table of entities."""
        self._check(row[0], 0, checksum(*row[1:]))

    def check_star(self, number: int, facts: str | None) -> None:
        """Refuse damaged facts; None where an entity has none."""
        self._check(number, self._entities, 0 if facts is None else checksum(facts))

    def check_types(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Refuse a damaged table of relation types."""
        self._check(0, 2 * self._entities, checksum(*(each for row in rows for each in row)))

    def _check(self, number: object, offset: int, found: int) -> None:
        if isinstance(number, int) and 0 <= number < max(self._entities, 1):
            place = 4 * (offset + number)
            if self._sums[place : place + 4] == struct.pack("<I", found):
                return
        raise self.damage()

    def damage(self) -> FormatError:
        """Give the error for rows that are not those that were asked for."""
        return FormatError(
            f"{self._folder / INDEX}: cannot be read (a row is not as lrlm wrote it); build the"
            " graph again"
        )


def checksum(*values: object) -> int:
    """Give the CRC-32 of the values of a row."""
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


class _ChecksWriter:
    """Writes the checksums of rows that pass by, in the order of their numbers."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._entities = 0

    def entities(
        self, rows: Iterable[tuple[int, str, str, str, int]]
    ) -> Iterator[tuple[int, str, str, str, int]]:
        for row in rows:
            self._file.write(struct.pack("<I", checksum(*row[1:])))
            self._entities += 1
            yield row

    def stars(self, rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        done = 0
        for number, facts in rows:
            self._file.write(bytes(4 * (number - done)) + struct.pack("<I", checksum(facts)))
            done = number + 1
            yield number, facts
        self._file.write(bytes(4 * (self._entities - done)))

    def types(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        kept = list(rows)
        self._file.write(struct.pack("<I", checksum(*(each for row in kept for each in row))))
        yield from kept


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
        with (
            (folder / CHECKS).open("wb") as file,
            closing(sqlite3.connect(folder / INDEX, isolation_level=None)) as index,
        ):
            _fill(index, database, _ChecksWriter(file))
    except sqlite3.Error as error:
        raise LrlmError(f"writing the index {INDEX} failed: {error}") from error


def _fill(index: sqlite3.Connection, database: "Database", checks: _ChecksWriter) -> None:
    index.executescript(_TABLES)
    database.execute(_NUMBERED)
    index.execute("BEGIN")
    index.executemany(
        "INSERT INTO entities VALUES (?, ?, ?, ?, ?)", checks.entities(_entities(database))
    )
    index.executemany("INSERT INTO stars VALUES (?, ?)", checks.stars(_stars(database)))
    types = "SELECT number, id, label FROM type_numbers ORDER BY number"
    index.executemany("INSERT INTO types VALUES (?, ?, ?)", checks.types(_rows(database, types)))
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
