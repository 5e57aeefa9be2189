"""SIGKILL builds of graphs and corpora: run again, they give the bytes of a clean build."""

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.faults.outcome import Outcome, Tally
from tests.corpora import small_world
from tests.corpora.small_world import digests
from tests.generators.wikidata import World
from tests.processes import Started, lrlm_command

FULL = {"graph": 30, "corpus": 30}
SHORT = {"graph": 1, "corpus": 1}

MOST_KILLS = 2
WORKERS = (1, 2)

Build = Callable[[Path, int], list[str]]
"""Gives the command that builds into a folder with so many workers."""


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Kill builds at random moments and run them again."""
    inputs = folder / "inputs"
    inputs.mkdir()
    builds = {"graph": ("kg", graph_build(inputs)), "corpus": ("corpus", corpus_build(inputs))}
    outcomes = []
    for name, (command, build) in builds.items():
        (folder / name).mkdir()
        promise = (
            f"SIGKILL `lrlm {command} build`, run again: the bytes of a clean build, nobody left"
        )
        trials = Trials(build, folder / name, rng)
        tally = Tally(promise, counts[name])
        for number in range(counts[name]):
            failure = trials.failure(number)
            tally.add(failure, f"killed {', '.join(trials.moments)}")
        outcomes.append(
            tally.outcome(
                f"{len(trials.seconds_to_end)} kills; everybody had ended"
                f" {max(trials.seconds_to_end, default=0):.1f} s after each at the latest"
            )
        )
    return outcomes


def graph_build(folder: Path) -> Build:
    """Write sources of several formats, so that there are several parts to be caught in."""
    world = World(1200, languages=("en", "de"))
    names, facts = folder / "names.tsv", folder / "facts.tsv"
    names.write_text("".join(f"Q{n}\tname number {n}\n" for n in range(20_000)))
    facts.write_text("".join(f"Q{n}\tP{n % 7}\tQ{n * 7 % 20_000}\n" for n in range(60_000)))
    sources = [
        str(world.write_json(folder / "world.json.bz2")),
        str(world.write_ntriples(folder / "world.nt.gz")),
        str(names),
        str(facts),
    ]

    def command(out: Path, workers: int) -> list[str]:
        options = ["--out", str(out), "--workers", str(workers)]
        return lrlm_command("kg", "build", *sources, *options)

    return command


def corpus_build(folder: Path) -> Build:
    """Write articles and the facts that they are linked with."""
    inputs = small_world.write_large(folder / "large", 4000)

    def command(out: Path, workers: int) -> list[str]:
        return lrlm_command(*small_world.as_arguments(inputs, out), "--workers", str(workers))

    return command


class Trials:
    """Builds that are killed, beside a clean one."""

    def __init__(self, build: Build, folder: Path, rng: random.Random) -> None:
        self._build, self._folder, self._rng = build, folder, rng
        self._most_bytes = 1
        (folder / "clean").mkdir()
        start = time.monotonic()
        with Started(build(folder / "clean" / "out", 1), folder / "logs") as started:
            started.wait_until(lambda: self._note_bytes(folder / "clean"))
            started.process.wait()
            if started.process.returncode:
                raise RuntimeError(f"the clean build failed: {started.errors}")
        self._seconds = time.monotonic() - start
        self._clean = digests(folder / "clean" / "out")
        self.moments: list[str] = []
        self.seconds_to_end: list[float] = []

    def _note_bytes(self, home: Path) -> bool:
        """Note how much there is at most before a build is done; it is never said to have come."""
        self._most_bytes = max(self._most_bytes, unfinished_bytes(home))
        time.sleep(0.02)
        return False

    def failure(self, number: int) -> str | None:
        """Kill a build once or twice, run it again, and say what is not as it should be."""
        home = self._folder / f"trial-{number}"
        home.mkdir()
        out = home / "out"
        self.moments = []
        for _ in range(self._rng.randint(1, MOST_KILLS)):
            fault = self._kill(out)
            if fault is not None:
                return fault
        with Started(self._build(out, self._rng.choice(WORKERS)), self._folder / "logs") as again:
            again.process.wait()
            if again.process.returncode:
                return f"cannot be run again: {again.errors}"
        names = sorted(path.name for path in home.iterdir())
        if names != ["out"]:
            return f"it leaves {names}"
        return None if digests(out) == self._clean else "other bytes than those of a clean build"

    def _kill(self, out: Path) -> str | None:
        """Kill a build that is under way; one that ends before its moment is tried once more."""
        while True:
            name, has_come = self._moment(out.parent)
            workers = self._rng.choice(WORKERS)
            with Started(self._build(out, workers), self._folder / "logs") as started:
                has_been_caught = started.wait_until(has_come)
                if has_been_caught and not out.exists():
                    started.process.kill()
                    seconds = started.seconds_until_nobody_is_left()
                    if seconds is None:
                        return f"{started.alive()} outlive a kill {name}"
                    self.moments.append(f"{name}, {workers} workers")
                    self.seconds_to_end.append(seconds)
                    return None
                started.process.wait()
                if started.process.returncode:
                    return f"ended by itself: {started.errors}"
            for path in out.iterdir():
                path.unlink()
            out.rmdir()

    def _moment(self, home: Path) -> tuple[str, Callable[[], bool]]:
        """Choose when to strike: after some time, or once so much has been written."""
        after = self._rng.uniform(0, self._seconds)
        if self._rng.random() < 0.5:
            end = time.monotonic() + after
            return f"after {after:.2f} s", lambda: time.monotonic() >= end
        least = self._rng.randint(1, self._most_bytes)
        return f"after {least:,} bytes", lambda: unfinished_bytes(home) >= least


def unfinished_bytes(home: Path) -> int:
    """Count the bytes of all files that are not in their place yet."""
    total = 0
    for hidden in home.glob(".*"):
        for path in hidden.rglob("*"):
            try:
                total += path.stat().st_size
            except OSError:  # removed just now
                continue
    return total
