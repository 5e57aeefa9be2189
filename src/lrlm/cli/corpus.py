"""`lrlm corpus`: make linked corpora and look at them."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import errors, output, progress_of
from lrlm.corpora import LetterCase, LinkOptions
from lrlm.corpora.build import BuildInputs, BuildReport, build_corpus
from lrlm.corpora.corpus import SPLITS, Corpus
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.errors import InputError
from lrlm.report.corpus_views import article_view, corpus_table
from lrlm.text import Profile

app = typer.Typer(no_args_is_help=True, help="Make linked corpora and look at them.")

Out = Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a corpus that is there.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes to use.", show_default="all cores")]
CorpusFolder = Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder.")]


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.command(
    epilog="Example: lrlm corpus build --out corpus --graph wikidata --train train.jsonl.gz"
    " --valid valid.jsonl.gz --test test.jsonl.gz"
)
def build(
    out: Out,
    graph: Annotated[
        Path | None, typer.Option(help="A knowledge graph made with 'lrlm kg build'.")
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a graph: facts, a line each: subject, relation, object"
            " \\[, entity|literal], by tabs."
        ),
    ] = None,
    forms: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a graph: names, a line each: entity, form, by a tab; the first is"
            " canonical."
        ),
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Articles to train on, JSON lines.")] = None,
    valid: Annotated[Path | None, typer.Option(help="Articles to validate on.")] = None,
    test: Annotated[Path | None, typer.Option(help="Articles to test on.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take the first N articles of each split.")
    ] = None,
    tokens: Annotated[
        Profile | None,
        typer.Option(help="How texts are cut into tokens.", show_default="found from the texts"),
    ] = None,
    letter_case: Annotated[
        LetterCase, typer.Option(help="Copy forms as given, or also in other letter case.")
    ] = LetterCase.EXACT,
    stop_words: Annotated[
        bool, typer.Option("--stop-words", help="Let a lone 'the' be a mention.")
    ] = False,
    max_bad: Annotated[
        float, typer.Option(min=0, max=0.999, help="Share of a file's lines that may be bad.")
    ] = 0.001,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Link articles with a knowledge graph.

    Files may be plain, gzip, bzip2 or xz. An article is a JSON object a line with the fields id
    and text, and optionally topic (else the id), title and gold.
    """
    given = dict(zip(SPLITS, (train, valid, test), strict=True))
    articles = {split: path for split, path in given.items() if path is not None}
    if not articles:
        raise InputError("there are no articles: give at least one of --train, --valid, --test")
    start = time.perf_counter()
    with progress_of("articles") as progress:
        report = build_corpus(
            out,
            BuildInputs(triples, forms, articles, graph),
            profile=tokens,
            options=LinkOptions(letter_case=letter_case, stop_words=stop_words),
            limit=limit,
            max_bad=max_bad,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
    tell_build(report, time.perf_counter() - start)


@app.command(epilog="Example: lrlm corpus miniworld --out miniworld")
def miniworld(
    out: Out,
    seed: Annotated[int, typer.Option(help="Another seed writes other articles.")] = 1,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Make the embedded corpus: true facts, generated articles, known mentions."""
    start = time.perf_counter()
    with progress_of("articles") as progress:
        report = build_miniworld(
            out, seed=seed, workers=workers, overwrite=overwrite, progress=progress
        )
    tell_build(report, time.perf_counter() - start)


@app.command(epilog="Example: lrlm corpus stats miniworld")
def stats(
    folder: CorpusFolder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the paper's table of dataset statistics for each split."""
    corpus = Corpus(folder)
    if as_json:
        figures = {split: corpus.statistics(split) for split in corpus.splits}
        output.print_json(json.dumps(figures))
    else:
        output.print(corpus_table(corpus))


@app.command(epilog="Example: lrlm corpus show miniworld France.1")
def show(
    folder: CorpusFolder,
    article: Annotated[
        str | None, typer.Argument(help="An article's id; without it, the first ones are shown.")
    ] = None,
    split: Annotated[str, typer.Option(help="Where the first articles are taken from.")] = "train",
    number: Annotated[int, typer.Option("-n", min=1, help="How many articles to show.")] = 3,
) -> None:
    """Show articles with their candidate mentions in colour."""
    corpus = Corpus(folder)
    if article is not None:
        output.print(article_view(corpus.document(article)))
        return
    for _, document in zip(range(number), corpus.documents(split), strict=False):
        output.print(article_view(document))


def tell_build(report: BuildReport, seconds: float) -> None:
    """Say what was built, and what of the input could not be used."""
    for reason, count in report.left_out.items():
        if count:
            errors.print(f"left out: {count:,} {escape(reason)}", highlight=False, soft_wrap=True)
    for example in report.examples:
        errors.print(f"[yellow]skipped[/] {escape(example)}", highlight=False, soft_wrap=True)
    if report.bad_lines:
        errors.print(f"[yellow]{report.bad_lines:,} bad lines skipped[/]", highlight=False)
    nameless = report.facts["whose_object_has_no_form"]
    if nameless:
        errors.print(f"{nameless:,} facts left out: their object has no form", highlight=False)
    if report.misplaced_gold:
        errors.print(
            f"{report.misplaced_gold:,} gold mentions left out: they cut through a token",
            highlight=False,
        )
    documents = sum(
        int(report.corpus.statistics(split)["documents"]) for split in report.corpus.splits
    )
    folder = escape(str(report.corpus.folder))
    output.print(
        f"Wrote [bold]{folder}[/]: {documents:,} articles, {report.facts['used']:,} facts,"
        f" tokens as in '{report.corpus.options.profile}', in {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
