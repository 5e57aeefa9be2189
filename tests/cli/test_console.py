"""Progress and colours: what is drawn on a terminal, and what is written where there is none."""

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from lrlm.cli import console, training_display
from lrlm.cli.console import palette, progress_of
from lrlm.cli.training_display import TrainingDisplay
from lrlm.look import PASTEL, SIXTEEN


@pytest.mark.parametrize(
    ("system", "expected"), [("standard", SIXTEEN), ("256", PASTEL), ("truecolor", PASTEL)]
)
def test_colours_are_those_that_the_terminal_tells_apart(
    monkeypatch: pytest.MonkeyPatch, system: Any, expected: tuple[str, ...]
) -> None:
    terminal = Console(color_system=system, force_terminal=True, file=io.StringIO())
    monkeypatch.setattr(console, "output", terminal)
    assert palette() == expected


@pytest.mark.parametrize(
    ("unit", "shown"), [("articles", ["[left out]", "3/10", "articles"]), ("bytes", ["3/10 bytes"])]
)
def test_a_bar_is_drawn_on_a_terminal_and_nothing_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    unit: str,
    shown: list[str],
) -> None:
    with progress_of(unit) as progress:
        progress("linking", 3, 10)
    assert capsys.readouterr() == ("", "")
    terminal = Console(force_terminal=True, width=120, file=io.StringIO())
    monkeypatch.setattr(console, "errors", terminal)
    with progress_of(unit) as progress:
        progress("linking [left out]", 3, 10)
    drawn = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert all(part in drawn for part in shown)


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def standing(**values: Any) -> Any:
    common = {"epoch": 2, "share": 0.5, "loss": 1.5, "tokens_per_second": 1000.0}
    return SimpleNamespace(**common, seconds_left=3000.0, perplexity=12.345, **values)


def test_in_a_pipe_a_line_is_written_every_thirty_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with TrainingDisplay(clock=clock) as display:
        steps: list[Callable[[], None]] = [
            lambda: display.preparing("making [spelling] model", 1, 10),
            lambda: display.preparing("making [spelling] model", 3000, 10000),
            lambda: display.preparing("writing the run", 0, 0),
            lambda: display.status(standing()),
        ]
        written = []
        for step in steps:
            for later in (29, 2, 0):
                clock.now += later
                step()
            written.append(capsys.readouterr().err)
    assert written == [
        "making [spelling] model: 1 of 10\n",
        "making [spelling] model: 3,000 of 10,000\n",
        "writing the run\n",
        "epoch 2: loss 1.500, validation perplexity 12.35, 1,000 tokens/s, 50 min left\n",
    ]


def test_on_a_terminal_the_bar_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(force_terminal=True, width=120, file=io.StringIO())
    monkeypatch.setattr(training_display, "errors", terminal)
    with TrainingDisplay() as display:
        display.preparing("making [spelling] model", 3, 10)
        display.message("epoch 1: [done]")
    drawn = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "making [spelling] model: 3 of 10" in drawn
    assert "epoch 1: [done]" in drawn
