"""`lrlm corpus`: build linked corpora and look at them."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import errors, output, palette, print_json, progress_of
from lrlm.cli.options import MaxBad, MaxUnknown, NameRules, Workers, cores, name_rules_given
from lrlm.cli.outputs import tell_bad_lines, tell_warnings
from lrlm.corpora import Corpus, LetterCase, build_corpus
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.corpora.workers import UNKNOWN_TOPICS
from lrlm.errors import InputError
from lrlm.knowledge.doubts import MAX_UNKNOWN
from lrlm.look import counted
from lrlm.report.corpus_views import article_view, corpus_sheet
from lrlm.report.sheet import to_terminal
from lrlm.text import Profile

app = typer.Typer(
    no_args_is_help=True,
    help="Build linked corpora and look at them.",
    epilog="Example: lrlm corpus miniworld --out miniworld",
)

Out = Annotated[Path, typer.Option(help="Folder to create for the corpus.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the corpus if the folder already holds one.")
]
CorpusFolder = Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder of a corpus.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Use only the first N articles of each split.")
]
Letters = Annotated[
    LetterCase,
    typer.Option(help="Match surface forms as they are given, or also in other letter case."),
]


@app.command(
    epilog="Example: lrlm corpus build --out corpus --graph wikidata --train train.jsonl.gz"
    " --valid valid.jsonl.gz --test test.jsonl.gz"
)
def build(
    out: Out,
    graph: Annotated[
        Path | None, typer.Option(help="Knowledge graph to link with, made with 'lrlm kg build'.")
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --graph: tab-separated file of facts: subject, relation, object and,"
            " optionally, entity or literal."
        ),
    ] = None,
    forms: Annotated[
        Path | None,
        typer.Option(
            help="With --triples: tab-separated file of surface forms: entity, form; the first"
            " form of an entity is its canonical one."
        ),
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Articles for training (JSON lines).")] = None,
    valid: Annotated[
        Path | None, typer.Option(help="Articles for validation (JSON lines).")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Articles for testing (JSON lines).")] = None,
    limit: Limit = None,
    tokens: Annotated[
        Profile | None,
        typer.Option(
            help="Tokenisation: raw for running text, unspaced for scripts without spaces (Chinese,"
            " Japanese, Thai), wikitext for WikiText's tokens, or spaces.",
            show_default="detected from the texts",
        ),
    ] = None,
    letter_case: Letters = LetterCase.EXACT,
    name_rules: NameRules = "usual",
    stop_words: Annotated[
        bool,
        typer.Option(
            "--stop-words", help="Also accept mentions that are one stop word, such as 'the'."
        ),
    ] = False,
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Build a corpus: find the names of a knowledge graph's facts in articles (entity linking).

    Files may be plain or compressed (gzip, bzip2, xz). An article is a line of JSON with the fields
    id and text and, optionally, topic (default: the id), title, and gold (known mentions).
    """
    if train is None and valid is None and test is None:
        raise InputError("there are no articles: give at least one of --train, --valid and --test")
    start = time.perf_counter()
    with progress_of("articles") as progress:
        corpus = build_corpus(
            out,
            graph=graph,
            triples=triples,
            forms=forms,
            train=train,
            valid=valid,
            test=test,
            tokens=tokens,
            letter_case=letter_case,
            name_rules=name_rules_given(name_rules),
            stop_words=stop_words,
            limit=limit,
            max_bad=max_bad,
            max_unknown=max_unknown,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
    tell_build(corpus, time.perf_counter() - start)


@app.command(epilog="Example: lrlm corpus miniworld --out miniworld")
def miniworld(
    out: Out,
    seed: Annotated[int, typer.Option(help="Random seed: another seed gives other articles.")] = 1,
    notes: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of short notes to train on besides the articles: everyday sentences, also"
            " about topics of which little is known.",
        ),
    ] = 0,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Build the corpus that comes with lrlm: true facts, generated articles, gold mentions."""
    start = time.perf_counter()
    with progress_of("articles") as progress:
        corpus = build_miniworld(
            out, seed=seed, notes=notes, workers=workers, overwrite=overwrite, progress=progress
        )
    tell_build(corpus, time.perf_counter() - start)


@app.command(epilog="Example: lrlm corpus stats miniworld")
def stats(
    folder: CorpusFolder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show statistics of each split, as in the paper's table of datasets."""
    corpus = Corpus.open(folder)
    if as_json:
        figures = {split: corpus.statistics(split) for split in corpus.splits}
        print_json(figures)
    else:
        output.print(to_terminal(corpus_sheet(corpus)))


@app.command(epilog="Example: lrlm corpus show miniworld France.1")
def show(
    folder: CorpusFolder,
    article: Annotated[
        str | None,
        typer.Argument(
            metavar="ARTICLE", help="Id of an article; without it, the first ones are shown."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Split from which the first articles are shown.")
    ] = "train",
    number: Annotated[int, typer.Option("-n", min=1, help="Number of articles.")] = 3,
) -> None:
    """Show articles with their candidate mentions in colour."""
    corpus = Corpus.open(folder)
    if article is not None:
        output.print(article_view(corpus.document(article), palette=palette()))
        return
    for _, document in zip(range(number), corpus.documents(split), strict=False):
        output.print(article_view(document, palette=palette()))


def tell_build(corpus: Corpus, seconds: float) -> None:
    """Say what was built, and what of the input could not be used."""
    report = corpus.report
    left_out = {
        **{reason: count for reason, count in report.left_out.items() if reason != UNKNOWN_TOPICS},
        "facts whose object has no surface form": report.facts["whose_object_has_no_form"],
        "gold mentions that begin or end within a token": report.misplaced_gold,
    }
    for reason, count in left_out.items():
        if count:
            errors.print(f"left out: {escape(reason)} ({count:,})", highlight=False, soft_wrap=True)
    tell_bad_lines(report.examples, report.bad_lines)
    tell_warnings(report.warnings)
    documents = sum(int(corpus.statistics(split)["documents"]) for split in corpus.splits)
    folder = escape(str(corpus.folder))
    output.print(
        f"Wrote [bold]{folder}[/]: {counted(documents, 'article')},"
        f" {counted(report.facts['used'], 'fact')}, tokenisation"
        f" '{corpus.options.profile}', in {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
