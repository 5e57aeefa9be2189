"""What the lines of every source become: statements, each a row that says one thing.

Whatever the format, a line of input becomes statements: a fact, a name, a redirect, or a count of
what was left out. Two engines can then work on the same table with the same SQL.

    source, block, row   where it stood in the input; the order of names follows from it
    kind                 what it says, a `StatementKind`
    subject              the entity it is about; for a count, what is counted
    type                 the relation type, for facts; for names of RDF, the rank of what gives them
    object               the object's id, the literal, or the name
    unit                 the id of a quantity's unit
"""

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

from lrlm.characters import NOT_IN_A_TEXT, NOT_ON_A_LINE, clean_name, refused_in
from lrlm.text_files import BadLineError

if TYPE_CHECKING:
    import pyarrow as pa


class StatementKind(IntEnum):
    """What a statement is: a fact about its subject, a name of it, or a remark on the input."""

    ENTITY = 0
    """A fact whose object is an entity."""
    LITERAL = 1
    """A fact whose object is a text as it came; dates and numbers in it are recognised later."""
    DATE = 2
    """A fact whose object is a date: `1961-08-04`, `1961-08`, `1961`, `-0044`."""
    QUANTITY = 3
    """A fact whose object is a number; its unit is an entity."""
    TEXT = 4
    """A fact whose object is a text and nothing else."""

    LABEL = 10
    """A name in the wanted language; names count in the order of these kinds."""
    DEFAULT_LABEL = 11
    """A name for all languages (`mul`)."""
    ALIAS = 12
    DEFAULT_ALIAS = 13
    TITLE = 14
    """The title of a page about the entity: it is found by it, but text does not use it."""
    TYPE_LABEL = 15
    """A name of a relation type."""
    OWN_NAME = 19
    """A name made of the entity's id; it counts if the entity has no other."""

    REDIRECT = 20
    """The subject is another id of the object."""
    DATATYPE = 21
    """The subject is a relation type whose objects are of this data type."""

    COUNT = 30
    """How often something was met: `subject` says what, `row` how often."""
    BAD = 31
    """Line `row` of the block cannot be used: `subject` says why."""
    NOTE = 32
    """Line `row` of the block can be used, but `subject` is worth saying."""


LAST_FACT = StatementKind.TEXT
FIRST_NAME, LAST_NAME = StatementKind.LABEL, StatementKind.TITLE

StatementRow = tuple[int, str, str | None, str | None, str | None]
"""kind, subject, type, object, unit."""

ALL_LANGUAGES = "mul"
"""Wikidata's language code of names that hold for every language."""


def checked_name(field: str, name: str) -> str:
    """Clean a name or a literal; one with a control character makes its line a bad one."""
    if what := refused_in(name, NOT_IN_A_TEXT):
        raise BadLineError(f"the {field} holds {what}")
    return clean_name(name)


def checked_id(field: str, id_: str) -> str:
    """Give an id as it is; one with a control character makes its line a bad one."""
    if what := refused_in(id_, NOT_ON_A_LINE):
        raise BadLineError(f"the {field} holds {what}")
    return id_


class Statements:
    """Collects the statements of a block of lines of one source."""

    def __init__(self, source: int = 0) -> None:
        self.source = source
        self.rows: list[StatementRow] = []
        """Parsers append facts and redirects here: texts cleaned, ids exactly as they are."""
        self.counts: Counter[str] = Counter()
        self.bad: list[tuple[int, str]] = []
        self.notes: dict[str, int] = {}

    def add_name(self, kind: StatementKind, entity: str, name: str) -> None:
        """Add a name, cleaned; a blank one is left out, one with control characters refused."""
        if name := checked_name("name", name):
            self.rows.append((kind, entity, None, name, None))

    def add_bad(self, line: int, reason: str) -> None:
        """Remember that a line of this block, counted from 0, cannot be used."""
        self.bad.append((line, reason))

    def add_note(self, line: int, remark: str) -> None:
        """Remember a remark on a line; the same remark on further lines is not repeated."""
        self.notes.setdefault(remark, line)

    def to_table(self, *, block: int, first_row: int = 0) -> "pa.Table":
        """Lay the statements out in columns, those about the input itself last."""
        import pyarrow as pa

        rows = self.rows
        places = [*range(first_row, first_row + len(rows))]
        about_input: list[tuple[int, int, str]] = [
            *((number, StatementKind.COUNT, what) for what, number in sorted(self.counts.items())),
            *((line, StatementKind.BAD, reason) for line, reason in self.bad),
            *((line, StatementKind.NOTE, remark) for remark, line in sorted(self.notes.items())),
        ]
        for number, kind, what in about_input:
            places.append(number)
            rows.append((kind, what, None, None, None))
        columns = list(zip(*rows, strict=True)) or [()] * 5
        size = len(rows)
        arrays = [
            pa.repeat(pa.scalar(self.source, pa.int32()), size),
            pa.repeat(pa.scalar(block, pa.int64()), size),
            pa.array(places, pa.int64()),
            *(
                pa.array(column, field.type)
                for column, field in zip(columns, list(schema())[3:], strict=True)
            ),
        ]
        return pa.Table.from_arrays(arrays, schema=schema())


def schema() -> "pa.Schema":
    """Give the columns of a table of statements."""
    import pyarrow as pa

    return pa.schema(
        [
            ("source", pa.int32()),
            ("block", pa.int64()),
            ("row", pa.int64()),
            ("kind", pa.int8()),
            ("subject", pa.string()),
            ("type", pa.string()),
            ("object", pa.string()),
            ("unit", pa.string()),
        ]
    )
