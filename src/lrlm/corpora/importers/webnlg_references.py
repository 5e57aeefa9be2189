"""WebNLG's references and the forms of their entities in, the names within a text out.

A reference lists the words of a text that refer to an entity, cut into tokens, without saying where
they are; and they may be more than a name, or none.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lrlm.corpora.linking import STOP_WORDS

_ARTICLE_BEFORE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\s*['’]s?$")
_BEFORE = re.compile(r"[\s,;:\"“”]+|(?P<word>[a-z]\w*)(?=[\s,])")
_AFTER = re.compile(r"[\s,;:\"“”]+$|(?<=[\s,])(?P<word>[a-z]\w*)$")
_QUOTES = {"``": r"[\"“”]", "''": r"[\"“”]"}
"""How quotation marks are written in references, and in texts."""
_ABBREVIATION = re.compile(r"(?<!\w)(?:\w\.)+\w$")


class Reference(NamedTuple):
    """Words of a text that refer to an entity: the characters `[start, end)`."""

    start: int
    end: int
    entity: str


def place_references(text: str, references: list[tuple[str, str]]) -> list[Reference | None]:
    """Find mentions in the order in which they are listed, as (entity, words); None if not there.

    The words are given as tokens, so that spaces between them may be missing in the text, and the
    last full stop of an abbreviation may be missing in the reference.
    """
    placed: list[Reference | None] = []
    place = 0
    for entity, words in references:
        pattern = r"\s*".join(_QUOTES.get(word, re.escape(word)) for word in words.split())
        before = r"(?<!\w)" if words[:1].isalnum() else ""
        after = r"(?!\w)" if words[-1:].isalnum() else ""
        found = re.compile(before + pattern + after).search(text, place) if pattern else None
        if found is None:
            placed.append(None)
            continue
        place = found.end()
        if text.startswith(".", place) and _ABBREVIATION.search(found[0]):
            place += 1
        placed.append(Reference(found.start(), place, entity))
    return placed


def name_within(
    text: str, start: int, end: int, forms: Sequence[str] = ()
) -> tuple[int, int] | None:
    """Leave "the" and "'s" out of a mention; None if it is no name, as "it" and "the city".

    Both are part of a name where a form of the entity has them. Words before and after a name that
    begin with a small letter and are in no form are no part of it: "architect John Madin" names
    John Madin. A name has a capital letter or a digit, or else all words of one of the forms:
    "olive oil" names Olive oil, but "the airport" does not name Aarhus Airport.
    """
    known = {stem for form in forms for word in _words(form) for stem in _stems(word)}
    beginnings = tuple(" ".join(form.casefold().split()[:2]) for form in forms)
    while match := _ARTICLE_BEFORE.match(text, start, end) or _BEFORE.match(text, start, end):
        if match.re is _ARTICLE_BEFORE:
            is_part = text[start:end].casefold().startswith(beginnings)
        else:
            is_part = not known.isdisjoint(_stems(match["word"] or ""))
        if is_part:
            break
        start = match.end()
    while match := _POSSESSIVE.search(text[start:end]) or _AFTER.search(text[start:end]):
        if match.re is _POSSESSIVE:
            is_part = text[start:end] in forms
        else:
            is_part = not known.isdisjoint(_stems(match["word"] or ""))
        if is_part:
            break
        end = start + match.start()
    return (start, end) if _is_name(text[start:end], forms) else None


def _is_name(mention: str, forms: Sequence[str]) -> bool:
    words = _content_words(mention)
    if any(word != word.lower() or word.isdigit() for word in words):
        return True
    said = {stem for word in words for stem in _stems(word)}
    return any(
        all(not said.isdisjoint(_stems(word)) for word in content)
        for form in forms
        if (content := _content_words(form))
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _content_words(text: str) -> list[str]:
    return [word for word in _words(text) if word.casefold() not in STOP_WORDS]


def _stems(word: str) -> set[str]:
    """Give a word as it is and, as it may be a plural, without its ending; nothing for nothing."""
    small = word.casefold()
    return {small, small.removesuffix("s"), small.removesuffix("es")} - {""}
