"""Read tables with tabs between their columns: triples, forms, and ids with titles.

triples    subject TAB relation type TAB object [TAB entity|literal]
forms      entity TAB form; an entity's first form is its canonical one
titles     id TAB title, or title TAB id

Ids are keys and are kept as they are; relation types and forms are names and are cleaned. A line
with control characters in it is a bad one.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lrlm.characters import NOT_IN_A_TEXT, NOT_ON_A_LINE, clean_name, describe
from lrlm.knowledge.statements import StatementKind, Statements, checked_id
from lrlm.knowledge.topic import TITLE
from lrlm.text_files import BadLineError

_WIKIDATA_ID = re.compile(r"Q[1-9]\d*", re.ASCII)


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
    cells = _cells(line)
    if len(cells) not in (3, 4):
        raise BadLineError(
            "expected subject, relation, object and optionally entity|literal between tabs,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    subject, type_, object_, *kind = (cell.strip() for cell in cells)
    type_ = clean_name(type_)
    if not (subject and type_ and object_):
        raise BadLineError("subject, relation or object is empty")
    checked_id("subject", subject)
    if type_ == TITLE:
        raise BadLineError(f"{TITLE!r} is made from the topic's names; put those into the forms")
    if kind and kind[0] not in ("entity", "literal"):
        raise BadLineError(f"the fourth column must be entity or literal, not {kind[0][:40]!r}")
    if kind != ["literal"]:
        return FactRow(subject, type_, checked_id("object", object_), False)
    if not clean_name(object_):
        raise BadLineError("the literal has nothing but invisible characters")
    if NOT_ON_A_LINE.search(object_):  # white space that would break the line it is shown on
        object_ = clean_name(object_)
    return FactRow(subject, type_, object_, True)


def parse_form(line: str) -> FormRow:
    """Read a line of a forms file."""
    cells = _cells(line)
    if len(cells) != 2:
        raise BadLineError(
            "expected entity and form between a tab,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    entity, form = cells[0].strip(), clean_name(cells[1])
    if not (entity and form):
        raise BadLineError("entity or form is empty")
    return FormRow(checked_id("entity", entity), form)


def _cells(line: str) -> list[str]:
    """Cut a line at its tabs; a control character anywhere in it makes it a bad one."""
    if found := NOT_IN_A_TEXT.search(line):
        column = line.count("\t", 0, found.start()) + 1
        raise BadLineError(f"column {column} holds {describe(found[0])}")
    return line.split("\t")


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
    (id_,) = _cells(line)
    return checked_id("id", id_.strip())


def add_triples(lines: Sequence[bytes], out: Statements) -> None:
    """Add the facts of a triples file."""

    def add(line: str) -> None:
        subject, type_, object_, literal = parse_fact(line)
        if not literal:
            out.rows.append((StatementKind.ENTITY, subject, type_, object_, None))
        else:
            out.rows.append((StatementKind.LITERAL, subject, type_, clean_name(object_), None))

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
