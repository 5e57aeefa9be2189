"""Say which words of a topic's names stand in a text: "the Packers", "Lombardi", parts of names.

A word counts where it stands in the text, however it was made, so what is said here is known from
the text so far and from the graph, and is the same for all ways to cut the text into segments.

A single word may be taken from a name unless it completes one: whole names are copied.

Shapes: N tokens of a document, K distinct words of a topic's names, M places where one stands, J
traits of a word; of a window, B rows, T tokens, V words of the names of all rows, W width of their
vectors, and M places of all rows.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch

from lrlm.arrays import Booleans, Floats, Integers
from lrlm.batching.windows import NamesSoFar, WordsOfNames
from lrlm.knowledge import TITLE
from lrlm.text import LinkableRelation

NO_WORD = -1
"""The number of a token that is no word of a name."""

MOST_NAME_WORDS = 400
"""Words of the names of one topic; those of a topic with thousands of facts are cut off here."""

WORD_TRAITS = 8
"""J, what is told of a word of a name."""


@dataclass(frozen=True)
class TopicWords:
    """The distinct words of a topic's names, those of its own names first."""

    words: tuple[str, ...]
    ids_K: Integers
    """Their tokens; words without an id of their own have that of `<unk>`."""
    traits_KJ: Floats
    """Where in names they stand, and what they look like."""
    follows_KK: Booleans
    """Whether, in some name, the second word comes right after the first, as a text is read."""
    names: tuple[tuple[str, ...], ...]
    """The names themselves, as a text is read."""

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
        traits_KJ = np.zeros((len(words), WORD_TRAITS), dtype=np.float32)
        follows_KK = np.zeros((len(words), len(words)), dtype=bool)
        for is_title, name in names:
            numbers = [number_of.get(word, NO_WORD) for word in name]
            for place, number in enumerate(numbers):
                if number == NO_WORD:
                    continue
                traits = traits_KJ[number]
                traits[0] = max(traits[0], is_title)
                traits[1] = max(traits[1], place == 0)
                traits[2] = max(traits[2], place == len(name) - 1)
                traits[3] = max(traits[3], len(name) == 1)
                traits[4] += 1
            for first, second in pairwise(numbers):
                if NO_WORD not in (first, second):
                    follows_KK[first, second] = True
        for number, word in enumerate(words):
            traits_KJ[number, 4] = math.log1p(traits_KJ[number, 4]) / 2
            traits_KJ[number, 5] = word[0].isupper()
            traits_KJ[number, 6] = any(map(str.isdigit, word))
            traits_KJ[number, 7] = ids_K[number] == unknown_id
        forms = dict.fromkeys(name for _, name in names)
        return cls(words, ids_K, traits_KJ, follows_KK, tuple(forms))

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def alone_K(self) -> Booleans:
        """Which words are a whole name."""
        alone_K: Booleans = np.zeros(len(self.words), dtype=bool)
        for name in self.names:
            if len(name) == 1 and name[0] in self.number_of:
                alone_K[self.number_of[name[0]]] = True
        return alone_K

    @cached_property
    def beginnings(self) -> Mapping[str, Sequence[tuple[tuple[str, ...], int]]]:
        """All names of several words but for their last: by the last word of these.

        With each comes the number of the word that completes it.
        """
        found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        for name in self.names:
            if len(name) > 1 and name[-1] in self.number_of:
                found.setdefault(name[-2], []).append((name[:-1], self.number_of[name[-1]]))
        return found

    def turned(self) -> "TopicWords":
        """Give them as they are read from the other end."""
        return replace(
            self,
            follows_KK=np.ascontiguousarray(self.follows_KK.T),
            names=tuple(name[::-1] for name in self.names),
        )


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
    words: Sequence[str]
    """The words of the text."""
    word_N: Integers
    """Which of the words of names each of them is, or `NO_WORD`."""

    @classmethod
    def of(cls, topic: TopicWords, words: Sequence[str]) -> "NameWords":
        """Find them in a text whose tokens are words."""
        found = [topic.number_of.get(word, NO_WORD) for word in words]
        return cls(topic, words, np.array(found, dtype=np.int64))

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
    def completed(self) -> Mapping[int, list[int]]:
        """The words that would complete a name of several words, by the place where they would.

        The end of the text is a place too.
        """
        found: dict[int, list[int]] = {}
        beginnings, words = self.topic.beginnings, tuple(self.words)
        for place in range(1, len(words) + 1):
            for beginning, number in beginnings.get(words[place - 1], ()):
                if words[max(place - len(beginning), 0) : place] == beginning:
                    found.setdefault(place, []).append(number)
        return found

    @cached_property
    def is_open_N(self) -> Booleans:
        """Whether there is a word that completes no name, at each place; also at the end."""
        alone_K = self.topic.alone_K
        is_open_N = np.full(len(self.words) + 1, not alone_K.all())
        for place, numbers in self.completed.items():
            here_K = alone_K.copy()
            here_K[numbers] = True
            is_open_N[place] = not here_K.all()
        return is_open_N

    @cached_property
    def completes_MK(self) -> Booleans:
        """Whether each word would complete a name, at each place where a word of a name stands."""
        completes_MK: Booleans = np.repeat(self.topic.alone_K[None], len(self.place_M), axis=0)
        for row, place in enumerate(self.place_M.tolist()):
            completes_MK[row, self.completed.get(place, [])] = True
        return completes_MK

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
        return NameWords(
            self.topic.turned(), self.words[::-1], np.ascontiguousarray(self.word_N[::-1])
        )


