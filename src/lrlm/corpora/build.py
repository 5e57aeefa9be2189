"""Build a corpus: link every article with what is known about its topic, and write it to disk."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from lrlm.artifacts import new_folder
from lrlm.corpora.articles import article_from
from lrlm.corpora.corpus import Corpus, CorpusWriter
from lrlm.corpora.doubts import doubt_articles, doubt_texts
from lrlm.corpora.inputs import BuildInputs, CorpusSource, ReadSettings, fingerprints
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.name_rules import USUAL_RULES, LetterCase, choice_of, name_rules_of
from lrlm.corpora.staging import Staging, staging_in
from lrlm.corpora.workers import (
    FACTLESS_TEXTS,
    FACTS,
    MISPLACED_GOLD,
    NAMELESS,
    REPEATED,
    UNKNOWN_TOPICS,
    link_in_order,
)
from lrlm.errors import InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.doubts import MAX_UNKNOWN, Doubts
from lrlm.progress import Progress, silent
from lrlm.text import Profile, detect_profile
from lrlm.text_files import BadLineError, BadLines

Articles: TypeAlias = Path | str | Iterable[Mapping[str, Any]]
"""The articles of a split: a file of JSON lines, or dictionaries with the same fields."""

_DOCUMENTS_AT_ONCE = 512
"""Documents a worker links at a time, and a row group holds; it does not depend on the workers."""
_FIELDS = ("id", "topic", "title", "text", "gold")


def build_corpus(
    out: Path | str,
    *,
    graph: KnowledgeGraph | Path | str | None = None,
    triples: Path | str | None = None,
    forms: Path | str | None = None,
    train: Articles | None = None,
    valid: Articles | None = None,
    test: Articles | None = None,
    tokens: Profile | str | None = None,
    letter_case: LetterCase | str = LetterCase.EXACT,
    stop_words: bool = False,
    name_rules: Iterable[str] | str = USUAL_RULES,
    limit: int | None = None,
    max_bad: float = 0.001,
    max_unknown: float = MAX_UNKNOWN,
    workers: int = 1,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Link articles with a knowledge graph and write the corpus to the folder `out`.

    What is known comes from a graph (or its folder), or from two tables: `triples` with a fact a
    line (subject, relation, object and optionally entity or literal, by tabs) and `forms` with a
    name a line (entity, form; the first one is canonical). Articles are files of JSON lines with
    the fields id and text and optionally topic (else the id), title and gold; or dictionaries with
    these fields. Files may be plain, gzip, bzip2 or xz.

    `tokens` says how texts are cut ("raw", "unspaced", "wikitext", "spaces"; found from the texts
    if it is None), `letter_case` whether forms are also looked for in other letter case ("exact",
    "variants", "forgiving"), `stop_words` whether a lone "the" may be a mention, and `name_rules`
    what else may differ between a form and a text (`lrlm.corpora.NameRule`; [] for nothing).
    `limit` takes the first articles of each split, `max_bad` is the share of a file's lines that
    may be bad, and `workers` the number of processes. What became of the input is told by
    `corpus.report`.

    Knowledge that does not fit the articles is refused: if more than the share `max_unknown` of
    the articles name a topic that is not known, or that has no facts, or of the facts lead to an
    object without a name. Fewer are a `lrlm.errors.KnowledgeWarning`.

    >>> corpus = build_corpus(
    ...     "corpus/",
    ...     graph="kg/",
    ...     train="train.jsonl",
    ...     test=[{"id": "Elbe", "text": "The Elbe flows to the North Sea."}],
    ... )
    >>> corpus
    Corpus('corpus', train=2, test=1)
    >>> corpus.report.facts["used"]
    6
    """
    options = LinkOptions(
        letter_case=choice_of(LetterCase, letter_case, "letter_case"),
        stop_words=stop_words,
        name_rules=name_rules_of(name_rules),
    )
    given = {"train": train, "valid": valid, "test": test}
    with ExitStack() as scratch:
        inputs = BuildInputs(
            None if triples is None else Path(triples),
            None if forms is None else Path(forms),
            {
                split: _article_file(split, articles, scratch)
                for split, articles in given.items()
                if articles is not None
            },
            Path(graph) if isinstance(graph, str) else graph,
        )
        return build_from(
            out,
            inputs,
            profile=None if tokens is None else choice_of(Profile, tokens, "tokens"),
            options=options,
            limit=limit,
            max_bad=max_bad,
            max_unknown=max_unknown,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )


