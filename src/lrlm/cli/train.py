"""`lrlm train`: train a language model on a corpus."""

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
from lrlm.look import counted


class Model(StrEnum):
    """The models that can be trained."""

    VANILLA = "vanilla"
    ALIAS = "alias"
    NKLM = "nklm"
    LRLM = "lrlm"


class Backbone(StrEnum):
    """The networks that encode the text."""

    LSTM = "lstm"
    TRANSFORMER_XL = "transformer-xl"


class Size(StrEnum):
    """Presets of all settings."""

    MINI = "mini"
    CPU = "cpu"
    PAPER = "paper"


def train(
    corpus: Annotated[
        Path | None,
        typer.Argument(metavar="CORPUS", help="Folder of the corpus.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to create for the run: configuration, checkpoints, weights.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Model | None,
        typer.Option(
            help="Language model: the paper's (lrlm) or one of its baselines.", show_default="lrlm"
        ),
    ] = None,
    backbone: Annotated[
        Backbone | None, typer.Option(help="Network that encodes the text.", show_default="lstm")
    ] = None,
    size: Annotated[
        Size | None,
        typer.Option(
            help="Preset of all settings: mini (minutes on two cores), cpu (some thousand articles"
            " without a GPU), paper (as in the paper).",
            show_default="mini",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting of the preset, such as training.learning_rate=0.001; may be"
            " repeated. --list-settings shows them all.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Time budget for training and validation. Reading the corpus and making features"
            " are not counted.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in --out from its last checkpoint.")
    ] = False,
    features_cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps features (vectors of relations and surface forms, spelling"
            " model) for other runs.",
            show_default="lrlm/features in the user's cache folder",
        ),
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write learning curves for TensorBoard.")
    ] = False,
    list_settings: Annotated[
        bool, typer.Option("--list-settings", help="Show all settings with their values, and exit.")
    ] = False,
) -> None:
    """Train a language model on a corpus.

    Makes the features that are missing, trains, validates after every epoch, and keeps the weights
    with the lowest validation perplexity. Ctrl-C saves a checkpoint; the same command with --resume
    continues from there, to the same result. To train in several processes: torchrun
    --nproc-per-node 2 -m lrlm train …
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
        raise InputError(
            "give a CORPUS to train on and a folder for the run with --out (try --help)"
        )
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
        f" {counted(outcome.position.updates, 'update')}, in {time.perf_counter() - start:.0f} s.",
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
