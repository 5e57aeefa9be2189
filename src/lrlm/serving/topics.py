"""Find topics by name or by id: in a knowledge graph, and in what the models were trained on."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from lrlm.corpora import Corpus
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import CorpusNotFoundError, FormatError, InputError, LrlmError
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.knowledge.index import fold, likeness
from lrlm.runs.run import Run
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import training_corpus

_LEAST_LIKE = 0.6
_MAY_BE_ALIKE = 3
_CANDIDATES = 400
"""Names that are compared letter by letter, however many hold what was asked for."""


class UnknownTopicError(InputError):
    """No collection has a topic of this id."""


class BrokenCollectionError(LrlmError):
    """A graph or a corpus of the server cannot be read; that is not the fault of who asks."""


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic that a search has found, without its facts."""

    id: str
    name: str
    facts: int | None
    """How many facts start at it, where that is known without reading them."""
    collection: str
    likeness: float


class TopicCollection(Protocol):
    """Topics that can be searched, and read one by one."""

    name: str

    def search(self, asked: str, limit: int) -> list[FoundTopic]:
        """Find topics by name, the most alike first."""

    def topic(self, id: str) -> Topic | None:  # noqa: A002
        """Read a topic; None where there is none of this id."""


class GraphTopics:
    """The entities of a knowledge graph."""

    def __init__(self, folder: Path) -> None:
        self._graph = KnowledgeGraph.open(folder)
        self.name = folder.resolve().name

    def search(self, asked: str, limit: int) -> list[FoundTopic]:
        """Find entities by id or by name, the most alike first."""
        found = [
            FoundTopic(
                found.entity.id, found.name, found.entity.facts, self.name, round(found.likeness, 3)
            )
            for found in self._graph.search(asked, limit=limit)
        ]
        if asked in self._graph:
            entity = self._graph.entity(asked)
            found.insert(0, FoundTopic(entity.id, entity.label, entity.facts, self.name, 1.0))
        return found

    def topic(self, id: str) -> Topic | None:  # noqa: A002
        """Read an entity with all its facts."""
        return self._graph.topic(id) if id in self._graph else None


@dataclass(frozen=True, slots=True)
class _Named:
    """One name of a topic, in the form in which it is searched."""

    folded: str
    name: str
    id: str
    facts: int | None


class NamedTopics:
    """Topics whose names all fit into memory: those of a corpus, or of the embedded one."""

    def __init__(
        self,
        name: str,
        names: Callable[[], Iterable[tuple[str, str, int | None]]],
        topic: Callable[[str], Topic | None],
    ) -> None:
        self.name = name
        self._read_names = names
        self._read_topic = topic
        self._names: list[_Named] | None = None

    def search(self, asked: str, limit: int) -> list[FoundTopic]:
        """Find topics by name, the most alike first; names that hold what was asked for count."""
        key = fold(asked)
        if not key:
            return []
        likely = heapq.nsmallest(
            _CANDIDATES,
            (
                (rank, len(each.folded), each)
                for each in self._all_names()
                if (rank := _rank(key, each.folded)) is not None
            ),
            key=itemgetter(0, 1),
        )
        best: dict[str, FoundTopic] = {}
        for rank, _, each in likely:
            alike = likeness(asked, each.name)
            if rank == _MAY_BE_ALIKE and alike < _LEAST_LIKE:
                continue
            if each.id not in best or best[each.id].likeness < alike:
                best[each.id] = FoundTopic(
                    each.id, each.name, each.facts, self.name, round(alike, 3)
                )
        return heapq.nsmallest(limit, best.values(), key=lambda each: (-each.likeness, each.id))

    def topic(self, id: str) -> Topic | None:  # noqa: A002
        """Read a topic."""
        return self._read_topic(id)

    def _all_names(self) -> list[_Named]:
        if self._names is None:
            self._names = [
                _Named(fold(name), name, id_, facts) for id_, name, facts in self._read_names()
            ]
        return self._names


def _rank(asked: str, name: str) -> int | None:
    """Tell quickly how well a name may fit, 0 being best; None where it surely does not."""
    if asked in name:
        return 0 if asked == name else 1 if name.startswith(asked) else 2
    # Most mistakes leave the first letter as it is.
    is_near = asked[0] == name[:1] and abs(len(asked) - len(name)) <= 2
    return _MAY_BE_ALIKE if is_near else None


def miniworld() -> NamedTopics:
    """Give the topics of the embedded corpus."""
    known = miniworld_topics()
    names = [
        (topic.id, name, len(topic.relations)) for topic in known.values() for name in topic.names
    ]
    return NamedTopics("miniworld", lambda: names, known.get)


def corpus_topics(corpus: Corpus) -> NamedTopics:
    """Give the topics of a corpus's articles."""

    def names() -> Iterator[tuple[str, str, int | None]]:
        seen: set[str] = set()
        for split in corpus.splits:
            for batch in corpus.batches(split, ["topic", "title"]):
                for id_, title in zip(*(column.to_pylist() for column in batch), strict=True):
                    if id_ not in seen:
                        seen.add(id_)
                        yield id_, title, None

    def topic(id_: str) -> Topic | None:
        return corpus.topic(id_) if corpus.first_where("topic", id_) is not None else None

    return NamedTopics(corpus.folder.resolve().name, names, topic)


class TopicFinder:
    """Several collections of topics as one; the first that has a topic gives it."""

    def __init__(self, collections: Sequence[TopicCollection]) -> None:
        self.collections = collections

    def search(self, asked: str, limit: int) -> list[FoundTopic]:
        """Find topics by name or by id, the most alike first."""
        found: dict[str, FoundTopic] = {}
        for collection in self.collections:
            with _reading(collection):
                for each in collection.search(asked, limit):
                    found.setdefault(each.id, each)
        return sorted(found.values(), key=lambda each: -each.likeness)[:limit]

    def topic(self, id: str) -> Topic:  # noqa: A002
        """Read a topic by its id, or say that there is none."""
        return self._find(id)[0]

    def described(self, id: str) -> dict[str, Any]:  # noqa: A002
        """Give a topic as plain values, with the names of its relation types."""
        topic, collection = self._find(id)
        relations = [{**fact.to_dict(), "label": fact.label} for fact in topic.relations]
        return {**topic.to_dict(), "relations": relations, "collection": collection.name}

    def _find(self, id_: str) -> tuple[Topic, TopicCollection]:
        for collection in self.collections:
            with _reading(collection):
                topic = collection.topic(id_)
            if topic is not None:
                return topic, collection
        near = self.search(id_, 3)
        hint = f"; did you mean {', '.join(repr(each.id) for each in near)}?" if near else ""
        raise UnknownTopicError(f"there is no topic {id_!r}{hint}")


@contextmanager
def _reading(collection: TopicCollection) -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        raise BrokenCollectionError(
            f"the topics of {collection.name!r} cannot be read here"
        ) from error


def finder_for(runs: Sequence[Run], graph: Path | None) -> TopicFinder:
    """Open a graph and the corpora of runs, as far as they are there, and the embedded topics."""
    collections: list[TopicCollection] = [] if graph is None else [GraphTopics(graph)]
    fingerprints: set[str] = set()
    for run in runs:
        if run.folder == SHIPPED or run.corpus_fingerprint in fingerprints:
            continue
        try:
            corpus = training_corpus(run)
        except CorpusNotFoundError:
            continue
        fingerprints.add(run.corpus_fingerprint)
        collections.append(corpus_topics(corpus))
    return TopicFinder([*collections, miniworld()])
