"""Which topics a text may be about: those that are named in it, and those whose facts are.

    manifest.json     what the index was made from
    names/            the dictionary of all names (`lrlm.topics.names`)
    words/            another one, of the single words of the first names of topics
    weights.npy       how much all words of that name tell, in nats
    facts.npy         how many facts each thing has; one that has some is a topic
    first.npy         where the subjects of each thing begin in the next file
    subjects.npy      the topics that have a fact about it
    ids.npy, ends.npy the ids of all things, one behind the other, and where each ends

A thing is a topic, or the object of a fact. The index of a graph takes some time to make, so it is
kept in the folder of the graph, in a hidden folder of its own; where that cannot be written, it is
made each time, as it is for a corpus.

Shapes: E things, F facts, N names found in a text, C candidates.
"""

import hashlib
import json
import math
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lrlm.arrays import Doubles, Floats, Integers
from lrlm.artifacts import (
    MANIFEST,
    check_files,
    fingerprint,
    fingerprints_in,
    new_folder,
    read_manifest,
    write_manifest,
)
from lrlm.corpora import Corpus, LinkOptions
from lrlm.corpora.linking import cut_form, cuts_of_text
from lrlm.errors import DiskFullError, FormatError, InputError
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.plain_data import shown
from lrlm.progress import Progress, silent
from lrlm.topics.names import NameDictionary, NameDictionaryBuilder, Numbers
from lrlm.topics.titles import opening_of, plain_name_words

FORMAT = "lrlm names"
VERSION = 3
FOLDER = ".names"
"""What the names of a folder of facts are kept in, inside of it."""

_WORTH_KEEPING = 1.0
"""Seconds; an index that is made in less is made again."""
_MOST_SUBJECTS = 50_000
"""A name that stands in the facts of more topics says nothing of which one a text is about."""
_LOG_TITLE_SHARE = math.log(0.5)
"""About half of the names in an article are those of its topic."""
_PER_MISSING = 0.5
"""What a word of a topic's name that is missing speaks against it, as a share of what it would
speak for it."""
_SHARE_BY_WORDS = 4
"""One candidate in so many is one of whose name the opening has most."""
_MOST_BY_WORDS = 200
_LONGEST_GAP = 3
_NOTHING = 1e-3
"""Nats that are lost in rounding."""
_TITLES_FIRST = 4
"""One candidate in so many is one whose title stands early, whatever else speaks for it."""
_TOPICS_BETWEEN_REPORTS = 1000

_Bytes = npt.NDArray[np.uint8]


@runtime_checkable
class TopicSource(Protocol):
    """Where topics come from: a knowledge graph, a corpus, or a collection in memory."""

    def topics(self) -> Iterator[Topic]:
        """Give every topic."""

    def topic(self, name: str, /) -> Topic:
        """Find a topic by its id."""


class ListedTopics:
    """Topics that are held in memory; several with one id are refused."""

    def __init__(self, topics: Iterable[Topic]) -> None:
        self._by_id: dict[str, Topic] = {}
        for topic in topics:
            if not isinstance(topic, Topic):
                raise InputError(f"a collection of topics holds lrlm.Topic, not {shown(topic)}")
            if self._by_id.setdefault(topic.id, topic) is not topic:
                raise InputError(f"there are several topics with the id {topic.id!r}")

    def topics(self) -> Iterator[Topic]:
        """Give every topic."""
        return iter(self._by_id.values())

    def topic(self, id: str) -> Topic:  # noqa: A002
        """Find a topic by its id."""
        return self._by_id[id]


class NamedSpan(NamedTuple):
    """Characters `[start, end)` of a text are a name; `name` is its number in the dictionary."""

    start: int
    end: int
    name: int


class Candidate(NamedTuple):
    """A topic that a text may be about, by the names in the text alone."""

    id: str
    overlap: float
    """How many nats the names in the text speak for it: those that are its own or its objects',
    each the more the fewer topics have it and the fewer facts it is one of."""
    title: int | None
    """Where the topic itself is first named; None where it is not."""


