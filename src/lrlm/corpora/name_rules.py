"""In which other writings a name may stand in a text: letter case, apostrophes, accents, plurals.

A model copies a form word by word, so a writing that differs from the form is a form of its own:
the probabilities of all forms of an object still sum to one. Ignoring a difference would count a
text once for each writing. Only what Unicode calls the same text, an accent that is part of its
letter or a character of its own, is made the same on both sides.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from lrlm.corpora.other_writings import (
    as_nouns,
    counted,
    dated,
    listed,
    of_countries,
    qualified,
    without_marks,
)
from lrlm.errors import InputError
from lrlm.text import Profile, split_words

_Choice = TypeVar("_Choice", bound=StrEnum)


class LetterCase(StrEnum):
    """In which letter case a form may stand in a text."""

    EXACT = "exact"
    """Only the form as it is given."""
    VARIANTS = "variants"
    """Also in lower case, in capitals, with a first capital, and with a capital on each word.

    Each writing becomes a form of its own, so that the probabilities of the forms of an object
    still sum to one; ignoring case altogether would count a text once for each writing.
    """
    FORGIVING = "forgiving"
    """As variants, and also with the last word, or all words but the first, in lower case."""


class NameRule(StrEnum):
    """What else may differ between a form and a text."""

    CHARACTERS = "characters"
    """Words are read and compared in Unicode's composed form (NFC), whichever they came in."""
    PUNCTUATION = "punctuation"
    """Straight and typographic apostrophes, hyphens and dashes, "&" and "and"."""
    ACCENTS = "accents"
    """Letters without their accents: "Sao Paulo"."""
    PLURALS = "plurals"
    """English plurals of names whose last word is in lower case: "bacon sandwiches"."""
    COMPOUNDS = "compounds"
    """Names within words that are joined by hyphens or slashes: "Oslo-based", "Europe/Oslo"."""
    NOUNS = "nouns"
    """Names that are common nouns but for their first capital, and their plurals: "potatoes"."""
    MARKS = "marks"
    """Without stops, commas, apostrophes or hyphens: "Wheeler Texas", "JP McManus"."""
    QUALIFIERS = "qualifiers"
    """What is in brackets or behind a comma, in running text: "Abilene in Texas", "film Alien"."""
    LISTS = "lists"
    """Lists with "and" before their last item: "bread, garlic and oil"."""
    DATES = "dates"
    """Dates in further ways: "4th of August 1961", "Aug 4, 1961", "04/08/1961"."""
    NUMBERS = "numbers"
    """Numbers without ".0", with thousands marked, and units beside them or in full: "18g"."""
    COUNTRIES = "countries"
    """Adjectives and abbreviations of countries and continents: "British", "UK"."""


EVERYDAY_RULES = frozenset(NameRule) - {NameRule.COMPOUNDS}
"""The rules for texts that people typed quickly, whose facts have one name a thing."""

USUAL_RULES = frozenset([NameRule.CHARACTERS, NameRule.PUNCTUATION, NameRule.COMPOUNDS])
"""The rules by which new corpora are linked."""

_STRAIGHT = str.maketrans("‘’ʼ‐‑–—", "'''----")
_TYPOGRAPHIC = str.maketrans("'", "’")
_LETTERS = str.maketrans("łŁøØđĐı", "lLoOdDi")
"""Letters whose stroke or missing dot is no accent to Unicode."""

_COMMON_NOUN = re.compile(r"(?:.*[^\w'’-])?[a-z]{2,}[a-rt-z]")
"""A name whose last word is in lower case, and is not in the plural already."""

_AND = re.compile(r"(?<=\w )(&|and)(?= \w)")


def choice_of(kind: type[_Choice], given: str, name: str) -> _Choice:
    """Take one of a few values by its name."""
    try:
        return kind(given)
    except ValueError:
        known = ", ".join(repr(each.value) for each in kind)
        raise InputError(f"{name} must be one of {known}, not {given!r}") from None


