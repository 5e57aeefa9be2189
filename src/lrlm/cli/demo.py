"""`lrlm demo`: the whole story on the embedded corpus."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lrlm.artifacts import read_manifest, write_manifest
from lrlm.cli.console import output, palette, progress_of
from lrlm.cli.options import cores
from lrlm.cli.training_display import TrainingDisplay
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.errors import MissingExtraError
from lrlm.report.corpus_views import article_view, corpus_sheet
from lrlm.report.sheet import to_terminal

if TYPE_CHECKING:
    from lrlm.evaluation.results import Evaluation

FORMAT = "lrlm demo"
VERSION = 1
MODELS = ("vanilla", "nklm", "lrlm")
"""What is compared, as in the paper's main table."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the corpus and the runs.")] = Path("demo"),
    epochs: Annotated[
        int,
        typer.Option(min=0, help="Number of training epochs; 0 only builds and shows the corpus."),
    ] = 3,
    pretrained: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Instead, put the lattice on this pretrained language model (a folder, a GGUF file"
            " or a hub id) and compare it with the models of an earlier demo.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="Minutes for the heads of a pretrained language model.")
    ] = 4.0,
) -> None:
    """Build the corpus that comes with lrlm, train three models on it and compare them.

    At the end a page tells what came out: report/index.html in the folder.
    """
    start = time.perf_counter()
    _prepare(out)
    if pretrained is not None:
        from lrlm.cli.demo_pretrained import show_pretrained

        show_pretrained(_corpus(out), out, pretrained, minutes)
        _tell_minutes(start)
        return
    with progress_of("articles") as progress:
        corpus = build_miniworld(out / "corpus", workers=cores(), overwrite=True, progress=progress)
    folder = escape(str(corpus.folder))
    output.print(to_terminal(corpus_sheet(corpus)))
    output.print()
    output.print(article_view(next(corpus.documents("test")), palette=palette()))
    output.print(
        f"Built [bold]{folder}[/] in {time.perf_counter() - start:.1f} s. To see more articles:"
        f" lrlm corpus show {folder}",
        highlight=False,
        soft_wrap=True,
    )
    if epochs:
        _train_and_compare(corpus, out, epochs)
        _tell_minutes(start)


def _tell_minutes(start: float) -> None:
    seconds = time.perf_counter() - start
    output.print(f"All of it took {seconds / 60:.1f} minutes.", highlight=False)


def _corpus(out: Path) -> Corpus:
    """Open the corpus of an earlier demo, or build it."""
    if (out / "corpus").exists():
        return Corpus.open(out / "corpus")
    with progress_of("articles") as progress:
        return build_miniworld(out / "corpus", workers=cores(), progress=progress)


def _prepare(out: Path) -> None:
    """Make the folder; one that is there must be of an earlier demo, for its runs are replaced."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        read_manifest(out, format=FORMAT, version=VERSION, hint="choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    write_manifest(out, format=FORMAT, version=VERSION)


def _train_and_compare(corpus: Corpus, out: Path, epochs: int) -> None:
    # Here, for the libraries behind it take seconds to load.
    from lrlm.evaluation.side_by_side import evaluate
    from lrlm.report.evaluation_tables import evaluation_sheets
    from lrlm.runs.sizes import change
    from lrlm.training.environment import Reporter
    from lrlm.training.train import train

    runs = [out / "runs" / model for model in MODELS]
    settings = [f"training.epochs={epochs}", "training.optimiser=muon"]
    for run in runs:
        shutil.rmtree(run, ignore_errors=True)
        run.parent.mkdir(exist_ok=True)
        start = time.perf_counter()
        with TrainingDisplay() as display:
            train(
                corpus,
                run,
                model=run.name,
                backbone="lstm",
                size="mini",
                configure=lambda config: change(config, settings),
                features_cache=out / "features",
                progress=display.preparing,
                reporter=Reporter(display.status, display.message),
            )
        output.print(
            f"Trained [bold]{escape(str(run))}[/] in {time.perf_counter() - start:.0f} s.",
            highlight=False,
            soft_wrap=True,
        )
    with progress_of("documents") as progress:
        evaluation = evaluate(runs, corpus=corpus, progress=progress)
    for sheet in evaluation_sheets(evaluation):
        output.print()
        output.print(to_terminal(sheet))
    output.print()
    _report(runs, out / "report", corpus, evaluation)
    folders = " ".join(escape(str(run)) for run in runs)
    output.print(
        f"To look at what they make of texts, in a browser: lrlm serve {folders}",
        highlight=False,
        soft_wrap=True,
    )


def _report(runs: list[Path], out: Path, corpus: Corpus, evaluation: "Evaluation") -> None:
    """Write the page about what was compared; without the library that draws, say how to get it."""
    from lrlm.report.writing import write_report

    try:
        with progress_of("topics") as progress:
            page = write_report(
                runs,
                out,
                corpus=corpus,
                evaluation=evaluation,
                title="Three models of miniworld",
                overwrite=True,
                progress=progress,
            )
    except MissingExtraError as error:
        output.print(f"There is no report: {escape(str(error))}", highlight=False, soft_wrap=True)
        return
    output.print(
        f"The report is [bold]{escape(str(page))}[/]: open it in a browser.",
        highlight=False,
        soft_wrap=True,
    )