def words_of_names(
    rows: Sequence[NameWords], pieces: Sequence[tuple[int, int]], vectors_VW: Floats
) -> WordsOfNames:
    """Put the words of names in a window together: which stand in it, and what stands before.

    `pieces` are the tokens of each text that the window has, `vectors_VW` those of the words of all
    rows, one after the other.
    """
    words = max(len(row.topic.words) for row in rows)
    tokens = max(end - start for start, end in pieces)
    places = [
        slice(*np.searchsorted(row.place_M, piece)) for row, piece in zip(rows, pieces, strict=True)
    ]
    first_place = np.cumsum([0, *(place.stop - place.start for place in places)])
    number_MK = np.zeros((first_place[-1], words), dtype=np.int64)
    follows_MK, allowed_MK = np.zeros((2, first_place[-1], words), dtype=bool)
    times_MK, since_MK = np.zeros((2, first_place[-1], words), dtype=np.int32)
    goes_on_BT, is_open_BT = np.zeros((2, len(rows), tokens), dtype=bool)
    done = 0
    for number, (row, place, (start, end)) in enumerate(zip(rows, places, pieces, strict=True)):
        own, own_places = len(row.topic.words), slice(first_place[number], first_place[number + 1])
        number_MK[own_places, :own] = np.arange(done, done + own)
        done += own
        allowed_MK[own_places, :own] = ~row.completes_MK[place]
        for padded_MK, known_MK in zip((follows_MK, times_MK, since_MK), row.history, strict=True):
            padded_MK[own_places, :own] = known_MK[place]
        goes_on_BT[number, : end - start] = row.goes_on_N[start:end]
        is_open_BT[number, : end - start] = row.is_open_N[start:end]
    place_M = np.concatenate(
        [
            row.place_M[place] - start
            for row, place, (start, _) in zip(rows, places, pieces, strict=True)
        ]
    )
    word_M = [row.word_N[row.place_M[place]] for row, place in zip(rows, places, strict=True)]
    traits_VJ = np.concatenate([row.topic.traits_KJ for row in rows])
    return WordsOfNames(
        ids_V=torch.from_numpy(np.concatenate([row.topic.ids_K for row in rows])),
        features_VW=torch.from_numpy(np.concatenate([vectors_VW, traits_VJ], axis=1)),
        row_M=torch.from_numpy(np.repeat(np.arange(len(rows)), np.diff(first_place))),
        place_M=torch.from_numpy(place_M),
        word_M=torch.from_numpy(np.concatenate(word_M)),
        number_MK=torch.from_numpy(number_MK),
        allowed_MK=torch.from_numpy(allowed_MK),
        follows_MK=torch.from_numpy(follows_MK),
        so_far=NamesSoFar(torch.from_numpy(times_MK), torch.from_numpy(since_MK)),
        goes_on_BT=torch.from_numpy(goes_on_BT),
        is_open_BT=torch.from_numpy(is_open_BT),
    )
