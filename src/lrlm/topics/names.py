"""Find the names of very many things in a text: one dictionary for a whole graph.

A name is known by a fingerprint of 64 bits of its words, in order. The fingerprints of all names
lie sorted in one array, and those of all beginnings of names in another: a text is looked through
by growing every piece that begins like a name by one word at a time. The arrays are read where
they lie on the disk, so a dictionary of millions of names is open at once and takes no memory but
that of the pages that a text touches.

Shapes: K distinct names, P pairs of a name and a thing, T words of a text.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lrlm.arrays import Integers

Fingerprints = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]

_FACTOR = 0x9E3779B97F4A7C15
_BITS = (1 << 64) - 1


class FoundName(NamedTuple):
    """Words `[start, end)` of a text are a name; `name` is its number in the dictionary."""

    start: int
    end: int
    name: int


@dataclass(frozen=True)
class NameDictionary:
    """Which things each name is a name of; a thing is known by its number.

    >>> dictionary = NameDictionary.of([(("Oslo",), 0), (("New", "Oslo"), 1), (("Oslo",), 2)])
    >>> found = dictionary.find(["to", "New", "Oslo"])
    >>> [(each.start, each.end, dictionary.things(each.name).tolist()) for each in found]
    [(1, 3, [1]), (2, 3, [0, 2])]
    """

    beginnings: Fingerprints
    """Of all proper beginnings of names, sorted."""
    names_K: Fingerprints
    """Of all names, sorted."""
    first_K1: Integers
    """Where the things of each name begin in `things_P`, and where they all end."""
    things_P: Numbers

    @classmethod
    def of(cls, names: Iterable[tuple[Sequence[str], int]]) -> "NameDictionary":
        """Make a dictionary of names in words, each with the number of a thing that has it."""
        builder = NameDictionaryBuilder()
        for words, thing in names:
            builder.add(words, thing)
        return builder.build()

    def __len__(self) -> int:
        """Count the distinct names."""
        return len(self.names_K)

    def find(self, words: Sequence[str]) -> list[FoundName]:
        """Find every name in a text that was cut into words, sorted by start and end."""
        words_T = np.array([_word_fingerprint(word) for word in words], dtype=np.uint64)
        found: list[tuple[Integers, Integers, Integers]] = []
        start_S: Integers = np.arange(len(words_T))
        piece_S = words_T
        length = 1
        while len(start_S):
            place_S, is_name_S = _places(self.names_K, piece_S)
            start_X = start_S[is_name_S]
            found.append((start_X, start_X + length, place_S[is_name_S]))
            _, goes_on_S = _places(self.beginnings, piece_S)
            goes_on_S &= start_S + length < len(words_T)
            start_S, piece_S = start_S[goes_on_S], piece_S[goes_on_S]
            piece_S = piece_S * np.uint64(_FACTOR) + words_T[start_S + length]
            length += 1
        if not found:
            return []
        rows = np.concatenate([np.stack(each, axis=1) for each in found])
        order = np.lexsort((rows[:, 1], rows[:, 0]))
        return [FoundName(*row) for row in rows[order].tolist()]

    def things(self, name: int) -> Numbers:
        """Give the numbers of the things that have a name, ascending."""
        return self.things_P[self.first_K1[name] : self.first_K1[name + 1]]


class NameDictionaryBuilder:
    """Gathers names, twelve bytes for each, until a dictionary is made of them."""

    def __init__(self) -> None:
        self._beginnings = array("Q")
        self._names = array("Q")
        self._things = array("I")

    def add(self, words: Sequence[str], thing: int) -> None:
        """Add a name of a thing; one without words is none."""
        *begin, whole = _fingerprints_of(words)
        self._beginnings.extend(begin)
        self._names.append(whole)
        self._things.append(thing)

    def build(self) -> NameDictionary:
        """Sort all names."""
        beginnings = np.unique(np.frombuffer(self._beginnings, dtype=np.uint64))
        names = np.frombuffer(self._names, dtype=np.uint64)
        things = np.frombuffer(self._things, dtype=np.uint32)
        order = np.lexsort((things, names))
        names, things = names[order], things[order]
        is_new = np.ones(len(names), dtype=bool)
        is_new[1:] = (names[1:] != names[:-1]) | (things[1:] != things[:-1])
        names, things = names[is_new], things[is_new]
        names_K, first_K = np.unique(names, return_index=True)
        first_K1 = np.append(first_K, len(names)).astype(np.int64)
        return NameDictionary(beginnings, names_K, first_K1, things)


def _places(
    sorted_K: Fingerprints, wanted_S: Fingerprints
) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Say where fingerprints stand in a sorted array, and whether they do."""
    if not len(sorted_K):
        return np.zeros(len(wanted_S), dtype=np.int64), np.zeros(len(wanted_S), dtype=bool)
    place_S = np.searchsorted(sorted_K, wanted_S)
    place_S[place_S == len(sorted_K)] = 0
    return place_S, sorted_K[place_S] == wanted_S


def _fingerprints_of(words: Sequence[str]) -> Iterator[int]:
    """Give the fingerprints of the beginnings of a name, the last one of the whole."""
    fingerprint = 0
    for word in words:
        fingerprint = (fingerprint * _FACTOR + _word_fingerprint(word)) & _BITS
        yield fingerprint


@lru_cache(maxsize=1 << 18)
def _word_fingerprint(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
