"""Recognise how a table is written: what separates its cells, its header, what its columns are.

    triples   subject, relation type, object [, entity|literal]
    forms     entity, name
    wide      a row an entity, a column a relation, and the first line says which

Cells are separated by tabs, or by commas or semicolons as spreadsheets write them (cells may then
stand in quotes), or the table is Parquet. A first line that names columns is a header: it is no
fact, and the columns may be in any order.
"""

import codecs
import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from lrlm.characters import NOT_IN_A_TEXT, clean_name, describe
from lrlm.knowledge.literals import literal_text, looks_like_a_value
from lrlm.parquet_lines import is_parquet, parquet_columns
from lrlm.text_files import BadLineError, beginning_of

_SAMPLED_LINES = 100
_SAMPLED_BYTES = 1 << 16

INDEX_OF_PANDAS = "__index_level_0__"
"""How pandas names its index where that has no name."""
_SUBJECT = {"subject", "subject id", "subj", "s", "head", "from", "source", "start"}
_RELATION = {"relation", "relation type", "predicate", "property", "p", "r", "rel", "type", "edge"}
_OBJECT = {"object", "object id", "obj", "o", "tail", "to", "target", "value", "end"}
_KIND = {"kind", "object kind", "object type", "entity or literal", "entity|literal"}
_ENTITY = {"entity", "entity id", "id", "qid", "item", "key", "node", "iri", "uri", "subject"}
_FORM = {"form", "forms", "name", "names", "label", "labels", "alias", "aliases", "title"}
_FORM |= {"surface form", "surface forms", "also known as"}


class TableKind(StrEnum):
    """What the rows of a table say."""

    TRIPLES = "triples"
    FORMS = "forms"
    WIDE = "wide"


class CellSyntax(StrEnum):
    """What separates the cells of a line."""

    TABS = "\t"
    COMMAS = ","
    SEMICOLONS = ";"
    PARQUET = "Parquet"
    """Lines are JSON objects, see `lrlm.parquet_lines`."""


@dataclass(frozen=True)
class TableLayout:
    """How the lines of a table are read."""

    kind: TableKind
    syntax: CellSyntax = CellSyntax.TABS
    header: str | None = None
    """The line that names the columns; wherever it stands again, it is no fact either."""
    columns: tuple[str, ...] = ()
    """The names of the columns, if they have names."""
    places: tuple[int, ...] | None = None
    """Which columns are wanted, in the usual order; None: as many as there are, as they are."""
    id_column: int = 0
    """Where a wide table has the ids of its rows."""
    name_columns: tuple[int, ...] = ()
    """Where a wide table has their names."""
    ids_are_names: bool = False
    """Whether an entity without a name is called by its id."""

    def is_header(self, line: bytes) -> bool:
        """Whether a line is the header."""
        if self.header is None:
            return False
        return line.removeprefix(codecs.BOM_UTF8).removesuffix(b"\r") == self.header.encode()

    def cells(self, line: str) -> list[Any]:
        """Cut a line into cells, in the usual order of columns: texts, or values of Parquet.

        A control character anywhere in it makes it a bad line.
        """
        if found := NOT_IN_A_TEXT.search(line):
            column = line.count(self.syntax.value, 0, found.start()) + 1
            raise BadLineError(f"column {column} holds {describe(found[0])}")
        cells = self._split(line)
        if self.columns and len(cells) != len(self.columns):
            raise BadLineError(
                f"expected {len(self.columns)} columns as in the header, found {len(cells)}"
            )
        return cells if self.places is None else [cells[place] for place in self.places]

    def _split(self, line: str) -> list[Any]:
        match self.syntax:
            case CellSyntax.TABS:
                return line.split("\t")
            case CellSyntax.PARQUET:
                return self._fields(line)
        return split_quoted(line, self.syntax)

    def _fields(self, line: str) -> list[Any]:
        try:
            record = json.loads(line)
        except ValueError:
            raise BadLineError("not a row of Parquet") from None
        return [record.get(column) for column in self.columns]


def split_quoted(line: str, syntax: CellSyntax) -> list[str]:
    """Cut a line of a spreadsheet's table; a cell in quotes may hold separators and quotes.

    >>> split_quoted('Q585,"Oslo, Norway",the Tiger City', CellSyntax.COMMAS)
    ['Q585', 'Oslo, Norway', 'the Tiger City']
    """
    try:
        (cells,) = csv.reader([line], delimiter=syntax.value, strict=True)
    except (csv.Error, ValueError) as error:
        if line.count('"') % 2:
            raise BadLineError("a cell in quotes does not end on its line") from None
        raise BadLineError(f"its cells cannot be told apart ({error})") from None
    return cells


PLAIN = {kind: TableLayout(kind) for kind in (TableKind.TRIPLES, TableKind.FORMS)}
"""Tables with tabs and without a header."""


def layout_of(path: Path, *, wide: bool = False) -> TableLayout | None:
    """Look at a file and recognise the table in it; None if there is none.

    With `wide` it is known to be a wide table, whatever its columns are called.
    """
    if is_parquet(path):
        columns = parquet_columns(path)
        return _with_names(TableLayout(TableKind.WIDE, CellSyntax.PARQUET), columns, wide=wide)
    return recognise_table(beginning_of(path, _SAMPLED_BYTES), wide=wide)


