"""Read the typed literals of RDF: numbers, dates, times and measures, as people write them.

A literal becomes a kind of fact with its object, and perhaps a unit, or the reason why it is left
out.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from lrlm.knowledge.literals import MONTHS, Date, is_number
from lrlm.knowledge.sources.addresses import PREFIXES, relation_label
from lrlm.knowledge.statements import StatementKind

LEFT_OUT = "values of data types left out"
MALFORMED = "malformed values"
UNKNOWN = "values of unknown data types"

_TIME_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_DATE = re.compile(rf"(-?\d{{4,9}})-(\d\d)-(\d\d)(?:T[\d:.]+)?{_TIME_ZONE}", re.ASCII)
_MONTH = re.compile(rf"(-?\d{{4,9}})-(\d\d){_TIME_ZONE}", re.ASCII)
_YEAR = re.compile(rf"(-?\d{{4,9}}){_TIME_ZONE}", re.ASCII)
_DAY_OF_YEAR = re.compile(rf"--(\d\d)-(\d\d){_TIME_ZONE}", re.ASCII)
_TIME = re.compile(rf"(\d\d:\d\d):\d\d(?:\.\d+)?{_TIME_ZONE}", re.ASCII)
_EXPONENT = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,20})?[eE][+-]?\d{1,2}", re.ASCII)
_PLAIN_DAY = re.compile(r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])")
"""A date that needs no further look: nearly all are written so, and every month has the day."""
_LONGEST_NUMBER = 150
_QUANTITY, _DAY = int(StatementKind.QUANTITY), int(StatementKind.DATE)  # faster than their names


class Value(NamedTuple):
    """What a literal says: the kind of its fact, the object, and the id of a unit."""

    kind: int
    object: str
    unit: str | None = None


ValueReader = Callable[[str], Value | str]
"""Takes the text of a literal; gives its value, or the reason why it is left out."""


def _decimal(text: str) -> Value | str:
    """Read a number, also one with an exponent; write it with a digit before its point."""
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= _LONGEST_NUMBER:
        return Value(_QUANTITY, text)  # nearly all of them
    text = text.strip()
    if _EXPONENT.fullmatch(text):
        text = f"{Decimal(text):f}"
    digits = text.removeprefix("+").removeprefix("-").lstrip("0")
    digits = digits if digits[:1].isdecimal() else f"0{digits}"
    if len(text) > _LONGEST_NUMBER or not is_number(digits):
        return MALFORMED
    sign = "-" if text.startswith("-") else ""
    return Value(_QUANTITY, sign + digits.removesuffix("."))


def _floating(text: str) -> Value | str:
    """Read a number that computers measured: its last zeros say nothing."""
    value = _decimal(text)
    if isinstance(value, str) or "." not in value.object:
        return value
    return Value(value.kind, value.object.rstrip("0").rstrip("."))


def _date(pattern: re.Pattern[str]) -> ValueReader:
    def read(text: str) -> Value | str:
        if _PLAIN_DAY.fullmatch(text) and pattern is _DATE:
            return Value(_DAY, text)
        match = pattern.fullmatch(text.strip())
        if match is None:
            return MALFORMED
        year, month, day = (*map(int, match.groups()), 0, 0)[:3]
        # There is a year 0, which is 1 BC; -1 is 2 BC, and so on.
        date = Date.if_valid(year - 1 if year <= 0 else year, month, day)
        written = "" if date is None else date.iso()
        return Value(_DAY, written) if written else MALFORMED

    return read


def _day_of_year(text: str) -> Value | str:
    match = _DAY_OF_YEAR.fullmatch(text.strip())
    if match is None or Date.if_valid(4, int(match[1]), int(match[2])) is None:
        return MALFORMED
    if not (int(match[1]) and int(match[2])):
        return MALFORMED
    return Value(StatementKind.TEXT, f"{int(match[2])} {MONTHS[int(match[1]) - 1]}")


def _time(text: str) -> Value | str:
    match = _TIME.fullmatch(text.strip())
    return Value(StatementKind.TEXT, match[1]) if match else MALFORMED


def _left_out(_: str) -> str:
    return LEFT_OUT


_INTEGERS = (
    "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
    "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort",
    "unsignedByte", "decimal",
)  # fmt: skip
_XSD: dict[str, ValueReader] = {
    **dict.fromkeys(_INTEGERS, _decimal),
    "double": _floating,
    "float": _floating,
    "date": _date(_DATE),
    "dateTime": _date(_DATE),
    "dateTimeStamp": _date(_DATE),
    "gYearMonth": _date(_MONTH),
    "gYear": _date(_YEAR),
    "gMonthDay": _day_of_year,
    "time": _time,
}
_TEXTS = frozenset({f"{PREFIXES['xsd']}string", f"{PREFIXES['xsd']}normalizedString"})
_UNWRITTEN = (PREFIXES["xsd"], PREFIXES["rdf"], "http://www.opengis.net/")
"""Vocabularies of data types; those that are not read here are not written in texts."""

_UNIT_NAMES = {
    "squareKilometre": "km2",
    "kilometre": "km",
    "metre": "m",
    "kilogram": "kg",
    "gram": "g",
    "degreeCelsius": "°C",
    "kelvin": "K",
}
"""What the units of DBpedia are called in `lrlm.knowledge.literals.UNITS`."""


def unit_name(datatype: str) -> str:
    """Give the name of the unit that a data type stands for.

    >>> unit_name("http://dbpedia.org/datatype/squareKilometre")
    'km2'
    """
    local = datatype.rpartition("/")[2]
    return _UNIT_NAMES.get(local) or relation_label(datatype)


def reader_of(datatype: str) -> ValueReader | None:
    """Give what reads the literals of a data type; None where they are plain texts."""
    if datatype in _TEXTS:
        return None
    if datatype.startswith(PREFIXES["xsd"]):
        return _XSD.get(datatype.removeprefix(PREFIXES["xsd"]), _left_out)
    if datatype.startswith(_UNWRITTEN):
        return _left_out

    def measure(text: str) -> Value | str:
        """Take a number of a data type of one's own for a measure, as DBpedia writes them."""
        value = _floating(text)
        return UNKNOWN if isinstance(value, str) else Value(value.kind, value.object, datatype)

    return measure
