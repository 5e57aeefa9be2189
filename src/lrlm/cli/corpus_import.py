"""`lrlm corpus import`: corpora of other projects, each into the one corpus format."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lrlm.cli.console import progress_of
from lrlm.cli.corpus import Out, Overwrite, Workers, cores, tell_build
from lrlm.corpora import LetterCase, LinkOptions
from lrlm.corpora.importers import (
    DocRed,
    SplitPolicy,
    WebNlg,
    WikiFacts,
    WikiText,
    WikiTextForm,
    import_corpus,
    import_release,
)
from lrlm.corpora.importers.intake import ImportSource

app = typer.Typer(no_args_is_help=True, help="Import corpora of other projects.")

Limit = Annotated[int | None, typer.Option(min=1, help="Take the first N articles of each split.")]
MaxBad = Annotated[
    float, typer.Option(min=0, max=0.999, help="Share of the records that may be bad.")
]
Letters = Annotated[
    LetterCase, typer.Option(help="Copy forms as given, or also in other letter case.")
]
Anchors = Annotated[
    bool, typer.Option("--anchors", help="Keep links to other pages as relations of the topic.")
]


def _path(what: str) -> Any:
    return typer.Argument(metavar="PATH", help=what, show_default=False)


@app.command(epilog="Example: lrlm corpus import release wikitext.tar.bz2 --out wikitext-s")
def release(
    path: Annotated[Path, _path("An archive of the paper's authors, or its unpacked folder.")],
    out: Out,
    anchors: Anchors = False,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    overwrite: Overwrite = False,
) -> None:
    """Import an archive that the paper's authors published, with its vectors.

    Its pickles are read as plain values; one that holds a class is refused.
    """
    start = time.perf_counter()
    with progress_of("articles") as progress:
        corpus = import_release(
            out,
            path,
            anchors=anchors,
            limit=limit,
            max_bad=max_bad,
            overwrite=overwrite,
            progress=progress,
        )
    tell_build(corpus, time.perf_counter() - start)


@app.command(
    epilog="Example: lrlm corpus import wikitext wikitext-103-raw --graph wikidata"
    " --ids titles.tsv --out wikitext-s"
)
def wikitext(
    path: Annotated[Path, _path("The folder with wiki.train.raw and so on, or one of the files.")],
    out: Out,
    ids: Annotated[Path, typer.Option(help="Titles with ids, by a tab, a line each.")],
    graph: Annotated[
        Path | None, typer.Option(help="A knowledge graph made with 'lrlm kg build'.")
    ] = None,
    triples: Annotated[
        Path | None, typer.Option(help="Instead of a graph: facts, as for 'lrlm corpus build'.")
    ] = None,
    forms: Annotated[
        Path | None, typer.Option(help="Instead of a graph: names, as for 'lrlm corpus build'.")
    ] = None,
    form: Annotated[
        WikiTextForm, typer.Option(help="S: up to the first section; F: all of each article.")
    ] = WikiTextForm.S,
    letter_case: Letters = LetterCase.EXACT,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Link WikiText-103 with a graph: the paper's WikiText-S and WikiText-F."""
    source = WikiText(path, ids, form=form, graph=graph, triples=triples, forms=forms)
    _import(out, source, letter_case, limit, max_bad, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import wikifacts wikifacts.tar.gz --out wikifacts")
def wikifacts(
    path: Annotated[Path, _path("The original archive, or its unpacked folder.")],
    out: Out,
    anchors: Anchors = False,
    letter_case: Letters = LetterCase.EXACT,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import WikiFacts: film actors with facts of Freebase, split 80/10/10."""
    source = WikiFacts(path, anchors=anchors)
    _import(out, source, letter_case, limit, max_bad, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import webnlg webnlg/data --out webnlg")
def webnlg(
    path: Annotated[Path, _path("A folder of WebNLG's XML, official or enriched, or one file.")],
    out: Out,
    split: Annotated[
        SplitPolicy, typer.Option(help="Split topics anew, or keep the official splits.")
    ] = SplitPolicy.TOPIC,
    letter_case: Letters = LetterCase.EXACT,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import WebNLG: short texts that tell triples of DBpedia, with gold mentions.

    The official splits share most topics: 'official' leaves those out of training.
    """
    source = WebNlg(path, split=split)
    _import(out, source, letter_case, limit, max_bad, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import docred Re-DocRED/data --out docred")
def docred(
    path: Annotated[Path, _path("A folder of train*.json, dev*.json, test*.json, or one file.")],
    out: Out,
    names: Annotated[
        Path | None,
        typer.Option(help="What relations are called.", show_default="pid2name.json beside PATH"),
    ] = None,
    split: Annotated[
        SplitPolicy, typer.Option(help="Split topics anew, or keep the official splits.")
    ] = SplitPolicy.OFFICIAL,
    letter_case: Letters = LetterCase.EXACT,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import DocRED or Re-DocRED: Wikipedia introductions with gold mentions and relations."""
    source = DocRed(path, names=names, split=split)
    _import(out, source, letter_case, limit, max_bad, workers, overwrite)


def _import(
    out: Path,
    source: ImportSource,
    letter_case: LetterCase,
    limit: int | None,
    max_bad: float,
    workers: int,
    overwrite: bool,
) -> None:
    start = time.perf_counter()
    with progress_of("articles") as progress:
        corpus = import_corpus(
            out,
            source,
            options=LinkOptions(letter_case=letter_case),
            limit=limit,
            max_bad=max_bad,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
    tell_build(corpus, time.perf_counter() - start)
