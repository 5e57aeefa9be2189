"""What a user calls a topic in, the topic out: a JSON file, or an id or a name in a collection.

A collection is a knowledge graph, a corpus, or the embedded miniworld.
"""

from pathlib import Path
from typing import Protocol

from lrlm.corpora import LinkedDocument
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import InputError
from lrlm.knowledge import TITLE, KnowledgeGraph, Relation, Topic
from lrlm.knowledge.topic import near_matches


class Topics(Protocol):
    """Finds topics by id or by name."""

    def topic(self, name: str) -> Topic:
        """Find a topic, or say which ones are near."""


class GraphTopics:
    """The topics of a knowledge graph."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph

    def topic(self, name: str) -> Topic:
        """Find an entity by its id, or by its name if that is certain."""
        return self._graph.topic(self._graph.find(name).id)


class MiniworldTopics:
    """The topics of the embedded corpus."""

    def topic(self, name: str) -> Topic:
        """Find a topic by its id, or by a name that only it has."""
        known = miniworld_topics()
        if name in known:
            return known[name]
        named = [topic for topic in known.values() if name in topic.names]
        if len(named) == 1:
            return named[0]
        raise InputError(f"miniworld has no topic {name!r}" + near_matches(name, known))


class CorpusTopics:
    """The topics of a corpus: whatever its articles are about."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def topic(self, name: str) -> Topic:
        """Find a topic by its id."""
        found = self._corpus.first_where("topic", name)
        if found is not None:
            return topic_of(found)
        known = [
            topic
            for split in self._corpus.splits
            for batch in self._corpus.batches(split, ["topic"])
            for topic in batch.column("topic").to_pylist()
        ]
        raise InputError(f"{self._corpus.folder} has no topic {name!r}" + near_matches(name, known))


def topic_of(document: LinkedDocument) -> Topic:
    """Give back the topic of a document, with all that was known about it."""
    names = [
        text for relation in document.relations if relation.type == TITLE for text in relation.texts
    ]
    return Topic(
        document.topic,
        names or document.title,
        [
            Relation(relation.type, relation.object, relation.texts)
            for relation in document.relations
            if relation.type != TITLE
        ],
    )


def find_topic(given: str, topics: Topics | None) -> Topic:
    """Read a topic from the file of that name, or find it in a collection."""
    path = Path(given)
    if path.suffix.lower() == ".json" or path.is_file():
        return Topic.from_json(path)
    if topics is None:
        raise InputError(
            f"there is no file {given!r}, and no collection to look the topic {given!r} up in;"
            " name a graph with --graph KG or a corpus with --corpus DIR"
        )
    return topics.topic(given)
