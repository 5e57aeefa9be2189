"""Write a name in other ways: without its marks, as a list, a short date, a country's adjective.

Each function takes a name as it is given and lists further writings of it, none where its rule says
nothing of such a name. They know nothing of letter case, and of no text: every rule is a function
of the name alone.
"""

import re
from functools import cache
from importlib.resources import files

from lrlm.knowledge.literals import MONTHS, UNITS, Date, looks_like_a_value

_QUALIFIED = re.compile(r"(?P<name>[^(),]*\w[^(),]*?) ?\((?P<kind>[^(),]*\w[^(),]*)\)")
_PLACE_IN = re.compile(r"(?P<name>[^(),]*\w[^(),]*), (?P<place>[^(),]*\w[^(),]*)")
_NOUN = re.compile(r"[A-Za-z][a-z]{2,}(?: [a-z]+)*")
_ITEMS = re.compile(r"(?: ?, (?:and |or )?| and | or )")
_MOST_ITEMS = 12

_INITIALS = re.compile(r"\b(?:[^\W\d_]\. ?){2,}")
_INITIAL = re.compile(r"\b[^\W\d_]\.(?= )")
_AROUND = "\"'“”‘’,;:~ "
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=s\b|s?\s|\w|$)")
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–—](?=\w)")
_STOP = re.compile(r"(?<=\w)\.(?=\s|$)")

_DAY_AND_MONTH = re.compile(rf"(\d\d?) ({'|'.join(MONTHS)})|({'|'.join(MONTHS)}) (\d\d?)", re.ASCII)
_SHORT_MONTHS = {month: (month[:3],) for month in MONTHS if len(month) > 4} | {
    "September": ("Sept", "Sep"), "May": (), "June": ("Jun",), "July": ("Jul",)
}  # fmt: skip

