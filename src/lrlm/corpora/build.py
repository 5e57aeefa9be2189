"""Triples, forms and articles in, a linked corpus on disk out: `lrlm corpus build`."""

import gc
import json
import multiprocessing
import os
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from lrlm.artifacts import new_folder
from lrlm.corpora.corpus import SPLITS, Corpus, CorpusWriter, to_table
from lrlm.corpora.joining import Join, join_in
from lrlm.corpora.linking import LinkOptions, Matcher, linkable_relations
from lrlm.corpora.source import BuildInputs, Progress, Reading, Source, fingerprints
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.literals import literal_forms
from lrlm.reading import BadLines
from lrlm.text import Profile, Tokens, detect_profile, tokenise
from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument

__all__ = ["BuildInputs", "BuildReport", "Progress", "build_corpus", "link_article"]

_DOCUMENTS_AT_ONCE = 512
"""Documents a worker links at a time, and a row group holds; it does not depend on the workers."""


@dataclass(frozen=True)
class BuildReport:
    """What a build did with its input."""

    corpus: Corpus
    bad_lines: int
    examples: tuple[str, ...]
    """The first bad lines, each with file, line number and reason."""
    facts: Mapping[str, int]
    misplaced_gold: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What the source could not give, by the reason."""


def build_corpus(
    out: Path | str,
    inputs: Source,
    *,
    profile: Profile | None = None,
    options: LinkOptions | None = None,
    limit: int | None = None,
    max_bad: float = 0.001,
    workers: int = 1,
    memory: str = "1GB",
    overwrite: bool = False,
    drop_shared_topics: bool = False,
    made_by: str = "lrlm corpus build",
    progress: Progress = lambda _doing, _articles: None,
) -> BuildReport:
    """Link every article with what is known about its topic and write the corpus to `out`.

    The bytes written depend on the content of the inputs and on the options, not on the number
    of workers or the order of the triples. `profile` is found from the articles if it is None;
    `limit` takes the first articles of each split; `memory` bounds the join, the rest is small.
    Splits that share a topic are refused, unless `drop_shared_topics` says to leave such articles
    out of the earlier one of train, valid and test.
    """
    if limit is not None and limit < 1:
        raise InputError(f"the limit must be at least 1 article, not {limit}")
    if not 0 <= max_bad < 1:
        raise InputError(f"the share of bad lines must be from 0 to below 1, not {max_bad}")
    if workers < 1:
        raise InputError(f"at least one worker is needed, not {workers}")
    bad_lines = BadLines(max_bad)
    with (
        new_folder(Path(out), overwrite=overwrite) as folder,
        tempfile.TemporaryDirectory(prefix="join-", dir=folder) as scratch,
        join_in(Path(scratch), memory=memory, threads=workers) as join,
        CorpusWriter(folder) as writer,
    ):
        left_out = dict(inputs.fill(join, Reading(bad_lines, limit, progress)))
        join.finish()
        if drop_shared_topics:
            left_out["articles whose topic is in a later split"] = join.drop_shared_topics()
        join.check_articles()
        facts = join.count_facts()
        options = replace(options or LinkOptions(), profile=profile or detect_profile(join.sample))
        misplaced_gold = _link(join, writer, options, workers=workers, progress=progress)
        writer.close(
            made_by=made_by,
            options=options,
            inputs=fingerprints(inputs.files),
            limit=limit,
            counts={
                "bad_lines": bad_lines.count,
                "facts": facts,
                "misplaced_gold": misplaced_gold,
                **({"left_out": left_out} if left_out else {}),
            },
        )
    return BuildReport(
        Corpus(out), bad_lines.count, tuple(bad_lines.examples), facts, misplaced_gold, left_out
    )


def _link(
    join: Join, writer: CorpusWriter, options: LinkOptions, *, workers: int, progress: Progress
) -> int:
    """Link all articles, in order, on several processes; give the number of misplaced gold."""
    linked = misplaced = 0
    batches = join.rows(_DOCUMENTS_AT_ONCE)
    for result in _in_order(batches, options, workers):
        for split, part in result.items():
            writer.add(split, pa.ipc.open_stream(part.table).read_all(), part.statistics)
            linked += part.statistics.documents
            misplaced += part.misplaced_gold
        progress("linking articles", linked)
    return misplaced


@dataclass(frozen=True)
class _Part:
    """The linked documents of one split in one batch, on their way back from a worker."""

    table: bytes
    statistics: SplitStatistics
    misplaced_gold: int


def _in_order(
    batches: Iterator[pa.RecordBatch], options: LinkOptions, workers: int
) -> Iterator[dict[str, _Part]]:
    """Link batches on all workers with few in flight, giving the results in their order."""
    if workers == 1:
        for batch in batches:
            yield _link_batch(_to_bytes(batch), options)
        return
    # A new interpreter for each worker: forking a process that runs a database is not safe.
    context = multiprocessing.get_context("spawn")
    pool: Executor
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker) as pool:
        waiting: deque[Future[dict[str, _Part]]] = deque()
        try:
            for batch in batches:
                with _ctrl_c_held_back():
                    waiting.append(pool.submit(_link_batch, _to_bytes(batch), options))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise LrlmError(
                "a worker process died while linking (out of memory?); try --workers 1"
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


def _start_worker() -> None:
    """Leave Ctrl-C to the main process, and end with it, even when it is killed."""
    gc.disable()  # documents hold no cycles, and looking for them takes a quarter of the time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _to_bytes(table: pa.RecordBatch | pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write(table)
    return bytes(sink.getvalue())


def _link_batch(batch: bytes, options: LinkOptions) -> dict[str, _Part]:
    by_split: dict[str, list[LinkedDocument]] = {}
    misplaced: dict[str, int] = {}
    for row in pa.ipc.open_stream(batch).read_all().to_pylist():
        split = SPLITS[row["split"]]
        document, misplaced_here = link_article(row, options)
        by_split.setdefault(split, []).append(document)
        misplaced[split] = misplaced.get(split, 0) + misplaced_here
    return {
        split: _Part(
            _to_bytes(to_table(documents)), SplitStatistics.of(documents), misplaced[split]
        )
        for split, documents in by_split.items()
    }


def link_article(row: Mapping[str, Any], options: LinkOptions) -> tuple[LinkedDocument, int]:
    """Make a linked document of an article and its topic's star, as the join gives them."""
    names = [*(row["names"] or ()), row["title"]]
    relations = [
        Relation(
            relation["type"],
            relation["object"],
            literal_forms(relation["object"]) if relation["literal"] else relation["forms"],
        )
        for relation in row["relations"] or ()
    ]
    linkable = linkable_relations(Topic(row["topic"], names, relations), options)
    tokens = tokenise(row["text"], options.profile)
    gold, misplaced = _place_gold(row["gold"], tokens, linkable)
    document = LinkedDocument(
        id=row["id"],
        topic=row["topic"],
        title=row["title"],
        text=row["text"],
        tokens=tokens,
        relations=linkable,
        mentions=tuple(Matcher(linkable).find(tokens.words)),
        gold=gold,
    )
    return document, misplaced


def _place_gold(
    gold: str | None, tokens: Tokens, relations: Sequence[LinkableRelation]
) -> tuple[tuple[GoldMention, ...] | None, int]:
    """Turn character offsets into tokens; a mention that cuts through a token is misplaced.

    Where only the object is known, the type is that of the one relation that leads to it.
    """
    if gold is None:
        return None, 0
    first = {start: index for index, start in enumerate(tokens.starts)}
    last = {end: index + 1 for index, end in enumerate(tokens.ends)}
    types: dict[str, list[str]] = {}
    for relation in relations:
        types.setdefault(relation.object, []).append(relation.type)
    placed = []
    mentions = json.loads(gold)
    for mention in mentions:
        type_, object_ = mention.get("type"), mention.get("object")
        if type_ is None and len(leading := types.get(object_, [])) == 1:
            type_ = leading[0]
        if mention["start"] in first and mention["end"] in last:
            span = first[mention["start"]], last[mention["end"]]
            placed.append(GoldMention(*span, type_, object_))
    placed.sort(key=lambda gold: (gold.start, gold.end, gold.type or "", gold.object or ""))
    return tuple(placed), len(mentions) - len(placed)
