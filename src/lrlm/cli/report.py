"""`lrlm report`: one page about trained models, to read, to show and to print."""

from pathlib import Path
from typing import Annotated

import typer

from lrlm.cli.console import progress_of
from lrlm.cli.options import Device
from lrlm.cli.outputs import tell_written


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run folders, made with 'lrlm train'.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder to create for the page and its numbers.")
    ],
    split: Annotated[str, typer.Option(help="Split of the corpus to evaluate on.")] = "test",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Corpus to evaluate on.",
            show_default="the training corpus, if it is here or beside the run",
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Evaluate on the first N documents of the split only.",
            show_default="all of them",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default="tells what is compared")
    ] = None,
    topics: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Topics about which texts are written, to read side by side."
        ),
    ] = 3,
    mentions: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Topics about which texts are written, to count names in them."
        ),
    ] = 10,
    seed: Annotated[int, typer.Option(help="The same number gives the same texts.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the report if there is one already.")
    ] = False,
    device: Device = "auto",
) -> None:
    """Write one page about trained models: tables, figures, samples, annotated examples.

    The page needs no network and no other file. It is made for one run and for several, whatever
    their models, backbones and tokens are.
    """
    from lrlm.report.writing import write_report

    with progress_of("documents") as progress:
        page = write_report(
            runs,
            out,
            split=split,
            corpus=corpus,
            documents=documents,
            title=title,
            topics=topics,
            mentions=mentions,
            seed=seed,
            device=device,
            overwrite=overwrite,
            progress=progress,
        )
    tell_written(page)
