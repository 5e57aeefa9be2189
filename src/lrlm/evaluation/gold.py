"""Compare claimed mentions with gold mentions: precision, recall and F1 over all documents.

Claims and gold mentions are compared exactly, at three levels: the span alone, the span with the
object it names, and the span with the object and the relation's type. A gold mention may leave its
object or its type open. A level that asks for it then does not count this mention, and a claim
that agrees with what is known of it is neither right nor wrong there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from lrlm.evaluation.judged import JudgedDocument
from lrlm.text import GoldMention, LinkedDocument, Mention

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

    def add_right(self, claims: Iterable[Claim], gold: Sequence[GoldMention]) -> None:
        """Add those claims alone that are gold mentions at a level."""
        for level in Level:
            known, _ = _known_and_open(gold, level)
            self._right[level] += [1.0] * len(known & {_key(claim, level) for claim in claims})

    def counts(self, threshold: float = 0.0) -> dict[Level, Counts]:
        """Count the claims that are at least as probable as a threshold."""
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
    contested: LevelCounts
    """What the most probable segmentations claim in contested places."""
    names: LevelCounts | None = None
    """What is claimed with the odds for names (`lrlm.annotation.name_odds`)."""
    names_contested: LevelCounts | None = None
    """What is claimed with them in contested places."""


@dataclass(frozen=True)
class ContestedMentions:
    """The gold mentions of contested places: where strings alone do not decide.

    A place is contested where several candidates of span, object or relation compete, or where the
    same words are a mention in one text and none in another.
    """

    mentions: Mapping[Level, int]
    longest_match: LevelCounts
    oracle: LevelCounts
    """Just those candidates are claimed that are gold mentions: no annotation can be better."""


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
    contested: ContestedMentions

    def unreachable(self, level: Level) -> int:
        """Count the gold mentions that no candidate is."""
        return self.mentions[level] - self.every_candidate[level].right


class GoldJudge:
    """Judges what a model claims of many documents by their gold mentions."""

    def __init__(self, documents: Sequence[LinkedDocument]) -> None:
        """Take all documents that will be judged."""
        total = gold_mentions(documents)
        self._best_path, self._posterior = Tally(total), Tally(total)
        self._places = contested_places(documents)
        contested = gold_mentions(documents, within=self._places)
        self._contested = Tally(contested)
        self._names, self._names_contested = Tally(total), Tally(contested)
        self._has_names = False

    def add(
        self, document: LinkedDocument, judged: JudgedDocument, names: JudgedDocument | None = None
    ) -> None:
        """Judge one document: its most probable segmentation, and every candidate's posterior.

        `names` is what the model says of it with the odds for names.
        """
        if document.gold is None:
            return
        if names is not None:
            self._has_names = True
            self._add_path(document, names, self._names, self._names_contested)
        self._add_path(document, judged, self._best_path, self._contested)
        for spans, gold in ((judged.spans, document.gold), (judged.spans_within_words, ())):
            posterior = {
                Claim(span.start, span.end, *fact): probability
                for span in spans
                for fact, probability in span.facts
            }
            self._posterior.add(posterior, gold)

    def _add_path(
        self, document: LinkedDocument, judged: JudgedDocument, everywhere: Tally, contested: Tally
    ) -> None:
        """Judge a most probable segmentation, in all places and in the contested ones."""
        places = self._places[document.id]
        for best_path, gold in (
            (judged.best_path, document.gold or ()),
            # Gold mentions are whole words, so what is copied within a word is none of them.
            (judged.best_path_within_words, ()),
        ):
            claims = [claim_of(document, mention) for mention in best_path]
            everywhere.add(dict.fromkeys(claims, 1.0), gold)
            contested.add(dict.fromkeys(_touching(claims, places), 1.0), _touching(gold, places))

    def quality(self) -> GoldQuality:
        """Give how well all claims agree with the gold mentions."""
        return GoldQuality(
            best_path=self._best_path.counts(),
            by_threshold={t: self._posterior.counts(t) for t in THRESHOLDS},
            contested=self._contested.counts(),
            names=self._names.counts() if self._has_names else None,
            names_contested=self._names_contested.counts() if self._has_names else None,
        )


Stretch = tuple[int, int]
"""Words `[start, end)` that overlapping candidates cover together."""


def contested_places(documents: Iterable[LinkedDocument]) -> dict[str, list[Stretch]]:
    """Find the places of each document, by its id, where strings alone do not decide."""
    annotated = [document for document in documents if document.gold is not None]
    mentioned: set[tuple[str, ...]] = set()
    plain: set[tuple[str, ...]] = set()
    for document in annotated:
        gold = {(each.start, each.end) for each in document.gold or ()}
        for start, end in {(each.start, each.end) for each in document.mentions}:
            words = tuple(document.tokens.words[start:end])
            (mentioned if (start, end) in gold else plain).add(words)
    ambiguous = mentioned & plain
    found: dict[str, list[Stretch]] = {}
    for document in annotated:
        found[document.id] = [
            (start, end)
            for start, end, claims in _overlapping(every_candidate(document))
            if len(claims) > 1 or tuple(document.tokens.words[start:end]) in ambiguous
        ]
    return found


def _overlapping(claims: Iterable[Claim]) -> list[tuple[int, int, list[Claim]]]:
    """Put claims together that overlap, directly or through others, with what they cover."""
    groups: list[tuple[int, int, list[Claim]]] = []
    for claim in sorted(claims):
        if groups and claim.start < groups[-1][1]:
            start, end, members = groups[-1]
            groups[-1] = (start, max(end, claim.end), [*members, claim])
        else:
            groups.append((claim.start, claim.end, [claim]))
    return groups


M = TypeVar("M", Claim, GoldMention)


def _touching(mentions: Iterable[M], places: Sequence[Stretch]) -> list[M]:
    """Give the mentions that touch one of some places."""
    return [
        mention
        for mention in mentions
        if any(mention.start < end and start < mention.end for start, end in places)
    ]


def every_candidate(document: LinkedDocument) -> list[Claim]:
    """Claim every candidate; spans may overlap, and a span may be claimed for several relations."""
    return list(dict.fromkeys(claim_of(document, mention) for mention in document.mentions))


def longest_match(document: LinkedDocument) -> list[Claim]:
    """Go from left to right and claim the longest candidate that starts at a token.

    Of candidates with the same span, the relation that comes first is claimed; the topic's own
    name is the first of all.
    """
    claims = []
    boundary = 0
    for mention in sorted(document.mentions, key=lambda m: (m.start, -m.end, m.relation)):
        if mention.start >= boundary:
            claims.append(claim_of(document, mention))
            boundary = mention.end
    return claims


def claim_of(document: LinkedDocument, mention: Mention) -> Claim:
    """Say which relation a candidate would be copied through."""
    relation = document.relations[mention.relation]
    return Claim(mention.start, mention.end, relation.type, relation.object)


def match_strings(documents: Sequence[LinkedDocument]) -> GoldMentions:
    """Judge both baselines on the documents whose gold mentions are known."""
    annotated = [document for document in documents if document.gold is not None]
    total = gold_mentions(annotated)
    every, longest = Tally(total), Tally(total)
    for document in annotated:
        for tally, claims in (
            (every, every_candidate(document)),
            (longest, longest_match(document)),
        ):
            tally.add(dict.fromkeys(claims, 1.0), document.gold or ())
    return GoldMentions(
        documents=len(annotated),
        mentions=total,
        without_fact=mentions_without_fact(annotated),
        every_candidate=every.counts(),
        longest_match=longest.counts(),
        contested=_contested(annotated),
    )


def _contested(annotated: Sequence[LinkedDocument]) -> ContestedMentions:
    places = contested_places(annotated)
    total = gold_mentions(annotated, within=places)
    longest, oracle = Tally(total), Tally(total)
    for document in annotated:
        here = places[document.id]
        gold = _touching(document.gold or (), here)
        longest.add(dict.fromkeys(_touching(longest_match(document), here), 1.0), gold)
        claims = _touching(every_candidate(document), here)
        oracle.add_right(claims, gold)
    return ContestedMentions(total, longest.counts(), oracle.counts())


def gold_mentions(
    documents: Iterable[LinkedDocument], *, within: Mapping[str, Sequence[Stretch]] | None = None
) -> dict[Level, int]:
    """Count the gold mentions that say what a level compares; equal ones are one.

    With `within`, those that touch one of these places of their document.
    """
    total = dict.fromkeys(Level, 0)
    for document in documents:
        gold = document.gold or ()
        if within is not None:
            gold = tuple(_touching(gold, within.get(document.id, ())))
        for level in Level:
            total[level] += len(_known_and_open(gold, level)[0])
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
