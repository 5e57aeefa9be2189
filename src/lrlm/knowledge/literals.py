"""Write dates and quantities in the forms that people use, the canonical one first.

>>> literal_forms("1961-08-04")[:2]
('4 August 1961', 'August 4, 1961')
>>> literal_forms("643801 km2")[:2]
('643,801 km²', '643801 km²')
"""

import math
import re
from dataclasses import dataclass
from datetime import date as PythonDate  # noqa: N812  a Date here may lack its day
from datetime import datetime
from decimal import Decimal

from lrlm.characters import clean_name
from lrlm.errors import InputError

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip

UNITS = {
    "km2": ("km²", "km2", "square kilometres", "square kilometers"),
    "km²": ("km²", "km2", "square kilometres", "square kilometers"),
    "km": ("km", "kilometres", "kilometers"),
    "m": ("m", "metres", "meters"),
    "kg": ("kg", "kilograms"),
    "g": ("g", "grams"),
    "°C": ("°C", "degrees Celsius"),
    "K": ("K", "kelvin"),
}
"""The ways to write a unit; a unit that is not listed is written as it is given."""

_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # a leap year depends on the calendar
_WIKIDATA_TIME = re.compile(r"([+-]?\d{1,16})-(\d\d)-(\d\d)T[\d:]+Z?", re.ASCII)
_ISO_DATE = re.compile(r"(-?\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_TWO_YEARS = re.compile(r"\d\d(\d\d)-(\d\d)", re.ASCII)
_MONTH = "|".join(MONTHS)
_DAY_FIRST = re.compile(rf"(?:(\d\d?) )?({_MONTH}) (\d{{3,4}})", re.ASCII)
_MONTH_FIRST = re.compile(rf"({_MONTH}) (\d\d?) ?, (\d{{3,4}})", re.ASCII)
_NUMBER = r"(-?)([1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*|0)(\.\d+)?"  # "007" is a code, not a number
_QUANTITY = re.compile(rf"{_NUMBER}(?: ([^\d\s]\S*(?: \D+)?))?", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_LAST_BARE_YEAR = 2100  # a lone "1947" is a year, a lone "4890" is a number


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month or a year, as precise as its last part that is not None; years BC are < 0."""

    year: int
    month: int | None = None
    day: int | None = None

    @classmethod
    def from_wikidata(cls, time: str, precision: int = 11) -> "Date | None":
        """Read Wikidata's `+1961-08-04T00:00:00Z`; precision 11 is a day, 10 a month, 9 a year.

        Decades and longer spans (precision below 9) have no usual form: they give None.
        """
        match = _WIKIDATA_TIME.fullmatch(time)
        if match is None or precision < 9:
            return None
        year, month, day = (int(part) for part in match.groups())
        return cls.if_valid(
            year,
            month if precision >= 10 else 0,
            day if precision >= 11 else 0,
        )

    @classmethod
    def parse(cls, text: str) -> "Date | None":
        """Read `1961-08-04`, `1961-08`, `1961`, `4 August 1961` or `August 4, 1961`."""
        if match := _WIKIDATA_TIME.fullmatch(text) or _ISO_DATE.fullmatch(text):
            year, month, day = match.groups()
            return cls.if_valid(int(year), int(month or 0), int(day or 0))
        if match := _DAY_FIRST.fullmatch(text):
            day, name, year = match.groups()
            return cls.if_valid(int(year), MONTHS.index(name) + 1, int(day or 0))
        if match := _MONTH_FIRST.fullmatch(text):
            name, day, year = match.groups()
            return cls.if_valid(int(year), MONTHS.index(name) + 1, int(day))
        return None

    @classmethod
    def if_valid(cls, year: int, month: int, day: int) -> "Date | None":
        """Build the date, 0 meaning "not given"; None if the calendar has no such day."""
        if year == 0 or month > 12 or day > (_DAYS[month - 1] if month else 31):
            return None
        return cls(year, month or None, (day or None) if month else None)

    def iso(self) -> str:
        """Write the date as `1961-08-04`, as far as it goes; "" if its year has five digits."""
        if not -10_000 < self.year < 10_000:
            return ""
        parts = [f"-{-self.year:04d}" if self.year < 0 else f"{self.year:04d}"]
        parts += [f"{part:02d}" for part in (self.month, self.day) if part]
        return "-".join(parts)

    def forms(self) -> tuple[str, ...]:
        """Write the date in the usual English orders, whole first, then its coarser parts."""
        year = str(self.year) if self.year > 0 else f"{-self.year} BC"
        if self.month is None:
            return (year,)
        month = MONTHS[self.month - 1]
        if self.day is None:
            return (f"{month} {year}", f"{month}, {year}", year)
        return (
            f"{self.day} {month} {year}",
            f"{month} {self.day}, {year}",
            f"{self.day} {month}",
            f"{month} {self.day}",
            f"{month} {year}",
            year,
        )


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with an optional unit, written with and without thousands separators."""

    amount: Decimal
    unit: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Quantity | None":
        """Read `643801`, `643,801`, `-12.50` or `643801 km2`; None for anything else."""
        match = _QUANTITY.fullmatch(text)
        if match is None:
            return None
        minus, whole, fraction, unit = match.groups()
        return cls(Decimal(f"{minus}{whole.replace(',', '')}{fraction or ''}"), unit)

    def forms(self) -> tuple[str, ...]:
        """Write the number with its unit in each usual way, then the bare number."""
        numbers = dict.fromkeys((f"{self.amount:,f}", f"{self.amount:f}"))
        if self.unit is None:
            return tuple(numbers)
        units = UNITS.get(self.unit, (self.unit,))
        return (*(f"{number} {unit}" for unit in units for number in numbers), *numbers)


def literal_text(value: float | Decimal | PythonDate) -> str:
    """Write a number or a date of Python as the literal that tables have; of a time, its day.

    >>> literal_text(8848.86), literal_text(PythonDate(1953, 5, 29))
    ('8848.86', '1953-05-29')
    """
    if isinstance(value, datetime):  # texts name the day
        value = value.date()
    if isinstance(value, PythonDate):
        return value.isoformat()
    if not math.isfinite(value):
        raise InputError(f"{value} is not a number that can be written")
    if isinstance(value, float):
        value = Decimal(int(value)) if value.is_integer() else Decimal(repr(value))
    return f"{Decimal(value):f}"


def looks_like_a_value(text: str) -> bool:
    """Tell whether a text is a date or a number, with or without a known unit.

    >>> [looks_like_a_value(text) for text in ("29 May 1953", "8,849 m", "K2", "10 Downing Street")]
    [True, True, False, False]
    """
    text = clean_name(text)
    if Date.parse(text) is not None:
        return True
    quantity = Quantity.parse(text)
    return quantity is not None and (quantity.unit is None or quantity.unit in UNITS)


def is_number(text: str) -> bool:
    """Tell whether a text is a plain decimal number, with or without a sign.

    One with an exponent is none: written out it could be longer than any memory.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.replace(".", "", 1).isdecimal() and digits.isascii() and digits[0] != "."


def literal_forms(text: str) -> tuple[str, ...]:
    """Give the forms of a literal: its date or number in each usual way, or the text itself.

    A literal that is already written as people do ("July 27, 1991", "6,000") keeps its own
    writing as the canonical form; one written for machines ("1991-07-27", "6000") does not.
    """
    text = clean_name(text) or text
    if _YEAR.fullmatch(text) and int(text) <= _LAST_BARE_YEAR:
        return (text,)
    if (years := _TWO_YEARS.fullmatch(text)) and (years[1] < years[2] or years[2] == "00"):
        return (text,)  # "2008-11" is from 2008 to 2011; "1961-08" can only be a month
    if not _YEAR.fullmatch(text) and (date := Date.parse(text)):
        written_by_people = "-" not in text
        return _with_own_writing(text, date.forms(), first=written_by_people)
    quantity = Quantity.parse(text)
    if quantity and (quantity.unit is None or quantity.unit in UNITS):
        return _with_own_writing(text, quantity.forms(), first="," in text)
    return (text,)  # among them names that begin with a number, as "10 Downing Street"


def _with_own_writing(text: str, forms: tuple[str, ...], *, first: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys((text, *forms))) if first else forms
