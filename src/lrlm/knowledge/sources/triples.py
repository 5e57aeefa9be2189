"""Read tables with tabs between their columns: triples, forms, and ids with titles.

triples    subject TAB relation type TAB object [TAB entity|literal]
forms      entity TAB form; an entity's first form is its canonical one
titles     id TAB title, or title TAB id

Ids are keys and are kept as they are; relation types and forms are names and are cleaned.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lrlm.characters import clean_name
from lrlm.knowledge.statements import StatementKind, Statements
from lrlm.knowledge.topic import TITLE
from lrlm.text_files import BadLineError

_WIKIDATA_ID = re.compile(r"Q[1-9]\d*")


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


def parse_fact(line: str) -> FactRow:
    """Read a line of a triples file."""
    cells = line.split("\t")
    if len(cells) not in (3, 4):
        raise BadLineError(
            "expected subject, relation, object and optionally entity|literal between tabs,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    subject, type_, object_, *kind = (cell.strip() for cell in cells)
    type_ = clean_name(type_)
    if not (subject and type_ and object_):
        raise BadLineError("subject, relation or object is empty")
    if type_ == TITLE:
        raise BadLineError(f"{TITLE!r} is made from the topic's names; put those into the forms")
    if kind and kind[0] not in ("entity", "literal"):
        raise BadLineError(f"the fourth column must be entity or literal, not {kind[0]!r}")
    return FactRow(subject, type_, object_, kind == ["literal"])


def parse_form(line: str) -> FormRow:
    """Read a line of a forms file."""
    cells = line.split("\t")
    if len(cells) != 2:
        raise BadLineError(
            "expected entity and form between a tab,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    entity, form = cells[0].strip(), clean_name(cells[1])
    if not (entity and form):
        raise BadLineError("entity or form is empty")
    return FormRow(entity, form)


def parse_title(line: str) -> FormRow:
    """Read a line of a table of ids and titles; of two columns, the Wikidata id is the id."""
    first, second = parse_form(line)
    if _WIKIDATA_ID.fullmatch(second) and not _WIKIDATA_ID.fullmatch(first):
        return FormRow(second, clean_name(first))
    return FormRow(first, second)


def parse_id(line: str) -> str:
    """Read an id that stands alone on its line, or in a table of ids and titles."""
    return parse_title(line).entity if "\t" in line else line.strip()


def add_triples(lines: Sequence[bytes], out: Statements) -> None:
    """Add the facts of a triples file."""

    def add(line: str) -> None:
        subject, type_, object_, literal = parse_fact(line)
        if not literal:
            out.rows.append((StatementKind.ENTITY, subject, type_, object_, None))
        elif text := clean_name(object_):
            out.rows.append((StatementKind.LITERAL, subject, type_, text, None))
        else:
            raise BadLineError("the literal has nothing but control and invisible characters")

    _add_each(lines, out, add)


def add_forms(lines: Sequence[bytes], out: Statements) -> None:
    """Add the names of a forms file."""
    _add_each(lines, out, lambda line: out.add_name(StatementKind.LABEL, *parse_form(line)))


def add_titles(lines: Sequence[bytes], out: Statements) -> None:
    """Add the titles of a table of ids and titles."""
    _add_each(lines, out, lambda line: out.add_name(StatementKind.TITLE, *parse_title(line)))


def _add_each(lines: Sequence[bytes], out: Statements, add: Callable[[str], None]) -> None:
    for number, raw in enumerate(lines):
        if not raw.strip():
            continue
        try:
            add(raw.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            out.add_bad(number, f"not UTF-8 at byte {error.start + 1} of the line")
        except BadLineError as error:
            out.add_bad(number, str(error))
