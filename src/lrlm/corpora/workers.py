"""Link articles on several processes, keeping their order."""

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from lrlm.characters import clean_name
from lrlm.corpora.columns import to_table
from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.linking import Linker, LinkOptions
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import WorkerError
from lrlm.knowledge import TITLE, KnowledgeGraph, Relation, Topic
from lrlm.knowledge.extract import start_worker
from lrlm.knowledge.literals import literal_forms
from lrlm.knowledge.sources.addresses import is_address
from lrlm.text.document import GoldSpan, LinkedDocument

MISPLACED_GOLD = "misplaced gold mentions"
UNKNOWN_TOPICS = "topics that the graph does not have"
FACTLESS_TEXTS = "articles in which no name of a fact was found"
FACTS, REPEATED, NAMELESS = "facts", "repeated facts", "facts whose object has no form"
"""What is counted while articles are linked."""

StagedRow = Mapping[str, Any]
"""An article as `Staging.rows` gives it."""


class LinkedPart(NamedTuple):
    """The linked documents of one split in one batch, on their way back from a worker."""

    table: bytes
    statistics: SplitStatistics

    def documents(self) -> pa.Table:
        """Give the documents in the corpus's columns."""
        return pa.ipc.open_stream(self.table).read_all()


@dataclass
class LinkedBatch:
    """What became of one batch of articles."""

    parts: dict[str, LinkedPart] = field(default_factory=dict)
    """By the split."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many gold mentions were misplaced; with a graph, what became of its topics and facts."""


def link_in_order(
    batches: Iterable[pa.RecordBatch],
    options: LinkOptions,
    *,
    graph: KnowledgeGraph | None,
    workers: int,
) -> Iterator[LinkedBatch]:
    """Link batches on all workers with few in flight, giving the results in their order.

    Topics are looked up in the graph; without one the rows have what is known about them.
    """
    if workers == 1:
        for batch in batches:
            yield _link_batch(_to_bytes(batch), options, graph)
        return
    # A new interpreter for each worker: forking a process that runs a database is not safe.
    context = multiprocessing.get_context("spawn")
    pool: Executor
    with ProcessPoolExecutor(workers, mp_context=context, initializer=start_worker) as pool:
        waiting: deque[Future[LinkedBatch]] = deque()
        try:
            for batch in batches:
                with _ctrl_c_held_back():
                    waiting.append(pool.submit(_link_batch, _to_bytes(batch), options, graph))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process died while linking (out of memory?); try with one worker"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Let no worker see Ctrl-C while it starts; a process that is started here inherits this."""
    if not hasattr(signal, "pthread_sigmask"):  # not a POSIX system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _to_bytes(table: pa.RecordBatch | pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write(table)
    return bytes(sink.getvalue())


def _link_batch(batch: bytes, options: LinkOptions, graph: KnowledgeGraph | None) -> LinkedBatch:
    rows = pa.ipc.open_stream(batch).read_all().to_pylist()
    by_split: dict[str, list[LinkedDocument]] = {}
    linked = LinkedBatch()
    for split, document in link_rows(rows, options, graph, linked.counts):
        by_split.setdefault(split, []).append(document)
    for split, documents in by_split.items():
        table = _to_bytes(to_table(documents))
        linked.parts[split] = LinkedPart(table, SplitStatistics.of(documents))
    return linked


def link_rows(
    rows: Sequence[StagedRow],
    options: LinkOptions,
    graph: KnowledgeGraph | None,
    counts: Counter[str],
) -> Iterator[tuple[str, LinkedDocument]]:
    """Link articles, each with its split; those that share a topic and a title share a linker."""
    waiting = Counter((row["topic"], row["title"]) for row in rows)
    shared: dict[tuple[str, str], _TopicLinker] = {}
    for row in rows:
        topic = row["topic"], row["title"]
        made = shared.pop(topic) if topic in shared else _linker(row, options, graph)
        waiting[topic] -= 1
        if waiting[topic]:  # another article of these needs it, too
            shared[topic] = made
        if graph is not None and row["is_counted"]:
            counts += made.counts
        gold = None if row["gold"] is None else [GoldSpan(**each) for each in row["gold"]]
        document = made.linker.link(row["text"], id=row["id"], title=made.title, gold=gold)
        if gold is not None and document.gold is not None:
            counts[MISPLACED_GOLD] += len(gold) - len(document.gold)
        relations = document.relations
        if all(relations[mention.relation].type == TITLE for mention in document.mentions):
            counts[FACTLESS_TEXTS] += 1
        yield SPLITS[row["split"]], document


class _TopicLinker(NamedTuple):
    """What links the articles of a topic that have one title."""

    linker: Linker
    title: str
    counts: Counter[str]
    """What became of the topic's facts in a graph."""


def _linker(row: StagedRow, options: LinkOptions, graph: KnowledgeGraph | None) -> _TopicLinker:
    """Give what links the articles of a topic.

    An article that has no title goes by its topic's id. Where that is an address, and a graph has
    names for it, it is neither a title nor a name that a text could have.
    """
    star = _joined(row) if graph is None else _look_up(row["topic"], graph)
    title, names = row["title"], star.names
    if graph is not None and names and title == row["topic"] and is_address(title):
        title = names[0]
    topic = Topic(row["topic"], [*names, title], star.relations)
    return _TopicLinker(Linker(topic, options), title, star.counts)


class _Star(NamedTuple):
    """What is known about a topic: its names, and its relations in the order of the corpus."""

    names: tuple[str, ...]
    relations: list[Relation]
    counts: Counter[str]
    """What became of the topic's facts in a graph."""


def _joined(row: StagedRow) -> _Star:
    """Read what was joined from tables."""
    relations = [
        Relation(
            relation["type"],
            relation["object"],
            literal_forms(relation["object"]) if relation["literal"] else relation["forms"],
        )
        for relation in row["relations"] or ()
    ]
    return _Star(row["names"] or (), relations, Counter())


def _look_up(id_: str, graph: KnowledgeGraph) -> _Star:
    """Find a topic in a graph; its relations are sorted, and facts that are told twice are one."""
    if id_ not in graph:
        return _Star((), [], Counter({UNKNOWN_TOPICS: 1}))
    topic = graph.topic(id_)
    forms: dict[tuple[str, str], dict[str, None]] = {}
    labels = {relation.type: relation.label for relation in topic.relations}
    for relation in topic.relations:
        names = _names(relation.object, relation.forms, graph)
        forms.setdefault((relation.type, relation.object), {}).update(dict.fromkeys(names))
    relations = [
        Relation(type_, object_, names, label=labels[type_])
        for (type_, object_), names in sorted(forms.items())
        if names
    ]
    counts = Counter(
        {
            FACTS: len(topic.relations),
            REPEATED: len(topic.relations) - len(forms),
            NAMELESS: len(forms) - len(relations),
        }
    )
    return _Star(_names(id_, topic.names, graph), relations, counts)


def _names(entity: str, forms: tuple[str, ...], graph: KnowledgeGraph) -> tuple[str, ...]:
    """Give the names of an entity: one without names is not called by its id in a text."""
    if forms == (clean_name(entity),) and entity in graph:
        return graph.entity(entity).names
    return forms
