"""`lrlm train`: train a language model on a corpus."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lrlm.cli.console import errors, output
from lrlm.cli.training_display import TrainingDisplay
from lrlm.errors import InputError
from lrlm.look import counted


def choices(option: str) -> list[str]:
    """List what an option of `lrlm train` may be, from the tables of the library."""
    from lrlm.backbones import BACKBONES
    from lrlm.batching import DIRECTIONS
    from lrlm.models import MODELS
    from lrlm.runs.sizes import SIZES

    tables: dict[str, Iterable[str]] = {
        "model": MODELS,
        "backbone": BACKBONES,
        "size": SIZES,
        "direction": DIRECTIONS,
    }
    return list(tables[option])


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
        str | None,
        typer.Option(
            help="Language model: the paper's (lrlm), the same with what was found since (lrlm+),"
            " or one of its baselines.",
            show_default="lrlm",
        ),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Network that encodes the text.", show_default="lstm")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="Preset of all settings: mini (minutes on two cores), cpu (some thousand articles"
            " without a GPU), paper (as in the paper).",
            show_default="mini",
        ),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(
            help="In which texts are read; a model that reads backward is a second reader beside"
            " one that reads forward.",
            show_default="forward",
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
    from lrlm.runs.settings import described
    from lrlm.runs.sizes import CHOICES, change, load_size
    from lrlm.training.environment import Reporter
    from lrlm.training.train import train as run_training

    wanted = tuple(settings or ())
    if list_settings:
        preset = load_size(size or "mini", backbone or "lstm")
        if model is not None:
            preset = replace(preset, model=preset.model.of_kind(model))
        named = {"model.direction": direction}
        chosen = [f"{key}={value}" for key, value in named.items() if value is not None]
        chosen += wanted
        output.print(_settings_table(described(change(preset, chosen), CHOICES)))
        return
    if corpus is None or out is None:
        raise InputError(
            "give a CORPUS to train on and a folder for the run with --out (try --help)"
        )
    start = time.perf_counter()
    with TrainingDisplay() as display:
        trained = run_training(
            corpus,
            out,
            model=model,
            backbone=backbone,
            size=size,
            direction=direction,
            configure=lambda config: change(config, wanted),
            minutes=minutes,
            resume=resume,
            features_cache=features_cache,
            tensorboard=tensorboard,
            progress=display.preparing,
            reporter=Reporter(display.status, display.message),
        )
    if not trained.is_first:  # of several processes, one tells
        return
    best = trained.perplexity
    output.print(
        f"Wrote [bold]{escape(str(out))}[/]: validation perplexity"
        f" {'unknown' if best is None else f'{best:.2f}'} after"
        f" {counted(trained.position.updates, 'update')}, in {time.perf_counter() - start:.0f} s.",
        highlight=False,
        soft_wrap=True,
    )
    for advice in trained.advice:
        head = "[bold yellow]Warning:[/]" if advice.is_warning else "To try next:"
        told = escape(f"{advice} (--set)" if "=" in advice.text else advice.text)
        errors.print(f"{head} {told}.", highlight=False, soft_wrap=True)


def _settings_table(rows: Iterable[tuple[str, str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("setting", "value", "meaning"):
        table.add_column(name, no_wrap=name != "meaning")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
