"""List the forms under which texts mention a thing that WebNLG calls by its name in DBpedia.

Aarhus_Airport                       Aarhus Airport
Auburn,_Alabama                      Auburn, Alabama · Auburn
Sorry_(Madonna_song)                 Sorry · Sorry (Madonna song)
René_Goscinny                        René Goscinny · Rene Goscinny
A.F.C._Fylde                         A.F.C. Fylde · AFC Fylde
English_language                     English language · English
"1961-08-04", 1961-08-04^^xsd:date   4 August 1961 · August 4, 1961 · … · 4th August 1961 · …
2702.0                               2,702 · 2702 · 2,702.0 · 2702.0
1.8 (metres), "1.8"(metres)          1.8 metres · 1.8
"""

import re
import unicodedata
from functools import lru_cache

from lrlm.knowledge.literals import MONTHS, Date, literal_forms

_TYPED = re.compile(r"(?P<value>.*?)(?:\^\^\S+|(?<=[\"'])@\S+)", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(?P<text>.*)\1\s*(?P<unit>\([^()]+\))?""", re.DOTALL)
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")
_MEASURE = re.compile(r"(?P<number>-?[\d.,]+)(?P<size> [mb]illion)?\s*\((?P<unit>[^()]+)\)")
_KIND = re.compile(r"(?P<name>[A-Z]\S*) (?:language|cuisine|architecture|people|literature)")
"""Kinds of things that are named by an adjective: "the tower is Georgian"."""
_OMITTED = re.compile(r"(?<=[^\W\d])\.|\.(?= )|:(?= )")
_WHOLE = re.compile(r"(-?\d+)\.0+")


@lru_cache(maxsize=1 << 16)
def dbpedia_forms(name: str) -> tuple[str, ...]:
    """Give the forms of an entity or a literal, the most usual one first."""
    text = name.strip()
    if typed := _TYPED.fullmatch(text):
        text = typed["value"].strip()
    if quoted := _QUOTED.fullmatch(text):
        text = f"{quoted['text']} {quoted['unit'] or ''}".strip()
        forms = _measure(text) or (*_literal(text), *_as_common_noun(text))
    else:
        text = " ".join(text.replace("_", " ").split())
        forms = _measure(text) or _names(text)
    forms = (*forms, *map(_without_accents, forms))
    return tuple(dict.fromkeys((*forms, *map(_without_stops, forms))))


def _names(text: str) -> tuple[str, ...]:
    """Give the forms of an entity: without what tells it from others of its name, then with it."""
    bare = _IN_BRACKETS.sub("", text) or text
    before_comma, comma, _ = bare.partition(", ")
    short = (before_comma,) if comma and before_comma.strip() else ()
    if kind := _KIND.fullmatch(bare):
        return bare, kind["name"]
    common = _as_common_noun(bare) if " " in bare else ()
    return (*_literal(bare), *common, *_literal(text), *short)


def _as_common_noun(text: str) -> tuple[str, ...]:
    """Write a first capital small where it is the only one: every name of DBpedia has one."""
    rest = text[1:]
    return (text[0].lower() + rest,) if text[:1].isupper() and rest == rest.lower() else ()


def _measure(text: str) -> tuple[str, ...]:
    measure = _MEASURE.fullmatch(text)
    if measure is None:
        return ()
    numbers = [f"{form}{measure['size'] or ''}" for form in _literal(measure["number"])]
    return (*(f"{number} {measure['unit']}" for number in numbers), *numbers)


def _literal(text: str) -> tuple[str, ...]:
    """Give the forms of a text that may be a date or a number; 2702.0 is mostly written 2702."""
    if not text:
        return ()
    whole = _WHOLE.fullmatch(text)
    forms = (*literal_forms(whole[1]), *literal_forms(text)) if whole else literal_forms(text)
    return (*forms, *_informal_dates(text))


def _informal_dates(text: str) -> tuple[str, ...]:
    """Give further ways to write a day that are common in short texts, as it is stored the last."""
    date = Date.parse(text)
    if date is None or date.month is None or date.day is None or date.year < 0:
        return ()
    last = 0 if date.day in (11, 12, 13) else date.day % 10
    day = str(date.day) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")
    month = MONTHS[date.month - 1]
    return (
        f"{day} {month} {date.year}",
        f"{month} {day}, {date.year}",
        f"{day} of {month}, {date.year}",
        f"{day} of {month} {date.year}",
        f"{month} {date.day} {date.year}",
        f"{date.day} {month}, {date.year}",
        f"{date.year:04}-{date.month:02}-{date.day:02}",
    )


def _without_accents(text: str) -> str:
    """Write a text as a keyboard without accents does."""
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(p for p in parts if not unicodedata.combining(p)))


def _without_stops(text: str) -> str:
    """Write a text without the full stops of abbreviations and colons, dashes as hyphens."""
    return " ".join(_OMITTED.sub("", text).replace("–", "-").split())
