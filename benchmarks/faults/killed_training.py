"""SIGKILL `lrlm train` at random moments: what is resumed ends as if nothing had happened."""

import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.outcome import Outcome, Tally
from lrlm.artifacts import verify
from tests.processes import Started, lrlm_command
from tests.training import tiny
from tests.training.same_run import difference, lines_of

FULL = {"trials": 50}
SHORT = {"trials": 1}

MOST_KILLS = 3
COLD = 0.2
"""Share of trials that make their features themselves, so that this may be interrupted too."""

_OFTEN = ("training.epochs=12", "training.checkpoint_minutes=0.002")
_WITHOUT_BACKBONE = tuple(each for each in tiny.SETTINGS if ".backbone." not in each)
_SMALL_TRANSFORMER = tuple(
    f"model.backbone.{name}={value}"
    for name, value in (
        ("layers", 2),
        ("heads", 2),
        ("head_size", 4),
        ("model_size", 8),
        ("feed_forward_size", 12),
        ("memory", 8),
    )
)


@dataclass(frozen=True)
class Variant:
    """A model to train, so small that it takes a second or two."""

    options: tuple[str, ...]
    settings: tuple[str, ...] = tiny.SETTINGS

    @property
    def name(self) -> str:
        """How it is called in the report."""
        return " ".join(self.options[1::2])

    def command(self, corpus: Path, out: Path, *more: str) -> list[str]:
        """Give the command that starts or resumes it."""
        changes = (*self.settings, *_OFTEN)
        options = (*self.options, "--resume", *more)
        return lrlm_command(*tiny.arguments(corpus, out, *options, changes=changes))


VARIANTS = (
    Variant(("--model", "lrlm", "--backbone", "lstm")),
    Variant(
        ("--model", "lrlm", "--backbone", "transformer-xl"),
        (*_WITHOUT_BACKBONE, *_SMALL_TRANSFORMER),
    ),
    Variant(("--model", "nklm", "--backbone", "lstm"), (*tiny.SETTINGS, "training.accumulate=2")),
    Variant(("--model", "vanilla", "--backbone", "lstm")),
)


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing happened to."""

    folder: Path
    seconds: float

    @property
    def lines(self) -> int:
        """How many lines of metrics it wrote."""
        return lines_of(self.folder)


Moment = tuple[str, Callable[[], bool]]
"""What it is called, and whether it has come."""


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Kill and resume; then compare with a run that was left alone."""
    same = Tally(
        "SIGKILL `lrlm train` at random moments, resume: equal to the bit", counts["trials"]
    )
    corpus = tiny.write_corpus(folder)
    models: dict[str, Undisturbed] = {}
    kills: list[float] = []
    for number in range(counts["trials"]):
        variant = VARIANTS[number % len(VARIANTS)]
        if variant.name not in models:
            models[variant.name] = undisturbed(
                variant.command(corpus, folder / f"model-{len(models)}"), folder, len(models)
            )
        trial = Trial(variant, corpus, folder / f"trial-{number}", models[variant.name], rng)
        same.add(trial.failure(), f"{variant.name}, killed {', '.join(trial.moments)}")
        kills += trial.seconds_to_end
    note = f"{len(kills)} kills; everybody had ended {max(kills):.1f} s after each at the latest"
    return [same.outcome(note)]


def undisturbed(command: Sequence[str], folder: Path, number: int) -> Undisturbed:
    """Train without any disturbance into `model-NUMBER`."""
    start = time.monotonic()
    with Started(command, folder / "logs") as started:
        started.process.wait()
        if started.process.returncode:
            raise RuntimeError(f"training failed undisturbed: {started.errors}")
    return Undisturbed(folder / f"model-{number}", time.monotonic() - start)


def moment(out: Path, undisturbed: Undisturbed, rng: random.Random) -> Moment:
    """Choose when to strike: after some time, after some updates, or while something is written."""
    checkpoints = out / "checkpoints"
    least = rng.randint(min(lines_of(out) + 1, undisturbed.lines), undisturbed.lines)
    after = time.monotonic() + rng.uniform(0, undisturbed.seconds)
    delay = rng.uniform(0, 0.05)
    kind = rng.choice(["time", "updates", "updates", "writing", "removing", "finishing"])

    def is_late() -> bool:
        return lines_of(out) >= least

    if kind == "time":
        seconds = after - time.monotonic()
        return f"after {seconds:.2f} s", lambda: time.monotonic() >= after
    if kind == "writing":
        return (
            f"while a checkpoint is written after {least} lines",
            lambda: is_late() and any(checkpoints.glob(".*.partial")),
        )
    if kind == "removing":
        return (
            f"while a checkpoint is removed after {least} lines",
            lambda: is_late() and any(checkpoints.glob(".*.removed")),
        )
    if kind == "finishing":
        return "at the last line", lambda: lines_of(out) >= undisturbed.lines

    def has_come() -> bool:
        if not is_late():
            return False
        time.sleep(delay)
        return True

    return f"{1000 * delay:.0f} ms after line {least}", has_come


class Trial:
    """One run that is killed some times."""

    def __init__(
        self,
        variant: Variant,
        corpus: Path,
        folder: Path,
        undisturbed: Undisturbed,
        rng: random.Random,
    ) -> None:
        self._out, self._undisturbed, self._rng = folder, undisturbed, rng
        self._logs = folder.parent / "logs"
        own = ("--features-cache", str(folder.parent / f"features-{folder.name}"))
        self._is_cold = rng.random() < COLD
        self._command = variant.command(corpus, folder, *(own if self._is_cold else ()))
        self._has_ended = False
        self.moments: list[str] = []
        self.seconds_to_end: list[float] = []

    def failure(self) -> str | None:
        """Kill at least once, resume to the end, and say what is not as it should be."""
        wanted = self._rng.randint(1, MOST_KILLS)
        while len(self.moments) < wanted:
            fault = self._kill()
            if fault is not None:
                return fault
            if self._has_ended and self.moments:
                break
        with Started(self._command, self._logs) as last:
            last.process.wait()
            if last.process.returncode:
                return f"cannot be resumed: {last.errors}"
        damaged = verify(self._out).damaged
        return damaged[0] if damaged else difference(self._undisturbed.folder, self._out)

    def _kill(self) -> str | None:
        name, has_come = moment(self._out, self._undisturbed, self._rng)
        with Started(self._command, self._logs) as started:
            if not started.wait_until(has_come):
                self._has_ended = started.process.poll() == 0
                if not self._has_ended:
                    return f"ended by itself or got stuck: {started.errors}"
                if not self.moments:  # it was never killed: once more from the beginning
                    shutil.rmtree(self._out)
                return None
            started.process.kill()
            seconds = started.seconds_until_nobody_is_left()
            if seconds is None:
                return f"somebody outlives a kill {name}"
        self.moments.append(
            name + " (making features)" * (self._is_cold and not self._out.exists())
        )
        self.seconds_to_end.append(seconds)
        return None
