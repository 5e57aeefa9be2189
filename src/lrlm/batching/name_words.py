"""Say which words of a topic's names stand in a text: "the Packers", "Lombardi", parts of names.

A word counts where it stands in the text, however it was made, so what is said here is known from
the text so far and from the graph, and is the same for all ways to cut the text into segments.

Shapes: N tokens of a document, K distinct words of a topic's names, M places where one stands, T
traits of a word.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from lrlm.arrays import Booleans, Floats, Integers
from lrlm.knowledge import TITLE
from lrlm.text import LinkableRelation

NO_WORD = -1
"""The number of a token that is no word of a name."""

MOST_NAME_WORDS = 400
"""Words of the names of one topic; those of a topic with thousands of facts are cut off here."""

WORD_TRAITS = 8
"""T, what is told of a word of a name."""


@dataclass(frozen=True)
class TopicWords:
    """The distinct words of a topic's names, those of its own names first."""

    words: tuple[str, ...]
    ids_K: Integers
    """Their tokens; words without an id of their own have that of `<unk>`."""
    traits_KT: Floats
    """Where in names they stand, and what they look like."""
    follows_KK: Booleans
    """Whether, in some name, the second word comes right after the first, as a text is read."""

    @classmethod
    def of(
        cls,
        relations: Sequence[LinkableRelation],
        ids: Callable[[Sequence[str]], Sequence[int]],
        unknown_id: int | None,
    ) -> "TopicWords":
        """Gather the words of the names of known relations.

        Marks without a letter or a digit are no words of a name.
        """
        names = list(_names(relations))
        listed = dict.fromkeys(
            word for _, name in names for word in name if any(map(str.isalnum, word))
        )
        words = tuple(listed)[:MOST_NAME_WORDS]
        number_of = {word: number for number, word in enumerate(words)}
        ids_K = np.array(ids(words), dtype=np.int64)
        traits_KT = np.zeros((len(words), WORD_TRAITS), dtype=np.float32)
        follows_KK = np.zeros((len(words), len(words)), dtype=bool)
        for is_title, name in names:
            numbers = [number_of.get(word, NO_WORD) for word in name]
            for place, number in enumerate(numbers):
                if number == NO_WORD:
                    continue
                traits = traits_KT[number]
                traits[0] = max(traits[0], is_title)
                traits[1] = max(traits[1], place == 0)
                traits[2] = max(traits[2], place == len(name) - 1)
                traits[3] = max(traits[3], len(name) == 1)
                traits[4] += 1
            for first, second in pairwise(numbers):
                if NO_WORD not in (first, second):
                    follows_KK[first, second] = True
        for number, word in enumerate(words):
            traits_KT[number, 4] = math.log1p(traits_KT[number, 4]) / 2
            traits_KT[number, 5] = word[0].isupper()
            traits_KT[number, 6] = any(map(str.isdigit, word))
            traits_KT[number, 7] = ids_K[number] == unknown_id
        return cls(words, ids_K, traits_KT, follows_KK)

    def turned(self) -> "TopicWords":
        """Give them as they are read from the other end."""
        return replace(self, follows_KK=np.ascontiguousarray(self.follows_KK.T))


def _names(relations: Sequence[LinkableRelation]) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Give the names of known relations and whether they are the topic's own, which come first."""
    for is_title in (True, False):
        for relation in relations:
            if not relation.is_open and (relation.type == TITLE) == is_title:
                yield from ((is_title, form) for form in relation.forms)


@dataclass(frozen=True)
class NameWords:
    """Where the words of a topic's names stand in one text."""

    topic: TopicWords
    word_N: Integers
    """Which of the words each token of the text is, or `NO_WORD`."""

    @classmethod
    def of(cls, topic: TopicWords, words: Sequence[str]) -> "NameWords":
        """Find them in a text whose tokens are words."""
        number_of = {word: number for number, word in enumerate(topic.words)}
        found = [number_of.get(word, NO_WORD) for word in words]
        return cls(topic, np.array(found, dtype=np.int64))

    @cached_property
    def place_M(self) -> Integers:
        """The places of the text where a word of a name stands, ascending."""
        return np.flatnonzero(self.word_N != NO_WORD)

    @cached_property
    def goes_on_N(self) -> Booleans:
        """Whether the word before a place is one that others follow in a name; also at the end."""
        before_N = np.concatenate([[NO_WORD], self.word_N])
        follows_K = np.append(self.topic.follows_KK.any(1), False)  # NO_WORD takes the last one
        goes_on_N: Booleans = follows_K[before_N]
        return goes_on_N

    @cached_property
    def history(self) -> tuple[Booleans, Integers, Integers]:
        """Say of each word, before each place where one stands: (M, K) each.

        Whether it follows the word before; how often it stands before; and how many tokens ago, 0
        where it does not.
        """
        place_M, words = self.place_M, len(self.topic.words)
        before_M = np.where(place_M > 0, self.word_N[place_M - 1], NO_WORD)
        follows_MK = self.topic.follows_KK[before_M] & (before_M != NO_WORD)[:, None]
        is_here_MK = self.word_N[place_M][:, None] == np.arange(words)
        times_MK = is_here_MK.cumsum(0) - is_here_MK
        last_MK = np.maximum.accumulate(np.where(is_here_MK, place_M[:, None], -1), axis=0)
        last_MK = np.concatenate([np.full((1, words), -1), last_MK])[: len(place_M)]
        since_MK = np.where(times_MK > 0, place_M[:, None] - last_MK, 0)
        return follows_MK, times_MK.astype(np.int32), since_MK.astype(np.int32)

    def turned(self) -> "NameWords":
        """Give them as they are read from the other end."""
        return NameWords(self.topic.turned(), np.ascontiguousarray(self.word_N[::-1]))
