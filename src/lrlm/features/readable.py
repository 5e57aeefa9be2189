"""Which characters a spelled word may have: printable ones of the scripts that were read.

A spelling model gives every character of Unicode some probability, so that every text has one.
What it writes is meant for readers: it is drawn again until they can read it.
"""

import unicodedata
from collections.abc import Iterable
from functools import cache

_JOINERS = frozenset("\u200c\u200d")
"""Not printable by themselves, but part of words in Persian and in scripts of India."""


class ReadableCharacters:
    r"""The characters of some words, and all other letters of their scripts.

    >>> readable = ReadableCharacters(["Oslo", "Łódź", "50%"])
    >>> readable.can_write("Åse"), readable.can_write("東"), readable.can_write("a\u0007")
    (True, False, False)
    """

    def __init__(self, words: Iterable[str]) -> None:
        seen = set().union(*words)
        self._seen = frozenset(each for each in seen if each.isprintable() or each in _JOINERS)
        self._scripts = frozenset(_script(each) for each in self._seen if each.isalpha())

    def can_write(self, word: str) -> bool:
        """Say whether a word has no other characters."""
        return all(character in self for character in word)

    def __contains__(self, character: str) -> bool:
        if character in self._seen:
            return True
        is_letter = character.isalpha() and character.isprintable()
        return is_letter and _script(character) in self._scripts


@cache
def _script(letter: str) -> str:
    """Give the script of a letter, with which its name begins: LATIN, GREEK, CJK."""
    return unicodedata.name(letter, "").partition(" ")[0]
