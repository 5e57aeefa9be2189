"""Read the topics of a text in Turtle, by the same rules as a knowledge graph of a file."""

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.sources import SourceFormat, recognise
from lrlm.serving.limits import MOST_FACTS, MOST_FOUND
from lrlm.serving.topics import FoundTopic

COLLECTION = "Turtle"
_IN_TURTLE = frozenset(
    {
        SourceFormat.TURTLE,
        SourceFormat.WIKIDATA_TURTLE,
        SourceFormat.RDF_LINES,
        SourceFormat.NTRIPLES,
    }
)
"""N-Triples are Turtle as well."""


class ReadTurtle(NamedTuple):
    """What stands in a text in Turtle."""

    topic: dict[str, Any]
    """The topic that was asked for, or the one with most facts; with the names of its types."""
    topics: list[FoundTopic]
    """All things at which facts start, those with most facts first, up to a bound."""


def read_turtle(text: str, wanted: str | None, known_types: Collection[str]) -> ReadTurtle:
    """Read a text in Turtle; needs the extra `rdf`.

    A relation type goes by its address where it is among the known ones, and else by its name, so
    that `ex:capital` is the `capital` that a model has learned.
    """
    _check_looks_like_turtle(text)
    with tempfile.TemporaryDirectory(prefix="lrlm-turtle-") as folder:
        path = Path(folder, "topics.ttl")
        path.write_text(text, encoding="utf-8")
        try:
            with KnowledgeGraph.from_rdf(path, out=Path(folder, "kg")) as graph:
                return _read(graph, wanted, known_types)
        except (FormatError, InputError) as error:
            told = str(error).replace(f"{path}: ", "").replace(str(path), "the Turtle")
            raise InputError(f"the Turtle cannot be read: {told}") from None


def _check_looks_like_turtle(text: str) -> None:
    """Refuse the other formats that a file of a graph may have."""
    try:
        found = recognise("it", text.encode())
    except FormatError:
        found = None
    if found not in _IN_TURTLE:
        raise InputError(
            "this does not look like Turtle; it begins with the prefixes that it uses, as in:"
            " @prefix : <http://example.org/> ."
        )


def _read(graph: KnowledgeGraph, wanted: str | None, known_types: Collection[str]) -> ReadTurtle:
    topics = {topic.id: topic for topic in graph.topics()}
    if not topics:
        raise InputError("it states no fact that starts at a thing with a name")
    listed = sorted(topics.values(), key=lambda each: -len(each.relations))
    topic = listed[0] if wanted is None else topics.get(wanted)
    if topic is None:
        raise InputError(f"it states no fact about {wanted!r}")
    if len(topic.relations) > MOST_FACTS:
        raise InputError(f"{topic.id!r} has more than {MOST_FACTS:,} facts")
    content = topic.to_dict()
    for relation in content["relations"]:
        relation["label"] = graph.relation_label(relation["type"])
        if relation["type"] not in known_types:
            relation["type"] = relation["label"]
    found = [
        FoundTopic(each.id, each.names[0], len(each.relations), COLLECTION, 1.0)
        for each in listed[:MOST_FOUND]
    ]
    return ReadTurtle(content, found)
