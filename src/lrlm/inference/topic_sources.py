"""A run and what a user named beside it in, the collection out in which its topics are found."""

from pathlib import Path

from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.evaluation.runs import corpus_for
from lrlm.inference.shipped import SHIPPED
from lrlm.inference.topics import CorpusTopics, GraphTopics, MiniworldTopics, Topics
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.training.run import Run


def topics_for(run: Run, *, graph: Path | None = None, corpus: Path | None = None) -> Topics:
    """Open a knowledge graph or a corpus; without either, what the run was trained on."""
    if graph is not None and corpus is not None:
        raise InputError("topics are looked up in one place: give --graph or --corpus, not both")
    if graph is not None:
        return GraphTopics(KnowledgeGraph.open(graph))
    if corpus is not None:
        return CorpusTopics(Corpus.open(corpus))
    if run.folder == SHIPPED:
        return MiniworldTopics()
    return _TopicsOfTraining(run)


class _TopicsOfTraining:
    """The topics of the corpus that a run was trained on, which is looked for when it is needed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._topics: Topics | None = None

    def topic(self, name: str) -> Topic:
        """Find a topic by its id, if the corpus is where one would look for it."""
        if self._topics is None:
            try:
                self._topics = CorpusTopics(corpus_for([self._run]))
            except InputError as error:
                raise InputError(
                    f"the topic {name!r} cannot be looked up: {error}, or a knowledge graph with"
                    " --graph KG, or give the topic as a JSON file"
                ) from None
        return self._topics.topic(name)