@dataclass(frozen=True)
class TopicIndex:
    """The names of all topics of a collection, and of all objects of their facts.

    >>> sweden = Topic("Sweden", relations=[Relation("capital", "Stockholm")])
    >>> norway = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> index = TopicIndex.of([norway, sweden])
    >>> [(each.id, each.title) for each in index.candidates("Sweden borders Norway.")]
    [('Sweden', 0), ('Norway', 15)]
    """

    source: TopicSource
    options: LinkOptions
    """How names are looked for."""
    names: NameDictionary
    words: NameDictionary
    """The single words of the first names of topics."""
    weights_E: Floats
    """How much all words of a topic's first name tell, in nats."""
    facts_E: Numbers
    first_E1: Integers
    subjects_F: Numbers
    ids: _Bytes
    ends_E: Integers

    @classmethod
    def of(
        cls,
        source: "TopicSource | Iterable[Topic] | TopicIndex",
        options: LinkOptions | None = None,
        *,
        progress: Progress = silent,
    ) -> "TopicIndex":
        """Make the index of a graph, a corpus or some topics, or open the one that was kept."""
        options = LinkOptions() if options is None else options
        if isinstance(source, TopicIndex):
            return source if source.options == options else cls.of(source.source, options)
        if isinstance(source, KnowledgeGraph):
            return _kept_index(source, options, progress)
        if isinstance(source, Corpus):  # it finds single topics slowly
            return _made_index(ListedTopics(source.topics()), options, progress)
        if isinstance(source, TopicSource):
            return _made_index(source, options, progress)
        if isinstance(source, str | Path) or not isinstance(source, Iterable):
            raise InputError(
                "topics are looked for in a KnowledgeGraph, a Corpus or a list of lrlm.Topic, not"
                f" in {shown(source)}"
            )
        return _made_index(ListedTopics(source), options, progress)

    def __len__(self) -> int:
        """Count the topics: things that have facts."""
        return self._topics

    @cached_property
    def _topics(self) -> int:
        return int(np.count_nonzero(self.facts_E))

    def id(self, thing: int) -> str:
        """Give the id of a thing."""
        begin = self.ends_E[thing - 1] if thing else 0
        return bytes(self.ids[begin : self.ends_E[thing]]).decode("utf-8", "surrogatepass")

    def topic(self, id: str) -> Topic:  # noqa: A002
        """Find a topic by its id, with its facts."""
        return self.source.topic(id)

    def named(self, text: str) -> list[NamedSpan]:
        """Find every name in a text, sorted by its place."""
        found = {
            NamedSpan(tokens.starts[each.start], tokens.ends[each.end - 1], each.name)
            for tokens in cuts_of_text(text, self.options)
            for each in self.names.find(tokens.words)
        }
        return sorted(found)

    def candidates(self, text: str, *, most: int = 64) -> list[Candidate]:
        """Give the topics that the names in a text speak for, the best first.

        What speaks for a topic is cheap to count: each name that is its own or one of its
        objects', by how much more often the topic has it than topics in general. Some places are
        kept for topics whose own names come first in the text.
        """
        first_place: dict[int, int] = {}
        for span in self.named(text):
            first_place.setdefault(span.name, span.start)
        things: list[Integers] = []
        gains: list[Doubles] = []
        titles: dict[int, int] = {}
        for name, place in first_place.items():
            named = self.names.things(name).astype(np.int64)
            own = named[self.facts_E[named] > 0]
            others = self._subjects(named)
            for thing in own.tolist():
                titles.setdefault(thing, place)
            # log P(name | topic) − log P(name): a topic writes its own name often, and of its
            # objects' names one as often as another; a name is as frequent as facts about it are.
            rarity = math.log(len(self.subjects_F) + 1) - math.log(len(own) + len(others) + 1)
            things += [own, others]
            gains += [
                np.full(len(own), rarity + _LOG_TITLE_SHARE),
                rarity - np.log(self.facts_E[others] + 1.0),
            ]
        by_words, nats, places = self._named_by_words(text)
        by_title = dict(zip(by_words.tolist(), nats.tolist(), strict=True))
        things.append(by_words)
        gains.append(np.zeros(len(by_words)))
        for thing, place in zip(by_words.tolist(), places.tolist(), strict=True):
            if place >= 0:
                titles.setdefault(thing, place)
        thing_C, place_C = np.unique(np.concatenate(things), return_inverse=True)
        if not len(thing_C):
            return []
        gain = np.maximum(np.concatenate(gains), 0.0)
        overlap_C = np.bincount(place_C, gain, minlength=len(thing_C))
        overlap = dict(zip(thing_C.tolist(), overlap_C.tolist(), strict=True))

        def order(thing: int) -> tuple[float, int, int]:
            return -overlap[thing] - by_title.get(thing, 0.0), titles.get(thing, len(text)), thing

        early = sorted(titles, key=lambda thing: (titles[thing], *order(thing)))
        chosen = dict.fromkeys(early[: most // _TITLES_FIRST])
        chosen |= dict.fromkeys(by_words[: most // _SHARE_BY_WORDS].tolist())
        total_C: Doubles = overlap_C.astype(np.float64)
        total_C[np.searchsorted(thing_C, by_words)] += nats
        best = thing_C[np.argsort(-total_C, kind="stable")[: 2 * most]].tolist()
        for thing in sorted(best, key=order):
            if len(chosen) < most:
                chosen.setdefault(thing)
        return [
            Candidate(self.id(thing), overlap[thing], titles.get(thing))
            for thing in sorted(chosen, key=order)
        ]

    def _named_by_words(self, text: str) -> tuple[Integers, Doubles, Integers]:
        """Find topics of whose first names the opening of a text has many telling words.

        They may stand in another order and with others between them, and some may be missing:
        "Joan Marie Jett", "William Walton Sharman". The best are given first, with nats, and with
        the first character if all words of the name stand near each other, otherwise −1.
        """
        opening = opening_of(text, self.options.profile)
        things: list[Integers] = []
        told: list[Doubles] = []
        places: list[Integers] = []
        for word, (place, *_) in opening.places.items():
            for found in self.words.find([word]):
                having = self.words.things(found.name)
                if len(having) <= _MOST_SUBJECTS:
                    things.append(having.astype(np.int64))
                    told.append(_telling(np.full(len(having), len(having)), len(self)))
                    places.append(np.full(len(having), place))
        if not things:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64)
        thing_C, which = np.unique(np.concatenate(things), return_inverse=True)
        told_C = np.bincount(which, np.concatenate(told), minlength=len(thing_C))
        missing_C = self.weights_E[thing_C] - told_C
        nats_C = told_C - _PER_MISSING * missing_C
        found_at = np.concatenate(places)
        first_C = np.full(len(thing_C), len(opening.words))
        np.minimum.at(first_C, which, found_at)
        last_C = np.zeros(len(thing_C), dtype=np.int64)
        np.maximum.at(last_C, which, found_at)
        is_near_C = last_C - first_C < np.bincount(which) + _LONGEST_GAP
        start_C = np.array(opening.starts)[first_C]
        start_C[(missing_C > _NOTHING) | ~is_near_C] = -1
        best = np.argsort(-nats_C, kind="stable")[:_MOST_BY_WORDS]
        best = best[nats_C[best] > 0]
        return thing_C[best], nats_C[best], start_C[best]

    def _subjects(self, things: Integers) -> Integers:
        """Give the topics that have facts about things, each once; none where they are many."""
        counts = self.first_E1[things + 1] - self.first_E1[things]
        if counts.sum() > _MOST_SUBJECTS:
            return np.empty(0, dtype=np.int64)
        parts = [self.subjects_F[self.first_E1[each] : self.first_E1[each + 1]] for each in things]
        joined = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)
        return np.unique(joined).astype(np.int64)


def _made_index(source: TopicSource, options: LinkOptions, progress: Progress) -> TopicIndex:
    """Read all topics, and gather their names and facts."""
    builder = _Builder(options)
    for number, topic in enumerate(source.topics()):
        if number % _TOPICS_BETWEEN_REPORTS == 0:
            progress("gathering names", number, 0)
        builder.add(topic)
    return builder.build(source)


class _Builder:
    """Numbers things and gathers their names; an object of many facts is looked at once."""

    def __init__(self, options: LinkOptions) -> None:
        self._options = options
        self._names = NameDictionaryBuilder()
        self._words = NameDictionaryBuilder()
        self._number_of: dict[int, int] = {}
        self._facts = array("I")
        self._objects, self._subjects = array("I"), array("I")
        self._ids = bytearray()
        self._ends = array("q")

    def add(self, topic: Topic) -> None:
        subject = self._number(topic.id, topic.names)
        self._facts[subject] += len(topic.relations)
        if topic.relations:
            for word in plain_name_words(topic.names[0], self._options.profile):
                self._words.add([word], subject)
        for relation in topic.relations:
            self._objects.append(self._number(relation.object, relation.forms))
            self._subjects.append(subject)

    def _number(self, id_: str, forms: tuple[str, ...]) -> int:
        # What is alike in id and names is one thing. A set of the ids themselves would take many
        # times the memory of their hashes.
        number = self._number_of.setdefault(hash((id_, forms)), len(self._facts))
        if number == len(self._facts):
            self._facts.append(0)
            self._ids += id_.encode("utf-8", "surrogatepass")
            self._ends.append(len(self._ids))
            for form in forms:
                for words in cut_form(form, self._options):
                    self._names.add(words, number)
        return number

    def build(self, source: TopicSource) -> TopicIndex:
        objects = np.frombuffer(self._objects, dtype=np.uint32)
        subjects = np.frombuffer(self._subjects, dtype=np.uint32)
        counts = np.bincount(objects, minlength=len(self._facts))
        facts = np.frombuffer(self._facts, dtype=np.uint32)
        words = self._words.build()
        having_K = np.diff(words.first_K1)
        told_K = _telling(having_K, int(np.count_nonzero(facts)))
        weights = np.bincount(words.things_P, np.repeat(told_K, having_K), minlength=len(facts))
        return TopicIndex(
            source=source,
            options=self._options,
            names=self._names.build(),
            words=words,
            weights_E=weights.astype(np.float32),
            facts_E=facts,
            first_E1=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            subjects_F=subjects[np.argsort(objects, kind="stable")],
            ids=np.frombuffer(bytes(self._ids), dtype=np.uint8),
            ends_E=np.frombuffer(self._ends, dtype=np.int64),
        )


def _telling(having: Integers, topics: int) -> Doubles:
    """Give how many nats words tell that so many of all topics have in their names."""
    return math.log1p(topics) - np.log(np.asarray(having, dtype=np.float64))


def _kept_index(graph: KnowledgeGraph, options: LinkOptions, progress: Progress) -> TopicIndex:
    """Open the index that lies in the folder of a graph, or make it and keep it there."""
    made_from = {
        "manifest": fingerprint(graph.folder / MANIFEST)["sha256"],
        "options": options.to_dict(),
    }
    key = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:16]
    folder = graph.folder / FOLDER / key
    if (folder / MANIFEST).is_file():
        with suppress(FormatError):  # one that is damaged, or of another version, is made again
            return _open(folder, graph, options)
    begun = time.monotonic()
    index = _made_index(graph, options, progress)
    if time.monotonic() - begun > _WORTH_KEEPING:
        with suppress(OSError, InputError, DiskFullError):  # it can be used all the same
            folder.parent.mkdir(exist_ok=True)
            with new_folder(folder, overwrite=True) as draft:
                _save(index, draft, made_from)
            return _open(folder, graph, options)
    return index


_ARRAYS = ("weights_E", "facts_E", "first_E1", "subjects_F", "ids", "ends_E")
_DICTIONARIES = ("names", "words")
_OF_A_DICTIONARY = ("beginnings", "names_K", "first_K1", "things_P")


def _file(name: str) -> str:
    """Name the file of an array; the shape in its name is left out."""
    return f"{name.partition('_')[0]}.npy"


def _save(index: TopicIndex, folder: Path, made_from: dict[str, object]) -> None:
    for name in _ARRAYS:
        np.save(folder / _file(name), getattr(index, name), allow_pickle=False)
    for dictionary in _DICTIONARIES:
        (folder / dictionary).mkdir()
        for name in _OF_A_DICTIONARY:
            values = getattr(getattr(index, dictionary), name)
            np.save(folder / dictionary / _file(name), values, allow_pickle=False)
    write_manifest(
        folder, format=FORMAT, version=VERSION, **made_from, files=fingerprints_in(folder)
    )


def _open(folder: Path, source: TopicSource, options: LinkOptions) -> TopicIndex:
    """Map the files into memory."""
    hint = "remove the folder, and it is made again"
    check_files(folder, read_manifest(folder, format=FORMAT, version=VERSION, hint=hint))
    names, words = (
        NameDictionary(*(_mapped(folder / each / _file(name)) for name in _OF_A_DICTIONARY))
        for each in _DICTIONARIES
    )
    arrays: list[Any] = [_mapped(folder / _file(name)) for name in _ARRAYS]
    return TopicIndex(source, options, names, words, *arrays)


def _mapped(path: Path) -> Any:
    """Map a file as a plain array: one of `np.memmap` is slow to look at."""
    return np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
