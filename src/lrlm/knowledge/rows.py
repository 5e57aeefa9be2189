"""Read rows out of the index of a graph, and tell those that are damaged.

A small index is compared with the manifest before it is first used. One that is too large to be
read whole then has checksums of its rows, which are checked when a row is used.
"""

import json
import os
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lrlm.artifacts import check_files
from lrlm.characters import LONE_SURROGATE
from lrlm.errors import FormatError
from lrlm.knowledge.index import CHECKS, INDEX, RowChecks, keys
from lrlm.knowledge.stars import OBJECTS_AND_UNITS, STAR, FactOfStar, numbers_in, split_names

LARGEST_WHOLE = 64 << 20
"""Bytes of an index that is read whole to be checked: that takes less than a blink."""

EntityRow = tuple[Any, ...]
"""number, id, names, titles, facts."""


class GraphRows:
    """The index of a graph, opened when it is first needed, once in every process."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any], size: int) -> None:
        """`size` is the number of entities."""
        self._folder = folder
        self._manifest = manifest
        self._size = size
        self._is_checked = False
        self._checks: RowChecks | None = None
        self._types: dict[str, str] | None = None
        self._process = -1
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file; it opens again when it is used."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def star(self, number: int) -> list[FactOfStar]:
        """Read the facts of an entity; those of a large index are checked."""
        if self._checks is None:
            return list(self.rows(STAR, number))
        written = next(self.rows("SELECT facts FROM stars WHERE number = ?", number), (None,))
        self._checks.check_star(number, *written)
        stated = json.loads(written[0] or "[]")
        facts = list(self.rows(STAR, number))
        found = {entity[0] for entity in self.entities(OBJECTS_AND_UNITS, number)}
        if len(facts) != len(stated) or not numbers_in(stated) <= found:
            raise self._checks.damage()
        return facts

    def types(self) -> dict[str, str]:
        """Read the table of relation types once: it is small."""
        if self._types is None:
            self._types = dict(self.rows("SELECT id, label FROM types ORDER BY number"))
        return self._types

    def in_order(self) -> Iterator[EntityRow]:
        """Read the rows of all entities; of a large index, make sure that none is missing."""
        count = 0
        for row in self.entities("SELECT * FROM entities ORDER BY number"):
            if self._checks is not None and row[0] != count:
                raise self._checks.damage()
            count += 1
            yield row
        if self._checks is not None and count != self._size:
            raise self._checks.damage()

    def find(self, id: str) -> EntityRow | None:  # noqa: A002
        """Read the row of an entity; None where there is none of this id."""
        row = next(self.entities("SELECT * FROM entities WHERE id = ?", id), None)
        if self._checks is not None and (self._has(id) if row is None else row[1] != id):
            raise self._checks.damage()
        return row

    def _has(self, id: str) -> bool:  # noqa: A002
        """Look for an id without the index of ids, for entities are numbered in their order."""
        places = range(self._size)
        place = bisect_left(places, id, key=self._id_at)
        return place in places and self._id_at(place) == id

    def _id_at(self, number: int) -> str:
        row = next(self.entities("SELECT * FROM entities WHERE number = ?", number), None)
        if row is None:
            raise FormatError(
                f"{self._folder / INDEX}: entity {number} is missing; build the graph again"
            )
        return str(row[1])

    def check_key(self, row: EntityRow | None, key: str) -> None:
        """Refuse an entity of a large index that was found by a key that it does not have."""
        if self._checks is None:
            return
        names = () if row is None else (*split_names(row[2]), *split_names(row[3]))
        if not any(key in keys(name) for name in names):
            raise self._checks.damage()

    def entities(self, query: str, *values: object) -> Iterator[EntityRow]:
        """Read rows of the table of entities; those of a large index are checked one by one."""
        for row in self.rows(query, *values):
            if self._checks is not None:
                self._checks.check_entity(row)
            yield row

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Run a query; what is wrong with the file is told as such."""
        if any(isinstance(each, str) and LONE_SURROGATE.search(each) for each in values):
            return  # no table can hold what was asked for
        try:
            # Not `yield from`, which would close a cursor of a graph that was closed meanwhile.
            for row in self._open_here().execute(query, values):  # noqa: UP028
                yield row
        except (sqlite3.DatabaseError, UnicodeError) as error:
            raise FormatError(
                f"{self._folder / INDEX}: cannot be read ({error}); build the graph again"
            ) from None

    def _open_here(self) -> sqlite3.Connection:
        """Give this process's own connection: one must not be carried over a fork."""
        if self._connection is None or self._process != os.getpid():
            path = quote(str((self._folder / INDEX).absolute()))
            self._connection = sqlite3.connect(
                f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            self._process = os.getpid()
        if not self._is_checked:
            self._check(self._connection)
        return self._connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Compare the index with the manifest before it is first used.

        One that is too large to be read whole is checked row by row when it is used.
        """
        path = self._folder / INDEX
        if not path.is_file() or path.stat().st_size <= LARGEST_WHOLE:
            try:
                check_files(self._folder, self._manifest, (INDEX,))
            except FormatError as error:
                raise FormatError(f"{error}; build the graph again") from None
        elif any(entry["name"] == CHECKS for entry in self._manifest.get("files", ())):
            checks = RowChecks(self._folder, self._size)
            query = "SELECT number, id, label FROM types ORDER BY number"
            types = list(connection.execute(query))
            checks.check_types(types)
            self._checks = checks
            self._types = {id_: label for _, id_, label in types}
        self._is_checked = True