_MEASURE = re.compile(
    r"(?P<number>-?\d[\d,]*(?:\.\d+)?) ?\(?(?P<unit>[^\W\d][^()\d]*)\)?", re.ASCII
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?", re.ASCII)
_POINT_NOUGHT = re.compile(r"\.0+$")
_THOUSANDS = 1000


def without_marks(name: str) -> list[str]:
    """Leave out marks that people leave out: stops, commas, apostrophes, hyphens.

    >>> without_marks("Arem-arem"), without_marks("Wheeler, Texas")
    (['Arem arem'], ['Wheeler Texas'])
    >>> without_marks("J. P. McManus")
    ['J.P. McManus', 'JP McManus', 'J P McManus']
    """
    if looks_like_a_value(name):
        return []
    bare = name.strip(_AROUND)
    if bare.endswith(".") and not bare.endswith(".."):
        bare = bare[:-1]
    plain = _APOSTROPHE.sub("", bare)
    found = [bare, plain, _HYPHEN.sub(" ", plain)]
    if _INITIALS.search(bare):
        spaced = _INITIALS.sub(lambda each: " ".join(re.findall(r"\w\.", each[0])) + " ", bare)
        closed = re.sub(r"(?<=\w\.) (?=\w\.)", "", spaced)
        found += [spaced, closed, closed.replace(".", ""), spaced.replace(".", "")]
    found += [_STOP.sub("", each) for each in (bare, plain)]
    if bare.count(",") == 1:
        found += [each.replace(",", " ") for each in (name, bare)]
    cleaned = (" ".join(each.split()) for each in found)
    return [each for each in dict.fromkeys(cleaned) if each and each != name]


def as_nouns(name: str) -> list[str]:
    """Write a name without any capital but its first as a common noun, and its plurals.

    >>> as_nouns("Sweet potato"), as_nouns("New York"), as_nouns("Raisins")
    (['sweet potato', 'sweet potatoes', 'sweet potatos'], [], ['raisins'])
    """
    if not _NOUN.fullmatch(name):
        return []
    noun = name[0].lower() + name[1:]
    if noun.endswith("s"):
        return [noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return [noun, f"{noun[:-1]}ies"]
    if noun.endswith("o"):
        return [noun, f"{noun}es", f"{noun}s"]
    return [noun, f"{noun}es" if noun.endswith(("ch", "sh", "x", "z")) else f"{noun}s"]


def qualified(name: str) -> list[str]:
    """Say what tells a name from others in running text: where it is, or what kind of thing.

    >>> qualified("Ardmore Airport (New Zealand)")[:2]
    ['Ardmore Airport, New Zealand', 'Ardmore Airport in New Zealand']
    >>> qualified("Abilene, Texas")
    ['Abilene in Texas', 'Abilene of Texas', 'Abilene (Texas)']
    >>> qualified("Castle (novel)")
    ['novel Castle', 'Castle novel']
    """
    if found := _QUALIFIED.fullmatch(name):
        title, kind = found["name"].strip(), found["kind"].strip()
        if kind[0].islower():
            return [f"{kind} {title}", f"{title} {kind}"]
        return [f"{title}, {kind}", f"{title} in {kind}", f"{title} {kind}"]
    if (found := _PLACE_IN.fullmatch(name)) and not looks_like_a_value(name):
        title, place = found["name"].strip(), found["place"].strip()
        if place[0].isupper() and title[0].isupper():
            return [f"{title} in {place}", f"{title} of {place}", f"{title} ({place})"]
    return []


def listed(name: str) -> list[str]:
    """Write a list as sentences have it, with "and" or "or" before its last item.

    >>> listed("bread, garlic, oil")[:2]
    ['bread, garlic and oil', 'bread, garlic, and oil']
    >>> listed("Singapore and Indonesia")
    ['Indonesia and Singapore']
    """
    if looks_like_a_value(name) or "(" in name:
        return []
    items = [item.strip() for item in _ITEMS.split(name)]
    if not 2 <= len(items) <= _MOST_ITEMS or not all(items) or any(map(str.isdigit, items)):
        return []
    if "," not in name:  # names hold "and" as well, so only the order of two is free
        return [f"{items[1]} and {items[0]}"] if " and " in name and len(items) == 2 else []
    first, last = ", ".join(items[:-1]), items[-1]
    joints = (" and ", ", and ", " or ", ", or ") if len(items) > 2 else (" and ", " or ")
    return [each for joint in joints if (each := f"{first}{joint}{last}") != name]


def dated(name: str) -> list[str]:
    """Write a date in the ways that are common in short texts.

    >>> dated("4 August 1961")[:3]
    ['4th August 1961', '4th August, 1961', 'August 4th, 1961']
    >>> dated("August 1961")
    ['August, 1961', 'August of 1961', 'Aug 1961', 'Aug. 1961']
    """
    if not any(character.isdigit() for character in name):
        return []
    date = Date.parse(name)
    if date is None:
        found = _DAY_AND_MONTH.fullmatch(name)
        if found is None:
            return []
        return _day_and_month(int(found[1] or found[4]), found[2] or found[3])
    if date.month is None or date.year < 1:
        return []
    month, year = MONTHS[date.month - 1], date.year
    if date.day is None:
        written = [f"{month}, {year}", f"{month} of {year}"]
        for short in _SHORT_MONTHS.get(month, ()):
            written += [f"{short} {year}", f"{short}. {year}"]
        return [each for each in written if each != name]
    day, nth = date.day, _nth(date.day)
    found_dates = [
        f"{nth} {month} {year}", f"{nth} {month}, {year}", f"{month} {nth}, {year}",
        f"{month} {nth} {year}", f"{nth} of {month} {year}", f"{nth} of {month}, {year}",
        f"{month} {day} {year}", f"{day} {month}, {year}",
    ]  # fmt: skip
    for short in _SHORT_MONTHS.get(month, ()):
        found_dates += [
            f"{short} {day}, {year}", f"{day} {short} {year}", f"{short} {day} {year}",
            f"{short} {nth}, {year}", f"{short} {nth} {year}", f"{nth} {short} {year}",
            f"{short}. {day}, {year}", f"{day} {short}. {year}",
        ]  # fmt: skip
    m, d = date.month, day
    found_dates += [
        f"{year:04}-{m:02}-{d:02}", f"{d:02}/{m:02}/{year}", f"{m:02}/{d:02}/{year}",
        f"{d}/{m}/{year}", f"{m}/{d}/{year}", f"{d:02}.{m:02}.{year}", f"{year}/{m:02}/{d:02}",
    ]  # fmt: skip
    return [each for each in dict.fromkeys(found_dates) if each != name]


def _day_and_month(day: int, month: str) -> list[str]:
    nth = _nth(day)
    found = [f"{nth} {month}", f"{month} {nth}", f"{nth} of {month}"]
    for short in _SHORT_MONTHS.get(month, ()):
        found += [f"{short} {day}", f"{day} {short}", f"{short} {nth}", f"{nth} {short}"]
    return found


def _nth(day: int) -> str:
    last = 0 if day in (11, 12, 13) else day % 10
    return str(day) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


def counted(name: str) -> list[str]:
    """Write a number with or without ".0", thousands, and a unit beside it or in full.

    The number stays the same: nothing is rounded.

    >>> counted("1533.0"), counted("18.0 g")[:4]
    (['1533', '1,533'], ['18 g', '18g', '18 grams', '18.0g'])
    """
    found = _MEASURE.fullmatch(name) or _NUMBER.fullmatch(name)
    if found is None or Date.parse(name) is not None:
        return []
    unit = (found.groupdict().get("unit") or "").strip()
    if unit and unit not in _UNIT_WRITINGS and not name.endswith(")"):
        return []  # among them names that begin with a number, as "10 Downing Street"
    digits = (found["number"] if unit else name).replace(",", "")
    numbers = [_POINT_NOUGHT.sub("", digits), digits]
    whole, point, fraction = numbers[0].partition(".")
    if abs(int(whole)) >= _THOUSANDS and (digits != whole or "," in name or unit):
        numbers.insert(1, f"{int(whole):,}{point}{fraction}")
    if not unit:
        return [each for each in dict.fromkeys(numbers) if each != name]
    units = _UNIT_WRITINGS.get(unit, (unit,))
    written = [
        f"{number} {each}" if len(each) > 3 or gap else f"{number}{each}"
        for number in dict.fromkeys(numbers)
        for each in units
        for gap in (" ", "")
    ]
    return [each for each in dict.fromkeys([*written, *numbers]) if each != name]


_UNIT_WRITINGS = {writing: writings for writings in UNITS.values() for writing in writings}
"""The writings of a unit by each of them."""


def of_countries(name: str) -> list[str]:
    """Give what a country and its people are also called, alone and within a longer name.

    >>> of_countries("United Kingdom")
    ['UK', 'U.K.', 'Great Britain', 'Britain', 'British']
    >>> of_countries("Australians"), of_countries("Andalusia")
    (['Australian'], ['Andalusian'])
    >>> of_countries("United States Air Force")
    ['US Air Force', 'U.S. Air Force']
    """
    known = _countries()
    if name in known:
        return [each for each in known[name] if each != name]
    if " " not in name:
        if name.endswith("s") and name[:-1] in _adjectives():
            return [name[:-1]]
        return [f"{name}n"] if name.endswith("ia") and name[:1].isupper() else []
    for long, *short in (("United States", "US", "U.S."), ("United Kingdom", "UK", "U.K.")):
        if long in name:
            return [name.replace(long, each) for each in short]
    return []


@cache
def _countries() -> dict[str, tuple[str, ...]]:
    """Read the table of countries: by each of their names all names, then all adjectives."""
    table = {}
    for line in (files("lrlm.corpora") / "countries.tsv").read_text("utf-8").splitlines():
        names, adjectives = (column.split("|") for column in line.split("\t"))
        for name in names:
            if len(name) > 4 or name == names[0]:
                table[name] = tuple(dict.fromkeys((*names, *adjectives)))
    return table


@cache
def _adjectives() -> frozenset[str]:
    lines = (files("lrlm.corpora") / "countries.tsv").read_text("utf-8").splitlines()
    return frozenset(each for line in lines for each in line.split("\t")[1].split("|"))
