"""Find what is known of the types of facts: from a graph, or from what a run was trained on."""

from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import CorpusNotFoundError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.schema import Schema
from lrlm.runs.run import SCHEMA, Run
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import training_corpus


def schema_for(run: Run, graph: KnowledgeGraph | None = None) -> Schema:
    """Give what a graph says of types of facts, and beyond it what the run has seen.

    A run that was trained before runs kept a schema learns it from its corpus, where that is found.
    """
    learned = _schema_of_training(run)
    return learned if graph is None else learned.updated(Schema.of(graph.topics()))


def kept_schema(run: Run) -> Schema | None:
    """Give the schema that a run has kept of what it was trained on; None for one without."""
    path = run.folder / SCHEMA
    if path.is_file():
        return Schema.open(path)
    return Schema.of(miniworld_topics().values()) if run.folder == SHIPPED else None


def _schema_of_training(run: Run) -> Schema:
    kept = kept_schema(run)
    if kept is not None:
        return kept
    try:
        return Schema.of(training_corpus(run).topics())
    except CorpusNotFoundError:
        return Schema()
