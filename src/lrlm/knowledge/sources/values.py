"""Wikidata's times and numbers in, the objects of facts out."""

from lrlm.knowledge.literals import Date
from lrlm.knowledge.statements import Kind

ALL_LANGUAGES = "mul"
"""Wikidata's language code of names that hold for every language."""

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def time_value(time: str, precision: int) -> tuple[Kind, str]:
    """Turn Wikidata's time into a date, or into the name of a decade or century; else ""."""
    if precision >= 11 and len(time) == 21 and time[0] == "+" and "-00" not in time:
        return Kind.DATE, time[1:11]
    if precision >= 9:
        date = Date.from_wikidata(time, precision)
        return Kind.DATE, "" if date is None else iso(date)
    year = Date.from_wikidata(time, 9)
    if precision < 7 or year is None or not 0 < year.year < 10_000:
        return Kind.TEXT, ""
    if precision == 8:
        return Kind.TEXT, f"{year.year // 10 * 10}s"
    century = (year.year + 99) // 100
    ending = "th" if century % 100 in (11, 12, 13) else _ENDINGS.get(century % 10, "th")
    return Kind.TEXT, f"{century}{ending} century"


def iso(date: Date) -> str:
    """Write a date as `1961-08-04`, as far as it goes; "" if its year has five digits."""
    if not -10_000 < date.year < 10_000:
        return ""
    parts = [f"-{-date.year:04d}" if date.year < 0 else f"{date.year:04d}"]
    parts += [f"{part:02d}" for part in (date.month, date.day) if part]
    return "-".join(parts)
