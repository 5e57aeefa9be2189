"""Read the rows of tables: triples, forms, wide tables, and ids with titles.

triples    subject, relation type, object [, entity|literal]
forms      entity, form; an entity's first form is its canonical one
wide       an entity with its names and, in each other column, the objects of one relation
titles     id TAB title, or title TAB id

How a table is written is said by its layout, see `tables`. Ids are keys and are kept as they are;
relation types and forms are names and are cleaned. A line with control characters in it is a bad
one.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from lrlm.characters import NOT_ON_A_LINE, clean_name
from lrlm.knowledge.literals import literal_text, looks_like_a_value
from lrlm.knowledge.sources.tables import (
    PLAIN,
    TableKind,
    TableLayout,
    cell_values,
)
from lrlm.knowledge.statements import StatementKind, Statements, checked_id
from lrlm.knowledge.topic import TITLE
from lrlm.text_files import BadLineError

_WIKIDATA_ID = re.compile(r"Q[1-9]\d*", re.ASCII)
_TRIPLES, _FORMS = PLAIN[TableKind.TRIPLES], PLAIN[TableKind.FORMS]


class FactRow(NamedTuple):
    """One line of a triples file."""

    subject: str
    type: str
    object: str
    literal: bool


class FormRow(NamedTuple):
    """One line of a forms file."""

    entity: str
    form: str


def parse_fact(line: str, layout: TableLayout = _TRIPLES) -> FactRow:
    """Read a line of a triples file."""
    cells = layout.cells(line)
    if len(cells) not in (3, 4):
        raise BadLineError(
            "expected subject, relation, object and optionally entity|literal between tabs,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    is_value = _is_value(cells[2])
    subject, type_, object_, *kind = map(_text, cells)
    type_ = clean_name(type_)
    if not (subject and type_ and object_):
        raise BadLineError("subject, relation or object is empty")
    checked_id("subject", subject)
    if type_ == TITLE:
        raise BadLineError(f"{TITLE!r} is made from the topic's names; put those into the forms")
    if kind and kind[0] not in ("entity", "literal"):
        raise BadLineError(f"the fourth column must be entity or literal, not {kind[0][:40]!r}")
    if not kind and (is_value or (layout.ids_are_names and looks_like_a_value(object_))):
        kind = ["literal"]
    if kind != ["literal"]:
        return FactRow(subject, type_, checked_id("object", object_), False)
    if not clean_name(object_):
        raise BadLineError("the literal has nothing but invisible characters")
    if NOT_ON_A_LINE.search(object_):  # white space that would break the line it is shown on
        object_ = clean_name(object_)
    return FactRow(subject, type_, object_, True)


def parse_form(line: str, layout: TableLayout = _FORMS) -> FormRow:
    """Read a line of a forms file."""
    cells = layout.cells(line)
    if len(cells) != 2:
        raise BadLineError(
            "expected entity and form between a tab,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    entity, form = _text(cells[0]), clean_name(_text(cells[1]))
    if not (entity and form):
        raise BadLineError("entity or form is empty")
    return FormRow(checked_id("entity", entity), form)


def _is_value(cell: Any) -> bool:
    """Whether a cell of Parquet is a number or a date by its type, and no text."""
    return cell is not None and not isinstance(cell, str)


def _text(cell: Any) -> str:
    if isinstance(cell, list | dict | bool):
        raise BadLineError("a cell holds a list, a truth value or the like; expected a text")
    if _is_value(cell):
        return literal_text(cell)
    return "" if cell is None else cell.strip()


def name_of_id(id_: str) -> str:
    """Give the name that an id is, where people use names for ids.

    >>> name_of_id("Mount_Everest"), name_of_id("snake_case in a name")
    ('Mount Everest', 'snake_case in a name')
    """
    return clean_name(id_ if " " in id_ else id_.replace("_", " "))


def parse_title(line: str) -> FormRow:
    """Read a line of a table of ids and titles; of two columns, the Wikidata id is the id."""
    first, second = parse_form(line)
    if _WIKIDATA_ID.fullmatch(second) and not _WIKIDATA_ID.fullmatch(first):
        return FormRow(second, clean_name(first))
    return FormRow(first, second)


def parse_id(line: str) -> str:
    """Read an id that stands alone on its line, or in a table of ids and titles."""
    if "\t" in line:
        return parse_title(line).entity
    (id_,) = _FORMS.cells(line)
    return checked_id("id", _text(id_))


def parser_of_table(layout: TableLayout) -> Callable[[Sequence[bytes], Statements], None]:
    """Give what adds the lines of a table with this layout to statements."""
    add = {
        TableKind.TRIPLES: add_triples,
        TableKind.FORMS: add_forms,
        TableKind.WIDE: add_wide,
    }[layout.kind]
    return partial(add, layout)


def add_triples(layout: TableLayout, lines: Sequence[bytes], out: Statements) -> None:
    """Add the facts of a triples file."""

    def add(line: str) -> None:
        subject, type_, object_, literal = parse_fact(line, layout)
        if literal:
            out.rows.append((StatementKind.LITERAL, subject, type_, clean_name(object_), None))
        else:
            out.rows.append((StatementKind.ENTITY, subject, type_, object_, None))
        if layout.ids_are_names:
            for entity in (subject,) if literal else (subject, object_):
                _add_own_name(entity, out)

    _add_each(lines, out, add, layout)


def add_forms(layout: TableLayout, lines: Sequence[bytes], out: Statements) -> None:
    """Add the names of a forms file."""

    def add(line: str) -> None:
        out.add_name(StatementKind.LABEL, *parse_form(line, layout))

    _add_each(lines, out, add, layout)


def add_titles(lines: Sequence[bytes], out: Statements) -> None:
    """Add the titles of a table of ids and titles."""

    def add(line: str) -> None:
        out.add_name(StatementKind.TITLE, *parse_title(line))

    _add_each(lines, out, add, _FORMS)


def add_wide(layout: TableLayout, lines: Sequence[bytes], out: Statements) -> None:
    """Add what the rows of a wide table say: names, dates and numbers, and other entities.

    What is neither a date nor a number is an entity, called by its id if it has no other name.
    """
    id_column, name_columns = layout.id_column, layout.name_columns
    types = {
        place: clean_name(column)
        for place, column in enumerate(layout.columns)
        if place != id_column and place not in name_columns
    }
    for type_ in types.values():
        out.add_name(StatementKind.TYPE_LABEL, type_, name_of_id(type_))

    def add(line: str) -> None:
        cells = layout.cells(line)
        entity = checked_id("id", _text(cells[id_column]))
        if not entity:
            raise BadLineError(f"the column {layout.columns[id_column]!r} is empty")
        rows = list(_wide_facts(entity, cells, types))
        names = [name for place in name_columns for name, _ in cell_values(cells[place])]
        for name in names:
            out.add_name(StatementKind.LABEL, entity, name)
        _add_own_name(entity, out)
        for fact in rows:
            kind = StatementKind.LITERAL if fact.literal else StatementKind.ENTITY
            out.rows.append((kind, fact.subject, fact.type, fact.object, None))
            if not fact.literal:
                _add_own_name(fact.object, out)

    _add_each(lines, out, add, layout)


def _wide_facts(entity: str, cells: Sequence[Any], types: dict[int, str]) -> Iterator[FactRow]:
    for place, type_ in types.items():
        for object_, is_value in cell_values(cells[place]):
            yield FactRow(entity, type_, checked_id(type_, object_), is_value)


def _add_own_name(entity: str, out: Statements) -> None:
    if name := name_of_id(entity):
        out.rows.append((StatementKind.OWN_NAME, entity, None, name, None))


def _add_each(
    lines: Sequence[bytes], out: Statements, add: Callable[[str], None], layout: TableLayout
) -> None:
    for number, raw in enumerate(lines):
        if not raw.strip() or layout.is_header(raw):
            continue
        try:
            add(raw.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            out.add_bad(number, f"not UTF-8 at byte {error.start + 1} of the line")
        except BadLineError as error:
            out.add_bad(number, str(error))
