"""Claimed mentions beside gold mentions in, precision, recall and F1 out, summed over documents.

Claims and gold mentions are compared exactly, at three levels: the span alone, the span with the
object it names, and the span with the object and the relation's type. A gold mention may leave its
object or its type open. A level that asks for it then does not count this mention, and a claim
that agrees with what is known of it is neither right nor wrong there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from lrlm.corpora import GoldMention, LinkedDocument

THRESHOLDS = tuple(number / 20 for number in range(1, 20))
"""The probabilities from which on a claim is made: 0.05, 0.10, … 0.95."""


class Level(StrEnum):
    """How much of a claim is compared with the truth."""

    SPAN = "span"
    OBJECT = "object"
    RELATION = "relation"


class Claim(NamedTuple):
    """Tokens `[start, end)` are said to be copied through a relation of the topic."""

    start: int
    end: int
    type: str
    object: str


_Key = tuple[int | str | None, ...]
"""What a level compares of a claim or a gold mention; None is left open."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many claims were made, are right, and could have been."""

    claimed: int
    right: int
    gold: int

    @property
    def precision(self) -> float | None:
        """The share of the claims that are right; None where there is no claim."""
        return self.right / self.claimed if self.claimed else None

    @property
    def recall(self) -> float | None:
        """The share of the gold mentions that were claimed; None where there is none."""
        return self.right / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where there is nothing to compare."""
        both = self.claimed + self.gold
        return 2 * self.right / both if both else None


LevelCounts = Mapping[Level, Counts]


class Tally:
    """Sums up claims of many documents, each with its probability."""

    def __init__(self, gold: Mapping[Level, int]) -> None:
        """Take how many gold mentions there are in all documents, from `gold_mentions`."""
        self._gold = gold
        self._right: dict[Level, list[float]] = {level: [] for level in Level}
        self._wrong: dict[Level, list[float]] = {level: [] for level in Level}

    def add(self, claims: Mapping[Claim, float], gold: Sequence[GoldMention]) -> None:
        """Judge claims about one document, or about a part of it, by all its gold mentions.

        Claims that a level cannot tell apart are one claim there, and their probabilities add up.
        """
        for level in Level:
            summed: dict[_Key, float] = {}
            for claim, probability in claims.items():
                key = _key(claim, level)
                summed[key] = summed.get(key, 0.0) + probability
            known, open_ = _known_and_open(gold, level)
            for key, probability in summed.items():
                if key in known:
                    self._right[level].append(probability)
                elif not any(_agrees(key, other) for other in open_):
                    self._wrong[level].append(probability)

    def counts(self, threshold: float = 0.0) -> dict[Level, Counts]:
        """Count the claims that are at least so probable."""
        found = {}
        for level in Level:
            right = sum(each >= threshold for each in self._right[level])
            wrong = sum(each >= threshold for each in self._wrong[level])
            found[level] = Counts(right + wrong, right, self._gold[level])
        return found


@dataclass(frozen=True)
class GoldQuality:
    """How well a model's annotations agree with the gold mentions."""

    best_path: LevelCounts
    """What the most probable segmentation of each document claims."""
    by_threshold: Mapping[float, LevelCounts]
    """Everything that is at least so probable is claimed."""


@dataclass(frozen=True)
class GoldMentions:
    """The gold mentions of a split, and how well string matching finds them."""

    documents: int
    """Those whose gold mentions are known."""
    mentions: Mapping[Level, int]
    without_fact: int
    """Gold mentions whose object is not in the topic's graph."""
    every_candidate: LevelCounts
    """Each candidate is claimed: no recall can be higher."""
    longest_match: LevelCounts
    """From left to right, the longest candidate that starts at a token."""

    def unreachable(self, level: Level) -> int:
        """Count the gold mentions that no candidate is."""
        return self.mentions[level] - self.every_candidate[level].right


def gold_mentions(documents: Iterable[LinkedDocument]) -> dict[Level, int]:
    """Count the gold mentions that say what a level compares; equal ones are one."""
    total = dict.fromkeys(Level, 0)
    for document in documents:
        for level in Level:
            total[level] += len(_known_and_open(document.gold or (), level)[0])
    return total


def mentions_without_fact(documents: Iterable[LinkedDocument]) -> int:
    """Count the gold mentions of objects that are not in their topic's graph."""
    return sum(
        gold.object is not None
        and gold.object not in {relation.object for relation in document.relations}
        for document in documents
        for gold in document.gold or ()
    )


def _key(mention: Claim | GoldMention, level: Level) -> _Key:
    whole = mention.start, mention.end, mention.object, mention.type
    return whole[: {Level.SPAN: 2, Level.OBJECT: 3, Level.RELATION: 4}[level]]


def _known_and_open(golds: Iterable[GoldMention], level: Level) -> tuple[set[_Key], set[_Key]]:
    """Tell gold mentions that say all a level compares from those that leave something open."""
    keys = {_key(gold, level) for gold in golds}
    open_ = {key for key in keys if None in key}
    return keys - open_, open_


def _agrees(key: _Key, gold: _Key) -> bool:
    return all(
        expected is None or expected == said for said, expected in zip(key, gold, strict=True)
    )
