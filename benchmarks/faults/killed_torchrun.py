"""Two processes under `torchrun`: one killed, the launcher killed, or all asked to end."""

import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults.killed_training import VARIANTS, Undisturbed, Variant, moment, undisturbed
from benchmarks.faults.outcome import Outcome, Tally
from lrlm.artifacts import verify
from lrlm.training.checkpoint import Checkpoints
from tests.processes import Started, free_port
from tests.training import tiny
from tests.training.same_run import difference

FULL = {"trials": 20}
SHORT = {"trials": 1}

HOW = ("a worker killed", "the launcher killed", "SIGTERM to the launcher")
SECONDS_TO_SAVE = 10.0
SECONDS_TO_END = 30.0


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Disturb and resume; then compare with a run of two processes that was left alone."""
    trials = counts["trials"]
    same = Tally("`torchrun` with two processes disturbed, resume: equal to the bit", trials)
    saved = Tally("SIGTERM to `torchrun`: all saved within 10 s", len(range(2, trials, len(HOW))))
    ended = Tally("nobody of `torchrun` left alive after 30 s", trials)
    corpus = tiny.write_corpus(folder)
    variant = VARIANTS[0]
    command = under_torchrun(variant, corpus, folder / "model-0")
    alone = undisturbed(command, folder, 0)
    ends: dict[str, list[float]] = {how: [] for how in HOW}
    for number in range(trials):
        how = HOW[number % len(HOW)]
        trial = Trial(how, variant, corpus, folder / f"trial-{number}", alone, rng)
        failure = trial.disturb()
        about = f"{how} {trial.moment}"
        ended.add(trial.left_alive, about)
        if trial.is_asked_to_save:
            saved.add(trial.unsaved, about)
        ends[how].append(trial.seconds)
        same.add(failure or trial.difference(), about)
    slowest = [f"{max(seconds):.1f} s after {how}" for how, seconds in ends.items() if seconds]
    return [
        same.outcome(),
        saved.outcome(),
        ended.outcome(f"the latest ended {', '.join(slowest)}"),
    ]


def under_torchrun(variant: Variant, corpus: Path, out: Path) -> list[str]:
    """Give the command that trains with two processes of this machine."""
    _, *arguments = variant.command(corpus, out)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
    return [sys.executable, *launcher, "--master-port", str(free_port()), *arguments]


class Trial:
    """One run of two processes that is disturbed once."""

    def __init__(
        self,
        how: str,
        variant: Variant,
        corpus: Path,
        out: Path,
        undisturbed: Undisturbed,
        rng: random.Random,
    ) -> None:
        self._how, self._out, self._undisturbed, self._rng = how, out, undisturbed, rng
        self._logs = out.parent / "logs"
        self._variant, self._corpus = variant, corpus
        self.moment = ""
        self.seconds = 0.0
        self.left_alive: str | None = None
        self.unsaved: str | None = None
        self.is_asked_to_save = False

    def disturb(self) -> str | None:
        """Train until the moment comes, strike, and see who is left; say what went wrong."""
        while True:
            shutil.rmtree(self._out, ignore_errors=True)  # of one that ended before its moment
            command = under_torchrun(self._variant, self._corpus, self._out)
            self.moment, has_come = moment(self._out, self._undisturbed, self._rng)
            with Started(command, self._logs) as started:
                if started.wait_until(has_come):
                    self._disturb(started)
                    return None
                if started.process.poll() != 0:
                    return f"ended by itself or got stuck: {started.errors}"

    def _disturb(self, started: Started) -> None:
        before = self._updates_logged()
        workers = [pid for pid in started.alive() if pid != started.process.pid]
        if self._how == HOW[0] and not workers:
            self.moment += " (the launcher, for there was no worker yet)"
        self._strike(started.process.pid, workers)
        seconds = started.seconds_until_nobody_is_left(at_most=SECONDS_TO_END)
        if seconds is None:
            self.left_alive = f"{started.alive()} still run after {SECONDS_TO_END:.0f} s"
        self.seconds = SECONDS_TO_END if seconds is None else seconds
        if self._how == HOW[2] and before > 0:
            self.is_asked_to_save = True
            saved = self._updates_saved()
            if self.seconds > SECONDS_TO_SAVE:
                self.unsaved = f"took {self.seconds:.1f} s"
            elif saved < before:
                self.unsaved = f"only {saved} of {before} updates are saved: {started.errors}"

    def _strike(self, launcher: int, workers: list[int]) -> None:
        if self._how == HOW[2]:
            os.kill(launcher, signal.SIGTERM)
        else:
            is_launcher = self._how == HOW[1] or not workers
            os.kill(launcher if is_launcher else self._rng.choice(workers), signal.SIGKILL)

    def difference(self) -> str | None:
        """Resume to the end, and say what is not as it should be."""
        command = under_torchrun(self._variant, self._corpus, self._out)
        with Started(command, self._logs) as last:
            last.process.wait()
            if last.process.returncode:
                return f"cannot be resumed: {last.errors}"
        damaged = verify(self._out).damaged
        return damaged[0] if damaged else difference(self._undisturbed.folder, self._out)

    def _updates_logged(self) -> int:
        """Count the updates that were certainly made; the last line may be half-written."""
        path = self._out / "metrics.jsonl"
        *lines, _ = path.read_text().split("\n") if path.exists() else [""]
        return int(json.loads(lines[-1])["update"]) if lines else 0

    def _updates_saved(self) -> int:
        checkpoint = Checkpoints(self._out / "checkpoints").read()
        return 0 if checkpoint is None else int(checkpoint.state["position"]["updates"])
