"""Words in, numbers of their characters out; what was never seen is escaped, not forbidden.

A character outside the alphabet is written as an escape and one of all other characters of Unicode,
each as probable as the next: a model that gives the escape a probability gives one to every string.

Shapes: C characters of all words together.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from lrlm.errors import InputError

END = 0
"""Ends a word. Where a character is read, it stands before the first: nothing follows an end."""

ESCAPE = 1
"""Stands for a character outside the alphabet."""

FIRST = 2
"""The symbol of the alphabet's first character."""

_CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
_REPLACEMENT = 0xFFFD
_CHARACTERS = _CODE_POINTS - len(_SURROGATES)

Symbols = npt.NDArray[np.int32]


class Alphabet:
    """The characters that have a symbol of their own, sorted."""

    def __init__(self, characters: Iterable[str]) -> None:
        self.characters = "".join(sorted(set(characters)))
        codes = np.array([ord(character) for character in self.characters], dtype=np.int64)
        if np.isin(codes, _SURROGATES).any():
            raise InputError("half of a surrogate pair is no character and can have no symbol")
        self._symbol_of_code = np.full(_CODE_POINTS, ESCAPE, dtype=np.int32)
        self._symbol_of_code[codes] = np.arange(FIRST, FIRST + len(codes), dtype=np.int32)
        # Text from a broken file may hold halves of surrogate pairs, which no encoding can
        # write: they are read as the character that programs put in their place.
        self._symbol_of_code[_SURROGATES] = self._symbol_of_code[_REPLACEMENT]

    @classmethod
    def of(cls, words: Sequence[str], *, min_count: int = 1) -> "Alphabet":
        """Take the characters that stand in at least `min_count` of the words."""
        codes = np.fromiter(
            chain.from_iterable(set(map(ord, word)) for word in words), dtype=np.int64
        )
        counts = np.bincount(codes, minlength=_CODE_POINTS)
        counts[_SURROGATES] = 0
        return cls(map(chr, np.flatnonzero(counts >= min_count).tolist()))

    def __len__(self) -> int:
        return FIRST + len(self.characters)

    @cached_property
    def escaped(self) -> int:
        """How many characters an escape can stand for."""
        return _CHARACTERS - len(self.characters)

    def encode(self, words: Sequence[str]) -> tuple[Symbols, npt.NDArray[np.int64]]:
        """Give the symbols of all words, one word after the other, (C,), and the words' lengths."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        text = "".join(words).encode("utf-32-le", "surrogatepass")
        return self._symbol_of_code[np.frombuffer(text, dtype="<u4")], lengths

    def decode(self, symbol: int) -> str:
        """Give the character of a symbol that is neither the end nor the escape."""
        return self.characters[symbol - FIRST]

    def nth_escaped(self, place: int) -> str:
        """Give a character outside the alphabet by its place, from 0 to below `escaped`."""
        return chr(int(self._escaped_codes[place]))

    @cached_property
    def _escaped_codes(self) -> npt.NDArray[np.int64]:
        is_escaped = np.ones(_CODE_POINTS, dtype=bool)
        is_escaped[[ord(character) for character in self.characters]] = False
        is_escaped[_SURROGATES] = False
        return np.flatnonzero(is_escaped)
