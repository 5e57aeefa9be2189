"""`lrlm train`: train a model on a corpus."""

import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lrlm.cli.console import output
from lrlm.cli.training_display import TrainingDisplay
from lrlm.errors import InputError


class Model(StrEnum):
    """The models that can be trained."""

    VANILLA = "vanilla"
    ALIAS = "alias"
    NKLM = "nklm"
    LRLM = "lrlm"


class Backbone(StrEnum):
    """What a model reads with."""

    LSTM = "lstm"
    TRANSFORMER_XL = "transformer-xl"


class Size(StrEnum):
    """Complete sets of settings."""

    MINI = "mini"
    CPU = "cpu"
    PAPER = "paper"


def train(
    corpus: Annotated[
        Path | None, typer.Argument(metavar="CORPUS", help="A corpus folder.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder; it must not exist yet.")
    ] = None,
    model: Annotated[Model | None, typer.Option(help="What to train.", show_default="lrlm")] = None,
    backbone: Annotated[
        Backbone | None, typer.Option(help="What it reads with.", show_default="lstm")
    ] = None,
    size: Annotated[
        Size | None, typer.Option(help="Settings to start from.", show_default="mini")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; see --list-settings."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so many minutes of training.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was stopped.")
    ] = False,
    features_cache: Annotated[
        Path | None,
        typer.Option(help="Keep vectors and spelling models here, for other runs to use."),
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write curves for TensorBoard.")
    ] = False,
    list_settings: Annotated[
        bool, typer.Option("--list-settings", help="Show every setting with its value, and stop.")
    ] = False,
) -> None:
    """Train a model on a corpus.

    Makes the features that are missing, validates after every epoch and keeps the best weights.
    Ctrl-C saves everything; the same command with --resume goes on, to the same weights. With
    several processes: torchrun --nproc-per-node 2 -m lrlm train …
    """
    from lrlm.text import perplexity_per_word
    from lrlm.training.standing import Reporter
    from lrlm.training.train import Listeners, Wishes, list_of_settings
    from lrlm.training.train import train as run_training

    wishes = Wishes(
        None if model is None else model.value,
        None if backbone is None else backbone.value,
        None if size is None else size.value,
        tuple(settings or ()),
        minutes,
    )
    if list_settings:
        output.print(_settings_table(list_of_settings(wishes)))
        return
    if corpus is None or out is None:
        raise InputError("give a CORPUS to train on and the run's folder as --out (try --help)")
    start = time.perf_counter()
    with TrainingDisplay() as display:
        outcome = run_training(
            corpus,
            out,
            wishes,
            resume=resume,
            features_cache=features_cache,
            board=tensorboard,
            listeners=Listeners(display.preparing, Reporter(display.standing, display.message)),
        )
    if not outcome.is_first:  # of several processes, one tells
        return
    best = outcome.best_nats_per_token
    output.print(
        f"Wrote [bold]{escape(str(out))}[/]: validation perplexity"
        f" {'unknown' if best is None else f'{perplexity_per_word(best, 1):.2f}'} after"
        f" {outcome.position.updates:,} updates, in {time.perf_counter() - start:.0f} s.",
        highlight=False,
        soft_wrap=True,
    )


def _settings_table(rows: Iterable[tuple[str, str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("setting", "value", "meaning"):
        table.add_column(name, no_wrap=name != "meaning")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
