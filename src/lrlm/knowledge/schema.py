"""What the topics of a graph have in common: which types of facts, and what their objects are like.

A schema is learned by counting. It says which types topics like a given one have, whether a type
has one object or many, what kind of names its objects have, and what things are called.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from lrlm.errors import FormatError
from lrlm.knowledge.literals import MONTHS, UNITS, Date, Quantity
from lrlm.knowledge.topic import Relation, Topic
from lrlm.plain_data import json_text, read_json

MOST_TOPICS = 20_000
"""Topics that are counted: enough to know what is usual, and little time in a large graph."""

FORMAT, VERSION = "lrlm schema", 1

_MOST_NAMES = 50_000
_MOST_TOGETHER = 48
_MOST_EXAMPLES = 4
_MOST_TYPES_OF_A_NAME = 16
_MOST_TYPES = 20_000
_LARGEST_FILE = 64 << 20
_MANY = 0.1
"""A type has many objects if more than this share of the topics that have it have several."""

_USUAL = 0.2
"""A type is usual for a topic if, on average over the types it has, so many topics have both."""
_ENOUGH_TOPICS = 20
"""Of fewer topics, nothing is learned about how many objects a type has."""

_YEAR = re.compile(r"[12]?\d{3}")
_DAY = re.compile(rf"\d\d? ({'|'.join(MONTHS)})|({'|'.join(MONTHS)}) \d\d?")


class NameKind(StrEnum):
    """What a name looks like."""

    NAME = "name"
    """It has a capital letter: Oslo, the Nile."""
    WORDS = "words"
    """It has none: euro, water."""
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    """With or without a unit."""
    CODE = "code"
    """Digits that are no number: +47."""


def kind_of_name(text: str) -> NameKind:
    """Say what a name looks like.

    >>> [str(kind_of_name(each)) for each in ("Oslo", "euro", "7 June 1905", "385,207 km²", "+47")]
    ['name', 'words', 'date', 'number', 'code']
    """
    if _YEAR.fullmatch(text):
        return NameKind.YEAR
    if any(map(str.isdigit, text)):
        if Date.parse(text) is not None or _DAY.fullmatch(text):
            return NameKind.DATE
        quantity = Quantity.parse(text)
        if quantity is not None and (
            quantity.unit is None or quantity.unit in UNITS or quantity.unit.islower()
        ):
            return NameKind.NUMBER
        if not any(map(str.isalpha, text)):
            return NameKind.CODE
    return NameKind.WORDS if text == text.lower() and text != text.upper() else NameKind.NAME


class Example(NamedTuple):
    """An object that facts of a type often lead to."""

    object: str
    name: str


class KnownName(NamedTuple):
    """What goes by a name, and in how many facts of each type it is the object."""

    object: str
    types: Mapping[str, int]


@dataclass(frozen=True)
class TypeSchema:
    """What is usual for the facts of one type."""

    topics: int
    """Topics that have it."""
    several: int
    """Topics that have it more than once, with different objects."""
    facts: int
    objects: int
    """Facts of the type, and how many different objects they have."""
    kinds: Mapping[NameKind, int]
    """How often names of its objects are of each kind."""
    examples: tuple[Example, ...]
    """Some of its objects, the most frequent first."""
    together: Mapping[str, int]
    """In how many topics it stands together with other types, the most frequent first."""
    label: str = ""
    """What people call it; nothing where the type is its own name."""

    @property
    def unseen(self) -> float:
        """How probable it is that the next fact has an object that none has had before.

        It is estimated as Witten and Bell do, from how often that has happened so far: nearly
        always for capitals, hardly ever for continents.
        """
        return self.objects / (self.facts + self.objects)

    def share(self, kind: NameKind) -> float:
        """Say how many of the names of its objects are of this kind, from 0 to 1."""
        total = sum(self.kinds.values())
        return self.kinds.get(kind, 0) / total if total else 0.0


@dataclass(frozen=True)
class Schema:
    """The types of facts that topics have, and what things are called.

    >>> topics = [
    ...     Topic("Norway", relations=[Relation("capital", "Oslo"), Relation("borders", "Sweden"),
    ...         Relation("borders", "Finland")]),
    ...     Topic("Sweden", relations=[Relation("capital", "Stockholm")]),
    ... ]
    >>> schema = Schema.of(topics)
    >>> [schema.is_single(type, objects_here=1) for type in ("capital", "borders")]
    [True, False]
    >>> schema.types_like(["capital"])
    ['capital', 'borders']
    """

    types: Mapping[str, TypeSchema] = field(default_factory=dict)
    """By type, the most frequent first."""
    names: Mapping[str, KnownName] = field(default_factory=dict)
    """What each name stands for: the object that most often goes by it, and its types."""

    @classmethod
    def of(cls, topics: Iterable[Topic], *, most_topics: int = MOST_TOPICS) -> Self:
        """Count over topics, over at most so many of them."""
        counting = _Counting()
        for topic in islice(topics, most_topics):
            counting.add(topic)
        return cls(counting.types(), counting.named())

    def types_like(self, types: Iterable[str], *, most: int = 24) -> list[str]:
        """List the types that topics with these types have: these first, then the most shared.

        For a topic without any type these are the most frequent ones.
        """
        own = list(dict.fromkeys(types))[:most]
        shared: dict[str, float] = {}
        for type_ in own:
            known = self.types.get(type_)
            if known is not None:
                for other, count in known.together.items():
                    shared[other] = shared.get(other, 0.0) + count / known.topics
        if not own:
            return list(self.types)[:most]
        others = [other for other, sum_ in shared.items() if sum_ >= _USUAL * len(own)]
        others.sort(key=lambda other: -shared[other])
        return list(dict.fromkeys([*own, *others]))[:most]

    def is_single(self, type_: str, *, objects_here: int) -> bool:
        """Say whether a topic has one object of a type, as a country has one capital.

        `objects_here` is how many the topic at hand has: it decides where little is known.
        """
        usual = self.types.get(type_)
        if usual is None or usual.topics < _ENOUGH_TOPICS:
            return objects_here <= 1 and (usual is None or not usual.several)
        return usual.several <= _MANY * usual.topics

    def likeness(self, name: str, type_: str) -> float:
        """Say how well a name that things are known by suits another type, from 0 to 1.

        It is the share of the names of its own types that are names of the other type as well:
        birthplaces are often locations, and never architects. 1 where nothing is known of either.

        >>> topics = [Topic("1", relations=[Relation("in", "Oslo"), Relation("by", "Munch")]),
        ...     Topic("2", relations=[Relation("in", "Bergen"), Relation("near", "Bergen")])]
        >>> schema = Schema.of(topics)
        >>> schema.likeness("Oslo", "near"), schema.likeness("Oslo", "by")
        (0.5, 0.0)
        """
        known = self.names.get(name)
        if known is None or not known.types or type_ not in self.types:
            return 1.0
        alike = sum(
            count * self._shared[own].get(type_, 0) / self._shared[own][own]
            for own, count in known.types.items()
        )
        return alike / sum(known.types.values())

    @cached_property
    def _shared(self) -> Mapping[str, Mapping[str, int]]:
        """How many names each type has together with each other one, and with itself."""
        shared: dict[str, Counter[str]] = {}
        for known in self.names.values():
            for type_ in known.types:
                shared.setdefault(type_, Counter()).update(known.types.keys())
        return shared

    def updated(self, other: "Schema") -> "Schema":
        """Give both in one; of what both have, the other's counts."""
        return Schema({**self.types, **other.types}, {**self.names, **other.names})

    def with_topic(self, facts: Iterable[Relation]) -> "Schema":
        """Give the same schema; of types that it lacks, what the facts of one topic say."""
        lacking = [fact for fact in facts if fact.type not in self.types]
        if not lacking:
            return self
        alone = Schema.of([Topic("topic", relations=lacking)])
        return Schema({**self.types, **alone.types}, self.names)

    def to_json(self) -> str:
        """Write everything as one line of JSON."""
        return json_text(
            {
                "format": FORMAT,
                "version": VERSION,
                "types": [
                    {
                        "type": name,
                        "topics": each.topics,
                        "several": each.several,
                        "facts": each.facts,
                        "objects": each.objects,
                        "kinds": {kind.value: count for kind, count in each.kinds.items()},
                        "examples": [list(example) for example in each.examples],
                        "together": each.together,
                        **({"label": each.label} if each.label else {}),
                    }
                    for name, each in self.types.items()
                ],
                "names": {name: list(known) for name, known in self.names.items()},
            }
        )

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a file of what `to_json` gives."""
        content = read_json(path, largest=_LARGEST_FILE)
        try:
            if (content["format"], content["version"]) != (FORMAT, VERSION):
                raise FormatError(f"{path}: not a schema of this version of lrlm")
            types = {str(each["type"]): _type_from(each) for each in content["types"]}
            names = {
                str(name): KnownName(
                    str(object_), {str(type_): int(count) for type_, count in found.items()}
                )
                for name, (object_, found) in content["names"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"{path}: not a schema, or damaged ({error!r})") from None
        return cls(types, names)


def _type_from(entry: Mapping[str, Any]) -> TypeSchema:
    return TypeSchema(
        topics=int(entry["topics"]),
        several=int(entry["several"]),
        facts=int(entry["facts"]),
        objects=int(entry["objects"]),
        kinds={NameKind(kind): int(count) for kind, count in entry["kinds"].items()},
        examples=tuple(Example(str(object_), str(name)) for object_, name in entry["examples"]),
        together={str(other): int(count) for other, count in entry["together"].items()},
        label=str(entry.get("label", "")),
    )


class _Counting:
    """Counts what topics have."""

    def __init__(self) -> None:
        self._topics: Counter[str] = Counter()
        self._several: Counter[str] = Counter()
        self._kinds: dict[str, Counter[NameKind]] = {}
        self._objects: dict[str, Counter[str]] = {}
        self._together: dict[str, Counter[str]] = {}
        self._first_name: dict[str, str] = {}
        self._named: Counter[tuple[str, str]] = Counter()
        self._types_of: dict[str, Counter[str]] = {}
        self._labels: dict[str, str] = {}

    def add(self, topic: Topic) -> None:
        """Count one topic."""
        objects: dict[str, set[str]] = {}
        for name in topic.names:
            self._named[name, topic.id] += 1
        for fact in topic.relations:
            objects.setdefault(fact.type, set()).add(fact.object)
            if fact.label != fact.type:
                self._labels[fact.type] = fact.label
            self._first_name.setdefault(fact.object, fact.forms[0])
            self._objects.setdefault(fact.type, Counter())[fact.object] += 1
            kinds = self._kinds.setdefault(fact.type, Counter())
            for form in fact.forms:
                kinds[kind_of_name(form)] += 1
                self._named[form, fact.object] += 1
                self._types_of.setdefault(form, Counter())[fact.type] += 1
        for type_, those in objects.items():
            self._topics[type_] += 1
            self._several[type_] += len(those) > 1
            others = [other for other in objects if other != type_]
            self._together.setdefault(type_, Counter()).update(others)

    def types(self) -> dict[str, TypeSchema]:
        """Give what was counted, by type."""
        return {
            type_: TypeSchema(
                topics,
                self._several[type_],
                self._objects[type_].total(),
                len(self._objects[type_]),
                dict(self._kinds[type_]),
                tuple(
                    Example(object_, self._first_name[object_])
                    for object_, _ in self._objects[type_].most_common(_MOST_EXAMPLES)
                ),
                dict(self._together[type_].most_common(_MOST_TOGETHER)),
                self._labels.get(type_, ""),
            )
            for type_, topics in self._topics.most_common(_MOST_TYPES)
        }

    def named(self) -> dict[str, KnownName]:
        """Give the most frequent object of each name; values are no names of something."""
        found: dict[str, KnownName] = {}
        for (name, object_), _ in self._named.most_common():
            if len(found) == _MOST_NAMES:
                break
            if name not in found and kind_of_name(name) in (NameKind.NAME, NameKind.WORDS):
                types = self._types_of.get(name, Counter()).most_common(_MOST_TYPES_OF_A_NAME)
                found[name] = KnownName(object_, dict(types))
        return found
