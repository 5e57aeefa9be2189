"""`lrlm corpus import`: convert corpora of other projects."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lrlm.cli.console import progress_of
from lrlm.cli.corpus import Letters, Limit, Out, Overwrite, tell_build
from lrlm.cli.options import MaxBad, MaxUnknown, NameRules, Workers, cores, name_rules_given
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
from lrlm.knowledge.doubts import MAX_UNKNOWN

app = typer.Typer(
    no_args_is_help=True,
    help="Convert corpora of other projects.",
    epilog="Example: lrlm corpus import webnlg webnlg/data --out webnlg",
)

Anchors = Annotated[
    bool, typer.Option("--anchors", help="Use links to other pages as relations of the topic too.")
]


def _path(what: str) -> Any:
    return typer.Argument(metavar="PATH", help=what, show_default=False)


@app.command(epilog="Example: lrlm corpus import release wikitext.tar.bz2 --out wikitext-s")
def release(
    path: Annotated[
        Path, _path("Archive published by the paper's authors, or its unpacked folder.")
    ],
    out: Out,
    anchors: Anchors = False,
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    overwrite: Overwrite = False,
) -> None:
    """Import an archive that the paper's authors published, with its vectors.

    Pickles in it are read without executing them; one that would load code is refused.
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
    path: Annotated[Path, _path("Folder with wiki.train.raw and so on, or one of these files.")],
    out: Out,
    ids: Annotated[Path, typer.Option(help="Tab-separated file of article titles and entity ids.")],
    graph: Annotated[
        Path | None, typer.Option(help="Knowledge graph to link with, made with 'lrlm kg build'.")
    ] = None,
    triples: Annotated[
        Path | None, typer.Option(help="Instead of --graph: facts, as for 'lrlm corpus build'.")
    ] = None,
    forms: Annotated[
        Path | None, typer.Option(help="With --triples: surface forms, as for 'lrlm corpus build'.")
    ] = None,
    form: Annotated[
        WikiTextForm, typer.Option(help="S: articles up to their first section; F: full articles.")
    ] = WikiTextForm.S,
    letter_case: Letters = LetterCase.EXACT,
    name_rules: NameRules = "none",
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import WikiText-103, linked with a knowledge graph: the paper's WikiText-S or -F."""
    source = WikiText(path, ids, form=form, graph=graph, triples=triples, forms=forms)
    _import(out, source, letter_case, name_rules, limit, max_bad, max_unknown, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import wikifacts wikifacts.tar.gz --out wikifacts")
def wikifacts(
    path: Annotated[
        Path, _path("Archive published by the authors of NKLM, or its unpacked folder.")
    ],
    out: Out,
    anchors: Anchors = False,
    letter_case: Letters = LetterCase.EXACT,
    name_rules: NameRules = "none",
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import WikiFacts: film actors with facts of Freebase, split 80/10/10."""
    source = WikiFacts(path, anchors=anchors)
    _import(out, source, letter_case, name_rules, limit, max_bad, max_unknown, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import webnlg webnlg/data --out webnlg")
def webnlg(
    path: Annotated[
        Path, _path("Folder of WebNLG's XML files, official or enriched, or one such file.")
    ],
    out: Out,
    split: Annotated[
        SplitPolicy,
        typer.Option(help="topic: new splits that share no topic; official: the published ones."),
    ] = SplitPolicy.TOPIC,
    letter_case: Letters = LetterCase.FORGIVING,
    name_rules: NameRules = "everyday",
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import WebNLG: short texts that express triples of DBpedia, with gold mentions.

    The official splits share most topics; --split official leaves those out of training.
    """
    source = WebNlg(path, split=split)
    _import(out, source, letter_case, name_rules, limit, max_bad, max_unknown, workers, overwrite)


@app.command(epilog="Example: lrlm corpus import docred Re-DocRED/data --out docred")
def docred(
    path: Annotated[
        Path, _path("Folder of train*.json, dev*.json and test*.json, or one such file.")
    ],
    out: Out,
    names: Annotated[
        Path | None,
        typer.Option(
            help="JSON file with the names of the relation types.",
            show_default="pid2name.json beside PATH",
        ),
    ] = None,
    split: Annotated[
        SplitPolicy,
        typer.Option(help="topic: new splits that share no topic; official: the published ones."),
    ] = SplitPolicy.OFFICIAL,
    letter_case: Letters = LetterCase.EXACT,
    name_rules: NameRules = "none",
    limit: Limit = None,
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    workers: Workers = cores(),  # noqa: B008
    overwrite: Overwrite = False,
) -> None:
    """Import DocRED or Re-DocRED: Wikipedia introductions with gold mentions and relations."""
    source = DocRed(path, names=names, split=split)
    _import(out, source, letter_case, name_rules, limit, max_bad, max_unknown, workers, overwrite)


def _import(
    out: Path,
    source: ImportSource,
    letter_case: LetterCase,
    name_rules: str,
    limit: int | None,
    max_bad: float,
    max_unknown: float,
    workers: int,
    overwrite: bool,
) -> None:
    start = time.perf_counter()
    with progress_of("articles") as progress:
        corpus = import_corpus(
            out,
            source,
            options=LinkOptions(letter_case=letter_case).changed(
                name_rules=name_rules_given(name_rules)
            ),
            limit=limit,
            max_bad=max_bad,
            max_unknown=max_unknown,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
    tell_build(corpus, time.perf_counter() - start)