def recognise_table(beginning: bytes, *, wide: bool = False) -> TableLayout | None:
    """Recognise a table by its first lines; None if they are not those of one."""
    lines = _sample(beginning)
    syntax = _syntax(lines)
    if syntax is None:
        return None
    named = _named_by(lines, syntax, wide=wide)
    if named is not None:
        return named
    ((width, _),) = Counter(_count(line, syntax) for line in lines).most_common(1)
    if width == 2:
        return TableLayout(TableKind.FORMS, syntax)
    if width in (3, 4):
        return TableLayout(TableKind.TRIPLES, syntax)
    return None


def _named_by(lines: Sequence[str], syntax: CellSyntax, *, wide: bool) -> TableLayout | None:
    """Read the first line as a header; None if it is not one."""
    first, *others = lines
    try:
        cells = [clean_name(cell) for cell in TableLayout(TableKind.WIDE, syntax).cells(first)]
    except BadLineError:
        return None
    named = _with_names(TableLayout(TableKind.WIDE, syntax, first), tuple(cells), wide=wide)
    if named is None or named.kind is not TableKind.WIDE or wide or _is_wide(cells, others):
        return named
    return None


def _sample(beginning: bytes) -> list[str]:
    """Give the first lines that are not blank; a line that is cut off is none of them."""
    text = beginning.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")
    lines = text.split("\n")
    if len(beginning) >= _SAMPLED_BYTES and len(lines) > 1:
        lines.pop()
    return [line.removesuffix("\r") for line in lines if line.strip()][:_SAMPLED_LINES]


def _syntax(lines: Sequence[str]) -> CellSyntax | None:
    """Find what separates the cells: most lines must have as many of them as the first."""
    if any("\t" in line for line in lines):
        return CellSyntax.TABS
    for syntax in (CellSyntax.COMMAS, CellSyntax.SEMICOLONS):
        counts = [_count(line, syntax) for line in lines]
        if counts and counts[0] > 1 and 2 * counts.count(counts[0]) > len(counts):
            return syntax
    return None


def _count(line: str, syntax: CellSyntax) -> int:
    try:
        return len(TableLayout(TableKind.WIDE, syntax).cells(line))
    except BadLineError:
        return 0


def _with_names(layout: TableLayout, columns: tuple[str, ...], *, wide: bool) -> TableLayout | None:
    """Find by the names of columns what they hold; None if no row could be read by them."""
    layout = replace(layout, columns=columns)
    if len(columns) < 2 or not all(columns) or len(set(columns)) < len(columns):
        return None
    id_column, name_columns = entity_columns(columns, is_first=wide)
    layout = replace(layout, id_column=id_column, name_columns=name_columns)
    if wide:
        return layout
    triple = [place_of(columns, names) for names in (_SUBJECT, _RELATION, _OBJECT)]
    if None not in triple:
        places = [*triple, place_of(columns, _KIND)]
        wanted = tuple(place for place in places if place is not None)
        return replace(layout, kind=TableKind.TRIPLES, places=wanted)
    form = [place_of(columns, names) for names in (_ENTITY, _FORM)]
    if len(columns) == 2 and None not in form:
        wanted = tuple(place for place in form if place is not None)
        return replace(layout, kind=TableKind.FORMS, places=wanted)
    return layout


def place_of(columns: Sequence[str], names: set[str]) -> int | None:
    """Find the first column that has one of these names, however they are written."""
    folded = (column.casefold().replace("_", " ").replace("-", " ") for column in columns)
    return next((place for place, name in enumerate(folded) if name in names), None)


def _is_wide(cells: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a first line is the header of a wide table, and not the first row of another."""
    if any(looks_like_a_value(cell) for cell in cells):
        return False
    if place_of(cells[:1], _ENTITY | _FORM) is not None or len(cells) > 4:
        return True
    return len(cells) == 4 and not any(
        line.rstrip().endswith(("entity", "literal")) for line in ("\t".join(cells), *others)
    )


def has_ids(columns: Sequence[str]) -> bool:
    """Whether one of the columns is called as ids of entities are, or as subjects are."""
    return place_of(columns, _ENTITY | _SUBJECT) is not None


def entity_columns(
    columns: Sequence[str], *, is_first: bool = False
) -> tuple[int, tuple[int, ...]]:
    """Find in a wide table the column of ids, and those of names.

    Without a column of ids it is that of names, or the first where there is none of these either,
    or where it is known to be the first.

    >>> entity_columns(["name", "country", "id", "aliases"])
    (2, (0, 3))
    """
    if INDEX_OF_PANDAS in columns:
        id_: int | None = columns.index(INDEX_OF_PANDAS)
    else:
        id_ = place_of(columns, _ENTITY)
    names = tuple(
        place for place, column in enumerate(columns) if place_of([column], _FORM) is not None
    )
    if id_ is None:
        id_ = names[0] if names and not is_first else 0
    return id_, tuple(place for place in names if place != id_)


def cell_values(cell: Any) -> list[tuple[str, bool]]:
    """Give the values of a cell, each as a text and whether it is a date or a number.

    A list of Parquet has many values, and so has a text with a | between them.

    >>> cell_values("Oslo | Kristiania"), cell_values(1624), cell_values(None)
    ([('Oslo', False), ('Kristiania', False)], [('1624', True)], [])
    """
    if isinstance(cell, list):
        return [value for each in cell for value in cell_values(each)]
    if cell is None or isinstance(cell, bool | dict):  # no text says "true" for a fact
        return []
    if not isinstance(cell, str):
        return [(literal_text(cell), True)]
    values = (clean_name(each) for each in cell.split("|"))
    return [(each, looks_like_a_value(each)) for each in values if each]
