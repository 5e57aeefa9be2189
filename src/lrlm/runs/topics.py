"""Find the topic that a user names: in a file, a graph, a corpus, an endpoint or miniworld."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from lrlm.corpora import Corpus
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import CorpusNotFoundError, FormatError, InputError, TopicLookupError
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.knowledge.endpoint import WIKIDATA, SparqlEndpoint
from lrlm.knowledge.topic import near_matches
from lrlm.runs.run import Run
from lrlm.runs.shipped import SHIPPED


class TopicLookup(Protocol):
    """Finds topics by id or by name."""

    def topic(self, name: str, /) -> Topic:
        """Find a topic, or say which ones are near."""


@runtime_checkable
class ListableTopics(Protocol):
    """Knows all of its topics."""

    def collection(self) -> KnowledgeGraph | Corpus | Iterable[Topic]:
        """Give what holds them."""


class _GraphTopics:
    """The topics of a knowledge graph."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph

    def topic(self, name: str) -> Topic:
        """Find an entity by its id, or by its name if that is certain."""
        return self._graph.topic(self._graph.find(name).id)

    def collection(self) -> KnowledgeGraph:
        """Give the graph."""
        return self._graph


class MiniworldTopics:
    """The topics of the embedded corpus."""

    def topic(self, name: str) -> Topic:
        """Find a topic by its id, or by a name that only it has, also in other letter case."""
        known = miniworld_topics()
        if name in known:
            return known[name]
        for written in (str, str.casefold):
            named = [
                topic
                for topic in known.values()
                if written(name) in {written(each) for each in (topic.id, *topic.names)}
            ]
            if len(named) == 1:
                return named[0]
        raise InputError(f"miniworld has no topic {name!r}" + near_matches(name, known))

    def collection(self) -> Iterable[Topic]:
        """Give all topics."""
        return miniworld_topics().values()


class _TopicsOfTraining:
    """The topics of the corpus that a run was trained on, which is looked for when it is needed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._corpus: Corpus | None = None

    def topic(self, name: str) -> Topic:
        """Find a topic by its id or title, if the corpus is where one would look for it."""
        try:
            return self.collection().topic(name)
        except CorpusNotFoundError as error:
            raise TopicLookupError(
                f"the topic {name!r} cannot be looked up: {error}; name that corpus or a"
                " knowledge graph, or give the topic as a JSON file"
            ) from None

    def collection(self) -> Corpus:
        """Give the corpus."""
        if self._corpus is None:
            self._corpus = training_corpus(self._run)
        return self._corpus


def topics_for(
    run: Run,
    *,
    graph: Path | str | None = None,
    corpus: Path | str | None = None,
    endpoint: str | None = None,
) -> TopicLookup:
    """Open a graph, a corpus or a SPARQL endpoint; without any, what the run was trained on.

    The endpoint is an address, or `wikidata`.
    """
    if sum(place is not None for place in (graph, corpus, endpoint)) > 1:
        raise InputError(
            "topics are looked up in one place: name a graph, a corpus or an endpoint, and no other"
        )
    if endpoint is not None:
        return SparqlEndpoint(WIKIDATA if endpoint == "wikidata" else endpoint)
    if graph is not None:
        return _GraphTopics(KnowledgeGraph.open(graph))
    if corpus is not None:
        return Corpus.open(corpus)
    if run.folder == SHIPPED:
        return MiniworldTopics()
    return _TopicsOfTraining(run)


def collection_of(topics: TopicLookup) -> KnowledgeGraph | Corpus | Iterable[Topic]:
    """Give all topics that can be looked up, to find among them what a text is about."""
    if isinstance(topics, KnowledgeGraph | Corpus):
        return topics
    if not isinstance(topics, ListableTopics):
        raise TopicLookupError(
            "what is the text about? Its topic can only be found where all topics are known, in a"
            " graph or a corpus; name one, or name the topic"
        )
    return topics.collection()


def find_topic(given: str, topics: TopicLookup | None) -> Topic:
    """Read a topic from the file of that name, or find it in a collection."""
    path = Path(given)
    if path.suffix.lower() == ".json" or path.is_file():
        return Topic.from_json(path)
    if topics is None:
        raise TopicLookupError(
            f"there is no file {given!r}, and neither a graph nor a corpus was named to look the"
            f" topic {given!r} up in"
        )
    return topics.topic(given)


def training_corpus(run: Run) -> Corpus:
    """Find the corpus that a run was trained on.

    A run keeps the corpus's name and content, not where it lies. A folder of that name is looked
    for in the working directory, beside the run and one folder above.
    """
    found = next(_candidates(run), None)
    if found is None:
        raise CorpusNotFoundError(
            f"the corpus {run.corpus_name!r} that {run.folder} was trained on is neither in the"
            " working directory nor beside the run, or it has changed since"
        )
    return found


def _candidates(run: Run) -> Iterator[Corpus]:
    """Find folders with the name and the content of the corpus that a run was trained on."""
    home = run.folder.resolve().parent
    for place in (Path(), home, home.parent):
        try:
            corpus = Corpus.open(place / run.corpus_name)
        except FormatError:
            continue
        if corpus.fingerprint == run.corpus_fingerprint:
            yield corpus