def build_from(
    out: Path | str,
    source: CorpusSource,
    *,
    profile: Profile | None = None,
    options: LinkOptions | None = None,
    limit: int | None = None,
    max_bad: float = 0.001,
    max_unknown: float = MAX_UNKNOWN,
    workers: int = 1,
    memory: str = "1GB",
    overwrite: bool = False,
    drop_shared_topics: bool = False,
    made_by: str = "lrlm corpus build",
    progress: Progress = silent,
) -> Corpus:
    """Link the articles of any source and write the corpus to `out`.

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
    bad_lines, doubts = BadLines(max_bad), Doubts(max_unknown)
    with (
        new_folder(Path(out), overwrite=overwrite) as folder,
        tempfile.TemporaryDirectory(prefix="join-", dir=folder) as scratch,
        staging_in(Path(scratch), memory=memory, threads=workers) as staging,
        CorpusWriter(folder) as writer,
    ):
        left_out = dict(source.fill(staging, ReadSettings(bad_lines, limit, progress)))
        staging.finish()
        dropped = staging.drop_shared_topics() if drop_shared_topics else None
        staging.check_articles()
        options = replace(
            options or LinkOptions(), profile=profile or detect_profile(staging.sample)
        )
        facts = staging.count_facts()
        doubt_articles(staging, facts, doubts)
        if staging.graph is not None:
            writer.type_labels = staging.graph.relation_types()
        counts = _link_all(staging, writer, options, workers=workers, progress=progress)
        doubt_texts(counts[FACTLESS_TEXTS], staging.count_articles(), doubts)
        if staging.graph is not None:
            facts = _facts_of_graph(counts)
        if counts[UNKNOWN_TOPICS]:
            left_out[UNKNOWN_TOPICS] = counts[UNKNOWN_TOPICS]
            left_out = dict(sorted(left_out.items()))
        if dropped is not None:
            left_out["articles whose topic is in a later split"] = dropped
        writer.close(
            made_by=made_by,
            options=options,
            inputs=fingerprints(source.files),
            limit=limit,
            counts={
                "bad_lines": bad_lines.count,
                "facts": facts,
                "misplaced_gold": counts[MISPLACED_GOLD],
                **({"left_out": left_out} if left_out else {}),
            },
        )
    corpus = Corpus.open(out)
    corpus.report = replace(
        corpus.report, examples=tuple(bad_lines.examples), warnings=tuple(doubts.warnings)
    )
    doubts.tell()
    return corpus


def _link_all(
    staging: Staging,
    writer: CorpusWriter,
    options: LinkOptions,
    *,
    workers: int,
    progress: Progress,
) -> Counter[str]:
    """Link all articles in order and write them; give what was counted on the way."""
    total, linked = staging.count_articles(), 0
    counts: Counter[str] = Counter()
    batches = staging.rows(_DOCUMENTS_AT_ONCE)
    for batch in link_in_order(batches, options, graph=staging.graph, workers=workers):
        for split, part in batch.parts.items():
            writer.add(split, part.documents(), part.statistics)
            linked += part.statistics.documents
        counts += batch.counts
        progress("linking articles", linked, total)
    return counts


def _facts_of_graph(counts: Counter[str]) -> dict[str, int]:
    """Say what became of the facts of a graph, as is said of facts from tables."""
    read, repeated, nameless = counts[FACTS], counts[REPEATED], counts[NAMELESS]
    return {
        "read": read,
        "repeated": repeated,
        "of_topics_without_an_article": 0,  # those are not looked at
        "whose_object_has_no_form": nameless,
        "used": read - repeated - nameless,
    }


def _article_file(split: str, articles: Articles, scratch: ExitStack) -> Path:
    """Give the file of a split's articles; those that are given in Python are written to one."""
    if isinstance(articles, str | Path):
        return Path(articles)
    folder = scratch.enter_context(tempfile.TemporaryDirectory(prefix="articles-"))
    path = Path(folder) / f"{split}.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, given in enumerate(articles):
            try:
                record = {name: given[name] for name in _FIELDS if name in given}
                article_from(record)
            except (BadLineError, TypeError) as error:
                raise InputError(f"{split}[{number}] is not an article: {error}") from None
            file.write(f"{json.dumps(record)}\n")
    return path
