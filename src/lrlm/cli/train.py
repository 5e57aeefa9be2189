"""`lrlm train`: train a model on a corpus."""

import math
import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from lrlm.cli.console import errors, output
from lrlm.errors import InputError

if TYPE_CHECKING:
    from lrlm.training.standing import Standing

_SECONDS_BETWEEN_LINES = 30.0
"""How often progress is told where it cannot be drawn."""


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
    with _Display() as display:
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
        f" {'unknown' if best is None else f'{math.exp(best):.2f}'} after"
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


class _Display:
    """Draws a line of progress on a terminal; elsewhere, writes a plain one now and then."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(pulse_style="cyan"))
        self._drawn = Progress(
            *columns, console=errors, transient=True, disable=not errors.is_terminal
        )
        self._task = self._drawn.add_task("starting", total=None)
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __enter__(self) -> Self:
        self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._drawn.stop()

    def preparing(self, what: str, done: int, total: int) -> None:
        """Show what is being made, and how far it is."""
        self._drawn.update(
            self._task, description=escape(what), completed=done, total=total or None
        )

    def standing(self, now: "Standing") -> None:
        """Show where training is."""
        valid = "" if now.perplexity is None else f", valid {now.perplexity:.2f}"
        text = (
            f"epoch {now.epoch}: loss {now.loss:.3f}{valid}, {now.tokens_per_second:,.0f} tokens/s,"
            f" {'?' if now.seconds_left is None else _duration(now.seconds_left)} left"
        )
        if errors.is_terminal:
            self._drawn.update(self._task, description=text, completed=now.share, total=1.0)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            self.message(text)

    def message(self, text: str) -> None:
        """Write a line that stays."""
        errors.print(escape(text), highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    """Write a time as people say it: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
