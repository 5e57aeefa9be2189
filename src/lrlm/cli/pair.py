"""`lrlm pair`: fit how much a run that reads backward counts beside one that reads forward."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import output, progress_of
from lrlm.cli.options import Device
from lrlm.cli.outputs import tell_written
from lrlm.look import counted


def pair(
    forward: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run that reads forward.", show_default=False)
    ],
    backward: Annotated[
        Path,
        typer.Argument(
            metavar="BACKWARD",
            help="Run that reads backward, trained with --direction backward.",
            show_default=False,
        ),
    ],
    split: Annotated[str, typer.Option(help="Split of the corpus to fit on.")] = "valid",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Corpus to fit on.",
            show_default="the training corpus, if it is here or beside the run",
        ),
    ] = None,
    documents: Annotated[
        int, typer.Option(metavar="N", min=1, help="Fit on the first N documents of the split.")
    ] = 300,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals",
            help="Let facts compete with others of the same object, also where the corpus has gold"
            " mentions: for texts that may state facts which are not known.",
        ),
    ] = False,
    device: Device = "auto",
) -> None:
    """Fit how much a run that reads backward counts beside one that reads forward.

    The weight is the one under which the true sources of names are the most probable: the corpus's
    gold mentions or, without them, facts that compete with others of the same object. It is kept in
    the folder of the backward run, where every command with --backward looks for it.
    """
    from lrlm.evaluation.pair_fitting import fit_pair
    from lrlm.runs.pairs import PARTNER

    with progress_of("documents") as progress:
        fit = fit_pair(
            forward,
            backward,
            corpus=corpus,
            split=split,
            documents=documents,
            rivals=rivals,
            device=device,
            progress=progress,
        )
    output.print(
        f"The backward run counts [bold]{fit.weight:g}[/]: the true source of"
        f" {counted(fit.places, 'candidate span')} ({escape(fit.criterion)}) costs"
        f" {fit.nats_forward:.4f} nats forward, {fit.nats_backward:.4f} backward,"
        f" {fit.nats_pair:.4f} together.",
        highlight=False,
        soft_wrap=True,
    )
    tell_written(backward / PARTNER)
