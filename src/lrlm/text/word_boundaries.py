"""Rules for tokens that are parts of words: where a name may begin, and where a word begins.

Each rule looks at one token alone, never at how the text before it came about. So the sum over
all ways in which a text can be made stays exact.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np

from lrlm.arrays import Booleans, Integers
from lrlm.text.token_space import NO_FORM_HERE
from lrlm.text.tokeniser import is_unspaced

AT_START, JOINED, SPACED = range(3)
"""How a form is written: at the start of a text, right behind what is before it (white space, an
opening bracket or quote, a letter of a script without spaces), or with one space in front."""

_OPENING = frozenset("([{“‘«")
_WIDE_MARKS = frozenset("、。，．！？：；「」『』（）《》〈〉【】・")
"""Marks beside which no space stands."""

_STRAIGHT_QUOTES = frozenset("\"'")

_WITHOUT_SPACES = (
    "CJK ",
    "HIRAGANA ",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
)
"""How the names of letters begin that are written without spaces between words."""

_FIRST_BYTE_WITHOUT_LETTERS = 0xE2
"""From here on, the first byte of a character is one of punctuation, symbols, CJK and emoji far
more often than one of letters that are written with spaces."""


def contexts_after(bytes_V: Sequence[bytes], *, start_id: int) -> Integers:
    """Say how a form is written right after each token: (V,).

    Right after a lone space no form begins: it would have begun with that space.
    """
    context_V = np.array([_context_after(each.decode("utf-8", "replace")) for each in bytes_V])
    context_V[start_id] = AT_START
    return context_V


def tokens_that_begin_words(bytes_V: Sequence[bytes], *, end_id: int) -> Booleans:
    """Say which tokens begin a new word; the end of a text does: (V,)."""
    begins_V = np.array([_begins_word(each) for each in bytes_V])
    begins_V[end_id] = True
    return begins_V


def _context_after(text: str) -> int:
    if text == " ":
        return NO_FORM_HERE
    last, before = text[-1:], text[-2:-1]
    if last.isspace() or last in _OPENING or is_unspaced(last) or last in _WIDE_MARKS:
        return JOINED
    if last in _STRAIGHT_QUOTES and (before.isspace() or before in _OPENING):
        return JOINED
    return SPACED


def _begins_word(data: bytes) -> bool:
    """Look at the first character of a token; of a part of a character, at its first byte."""
    if not data:
        return False
    character = data[:4].decode("utf-8", "replace")[0]
    if character == "\ufffd":
        return data[0] >= _FIRST_BYTE_WITHOUT_LETTERS
    category = unicodedata.category(character)
    if category[0] == "L":
        return unicodedata.name(character, "").startswith(_WITHOUT_SPACES)
    return character.isspace() or category[0] in "PSZ"