def name_rules_of(given: Iterable[str] | str) -> frozenset[NameRule]:
    """Take some rules by their names; one string names one rule.

    >>> sorted(name_rules_of(["accents", "plurals"]))
    [<NameRule.ACCENTS: 'accents'>, <NameRule.PLURALS: 'plurals'>]
    """
    listed = [given] if isinstance(given, str) else given
    return frozenset(choice_of(NameRule, each, "name_rules") for each in listed)


def writings(
    text: str, profile: Profile, letter_case: LetterCase, rules: frozenset[NameRule]
) -> list[tuple[str, ...]]:
    """List the forms that a given one stands for, in words; the given one is the first.

    >>> writings("O'Brien", Profile.RAW, LetterCase.EXACT, frozenset([NameRule.PUNCTUATION]))
    [("O'Brien",), ('O’Brien',)]
    """
    found: dict[tuple[str, ...], None] = {}
    spellings, values = _spellings(text, rules)
    for writing in (*spellings, *values):
        words = split_words(writing, profile)
        if any(character.isalnum() for word in words for character in word):
            case = LetterCase.EXACT if writing in values else letter_case
            found.update(dict.fromkeys(_in_letter_case(words, case)))
    return list(found)


_ONE_LETTER_CASE: Mapping[NameRule, Callable[[str], list[str]]] = {
    NameRule.DATES: dated,
    NameRule.NUMBERS: counted,
    NameRule.COUNTRIES: of_countries,
}
"""Rules whose writings have but one letter case: "US" is no "us"."""


def _spellings(text: str, rules: frozenset[NameRule]) -> tuple[list[str], list[str]]:
    """List the ways to write a name: those in the letter case in which it is given, and others."""
    if not rules:
        return [text], []
    if NameRule.CHARACTERS in rules:
        text = unicodedata.normalize("NFC", text)
    found = [text]
    if NameRule.QUALIFIERS in rules:
        found += qualified(text)
    if NameRule.LISTS in rules:
        found += listed(text)
    if NameRule.NOUNS in rules:
        found += as_nouns(text)
    if NameRule.PLURALS in rules and _COMMON_NOUN.fullmatch(text):
        found += _plurals(text)
    if NameRule.ACCENTS in rules:
        found += [_without_accents(each) for each in found if not each.isascii()]
    if NameRule.MARKS in rules:
        found += [writing for each in found for writing in without_marks(each)]
    if NameRule.PUNCTUATION in rules:
        found += [_AND.sub(lambda word: "&" if word[0] == "and" else "and", each) for each in found]
        straight = [each.translate(_STRAIGHT) for each in found]
        found += [*straight, *(each.translate(_TYPOGRAPHIC) for each in straight)]
    values = [
        writing
        for rule, writings_of in _ONE_LETTER_CASE.items()
        if rule in rules
        for writing in writings_of(text)
    ]
    return list(dict.fromkeys(found)), values


def _in_letter_case(words: tuple[str, ...], letter_case: LetterCase) -> list[tuple[str, ...]]:
    if letter_case is LetterCase.EXACT:
        return [words]
    capitals = tuple(word[:1].upper() + word[1:] for word in words)
    found = [
        words,
        (capitals[0], *words[1:]),
        tuple(word.lower() for word in words),
        tuple(word.upper() for word in words),
        capitals,
    ]
    if letter_case is LetterCase.FORGIVING:
        lower = found[2]
        found += [(*words[:-1], lower[-1]), (words[0], *lower[1:]), (capitals[0], *lower[1:])]
    return found


def _plurals(text: str) -> list[str]:
    """Give the regular English plural; of a word in -o there are two, and none is taken."""
    if text.endswith("o"):
        return []
    if text.endswith("y") and text[-2] not in "aeiou":
        return [f"{text[:-1]}ies"]
    return [f"{text}es" if text.endswith(("ch", "sh", "x", "z")) else f"{text}s"]


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFD", text.translate(_LETTERS))
    plain = "".join(each for each in parts if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", plain)
