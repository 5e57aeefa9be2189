"""What speaks for and against a hypothesis beside its probability in the lattice.

A lattice has the facts of one topic and words, so it takes every name that could be an object of
the topic for one. What a text says of another thing shows in other ways: another name stands
before it, or an object that the topic is known to have is named as well. Everything here is a
function of the text, of the graph and of what is known of types.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from lrlm.batching.encoding import type_name
from lrlm.checking.calibration import NameStanding, TypeStanding, log_odds_of
from lrlm.checking.statements import StatedDocument, Statement
from lrlm.knowledge import TITLE
from lrlm.knowledge.schema import NameKind, Schema, kind_of_name

WORTH_A_LOOK = 0.02
"""Hypotheses that the lattice holds for less probable are not told where circumstances count, and
nothing is learned from them."""

_ALWAYS = "always"
_RIVAL = 5.0
"""Nats; how much better or worse than its rival a hypothesis is does not count beyond."""
_LONG_WORD = 4
"""Letters of a word of a type's name from which on it counts in a sentence; its first letters
must agree, so that "located" is a word of `location`."""
_STEM = 5

_SENTENCE_END = re.compile(r"(?<![\s.][A-Z])[.!?]+[\"'”’)]*\s+(?=[\"'“(]?[A-Z\d])|\n+")
_WORD = re.compile(r"[^\W_]+")
_ONLY_JOINED = re.compile(r"\W*(and|or)?\W*")
_REFERRING = frozenset("it he she they its his her their the this these".split())  # noqa: SIM905
"""A sentence that begins so goes on about what the text is about."""
_RELATIVE = frozenset(("which", "who", "whose", "where", "whom"))

_Place = tuple[int, int]


class _Sentence(NamedTuple):
    """Characters `[start, end)`, and what stands there."""

    start: int
    end: int
    topics: list[_Place]
    """Names of the topic."""
    others: list[_Place]
    """Other capitalised names, the longest where several overlap."""
    refers: bool
    """Whether it begins with a pronoun or the like."""
    words: frozenset[str]
    """The beginnings of its words."""


def standing_of(name: str, type_: str, schema: Schema) -> NameStanding:
    """Say what is known of a name, as that of an object of a type."""
    known = schema.names.get(name)
    if known is None or not known.types:
        return NameStanding.UNKNOWN
    return NameStanding.USUAL if type_ in known.types else NameStanding.ELSEWHERE


class Circumstances:
    """Says under which circumstances the hypotheses of a text stand in it."""

    def __init__(self, stated: StatedDocument, schema: Schema) -> None:
        self._stated = stated
        self._schema = schema
        self._text = stated.document.text
        self._by_place: dict[_Place, dict[str, float]] = {}

    def standing(self, statement: Statement) -> NameStanding:
        """Say what is known of the name of a hypothesis."""
        start, end = self._place(statement)
        return standing_of(self._text[start:end], statement.type, self._schema)

    def type_standing(self, statement: Statement) -> TypeStanding:
        """Say whether the topic has objects of the type of a hypothesis."""
        return TypeStanding.HELD if self._known.get(statement.type) else TypeStanding.LACKED

    def of(self, statement: Statement) -> dict[str, float]:
        """Give the circumstances of a hypothesis by name; those that do not hold are left out.

        docs/check.md says what each of them means.
        """
        place = self._place(statement)
        values = {
            _ALWAYS: 1.0,
            **self._of_the_lattice(statement),
            **self._of_the_place(place),
            **self._of_the_type(place, statement.type),
        }
        return {name: value for name, value in values.items() if value}

    def _of_the_lattice(self, statement: Statement) -> dict[str, float]:
        probability = min(self._stated.probabilities[statement], 1.0)
        rival = max(
            (
                other_probability
                for token in range(statement.start, statement.end)
                for other, other_probability in self._likely.get(token, ())
                if other != statement
            ),
            default=0.0,
        )
        gap = math.log(max(probability, 1e-6)) - math.log(max(rival, 1e-6))
        return {
            "log_odds": log_odds_of(probability),
            "rival": max(-_RIVAL, min(_RIVAL, gap)),
        }

    def _of_the_place(self, place: _Place) -> dict[str, float]:
        """Give what is the same for all types."""
        if place not in self._by_place:
            there = {**self._of_the_name(place), **self._of_the_sentence(place)}
            self._by_place[place] = there
        return self._by_place[place]

    def _of_the_name(self, place: _Place) -> dict[str, float]:
        name = self._text[place[0] : place[1]]
        kind = kind_of_name(name)
        return {
            "words_of_name": math.log(max(len(name.split()), 1)),
            "lower_case": float(kind is NameKind.WORDS),
            "date": float(kind in (NameKind.DATE, NameKind.YEAR)),
            "number": float(kind in (NameKind.NUMBER, NameKind.CODE)),
            "repeated": float(self._names[name] > 1),
        }

    def _of_the_sentence(self, place: _Place) -> dict[str, float]:
        number = self._sentence(place)
        sentence = self._sentences[number]
        before = [each for each in sentence.topics if each[1] <= place[0]]
        since = before[-1][1] if before else sentence.start
        between = [each for each in sentence.others if since <= each[0] and each[1] <= place[0]]
        gap = self._text[between[-1][1] : place[0]] if between else ""
        return {
            "later_sentence": float(number > 0),
            "after_topic": float(bool(before)),
            "refers": float(not sentence.topics and sentence.refers),
            "about_other": float(not sentence.topics and not sentence.refers),
            "names_between": math.log1p(len(between)),
            "names_in_sentence": math.log1p(
                sum(not _overlap(each, place) for each in sentence.others)
            ),
            "joined": float(bool(between) and _ONLY_JOINED.fullmatch(gap) is not None),
            "in_clause": float(any(w.lower() in _RELATIVE for w in _WORD.findall(gap))),
        }

    def _sentence(self, place: _Place) -> int:
        return bisect_right(self._starts, place[0]) - 1

    def _of_the_type(self, place: _Place, type_: str) -> dict[str, float]:
        usual = self._schema.types.get(type_)
        objects = self._known.get(type_, set[str]())
        is_named = any(not _overlap(each, place) for each in self._named.get(type_, ()))
        is_single = bool(objects) and self._schema.is_single(type_, objects_here=len(objects))
        name = self._text[place[0] : place[1]]
        words = self._sentences[self._sentence(place)].words
        label = type_ if usual is None else usual.label or type_
        return {
            standing_of(name, type_, self._schema).value: 1.0,
            "type_word": float(not _stems(label).isdisjoint(words)),
            "new_objects": 1.0 if usual is None else usual.unseen,
            "usual_type": 1.0 if objects else self._shares.get(type_, 0.0),
            "single": float(is_single),
            "named_too": float(is_named),
            "single_named_too": float(is_single and is_named),
            "lone_not_named": float(len(objects) == 1 and not is_named),
        }

    def _place(self, statement: Statement) -> _Place:
        places = self._stated.places
        return places.starts[statement.start], places.ends[statement.end - 1]

    @cached_property
    def _likely(self) -> Mapping[int, list[tuple[Statement, float]]]:
        """What each token may state."""
        likely: dict[int, list[tuple[Statement, float]]] = {}
        for statement, probability in self._stated.probabilities.items():
            if probability >= WORTH_A_LOOK:
                for token in range(statement.start, statement.end):
                    likely.setdefault(token, []).append((statement, probability))
        return likely

    @cached_property
    def _known(self) -> Mapping[str, set[str]]:
        """The objects of each type that the topic is known to have."""
        known: dict[str, set[str]] = {}
        for relation in self._stated.document.relations:
            if relation.type != TITLE and not relation.is_open:
                known.setdefault(relation.type, set()).add(relation.object)
        return known

    @cached_property
    def _shares(self) -> Mapping[str, float]:
        """How many topics that have a type of this one have each type, on average."""
        shares: dict[str, float] = {}
        for type_ in self._known:
            usual = self._schema.types.get(type_)
            if usual is not None:
                for other, count in usual.together.items():
                    shares[other] = shares.get(other, 0.0) + count / usual.topics
        return {type_: min(share / len(self._known), 1.0) for type_, share in shares.items()}

    @cached_property
    def _named(self) -> Mapping[str, set[_Place]]:
        """Where objects of each type are named that the topic is known to have."""
        named: dict[str, set[_Place]] = {}
        document = self._stated.document
        starts, ends = document.tokens.starts, document.tokens.ends
        for mention in document.mentions:
            relation = document.relations[mention.relation]
            if not relation.is_open:
                place = starts[mention.start], ends[mention.end - 1]
                named.setdefault(relation.type, set()).add(place)
        return named

    @cached_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in self._sentences]

    @cached_property
    def _places(self) -> set[_Place]:
        """Every place where a name may stand."""
        document = self._stated.document
        starts, ends = document.tokens.starts, document.tokens.ends
        return {(starts[mention.start], ends[mention.end - 1]) for mention in document.mentions}

    @cached_property
    def _names(self) -> Counter[str]:
        """How often each name stands in the text."""
        return Counter(self._text[start:end] for start, end in self._places)

    @cached_property
    def _sentences(self) -> list[_Sentence]:
        text = self._text
        cuts = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        sentences = []
        for start, end in pairwise(cuts):
            words = [word.lower() for word in _WORD.findall(text, start, end)]
            refers = bool(words) and words[0] in _REFERRING
            stems = frozenset(word[:_STEM] for word in words)
            sentences.append(_Sentence(start, end, [], [], refers, stems))
        for place in sorted(self._named.get(TITLE, ())):
            sentences[bisect_right(cuts, place[0]) - 1].topics.append(place)
        for place in _longest(place for place in self._places if text[place[0]].isupper()):
            sentence = sentences[bisect_right(cuts, place[0]) - 1]
            if not any(_overlap(place, topic) for topic in sentence.topics):
                sentence.others.append(place)
        return sentences


@lru_cache(maxsize=1 << 14)
def _stems(label: str) -> frozenset[str]:
    """Give the beginnings of the long words of a type's name."""
    return frozenset(word[:_STEM] for word in type_name(label) if len(word) >= _LONG_WORD)


def _overlap(one: _Place, other: _Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _longest(places: Iterable[_Place]) -> list[_Place]:
    """Give places in their order, none of which lies within another."""
    kept: list[_Place] = []
    for place in sorted(places, key=lambda each: (each[0], -each[1])):
        if not kept or place[1] > kept[-1][1]:
            kept.append(place)
    return kept
