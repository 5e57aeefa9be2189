"""Try what lrlm promises when things go wrong: processes killed, disks full, files damaged.

    python -m benchmarks.faults [PART …] [--short] [--seed N] [--json FILE]

Without a part all of them are tried, at the counts that docs/reliability.md reports; that takes an
hour or two. `--short` tries each a few times. Everything happens in a temporary folder. The exit
code is 1 where a promise was not held.
"""

import argparse
import importlib
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, cast

from rich.console import Console
from rich.table import Table

from benchmarks.faults.outcome import Outcome, tell
from lrlm import __version__

PARTS = {
    "killed_training": "SIGKILL `lrlm train`, and resume it",
    "killed_torchrun": "kill one of two processes, or `torchrun`, or end it with SIGTERM",
    "full_disk": "fill the disk under each command that writes",
    "killed_builds": "SIGKILL `lrlm kg build` and `lrlm corpus build`, and run them again",
    "one_hash": "build with other numbers of workers, orders of lines, and engines",
    "damage": "flip and cut bytes of everything that lrlm writes",
    "bad_lines": "put bad lines between good ones, in every input format",
    "hostile_files": "read files that were made to do harm",
    "mutations": "mutate the input of every reader",
    "shared_model": "share one model between threads",
    "many_texts": "annotate very many texts in one process",
}
"""The modules beside this one, and what each of them does."""


class Part(Protocol):
    """What the module of a part has."""

    FULL: Mapping[str, int]
    """How often each thing is tried."""
    SHORT: Mapping[str, int]
    """The same, for a first look and for the tests."""

    def run(self, folder: Path, counts: Mapping[str, int], rng: random.Random) -> Sequence[Outcome]:
        """Try the promises of the part in a folder that is empty."""


def run_part(name: str, *, short: bool, seed: int) -> list[Outcome]:
    """Try the promises of a part; the same seed always chooses the same moments and files."""
    part = cast("Part", importlib.import_module(f"benchmarks.faults.{name}"))
    with tempfile.TemporaryDirectory(prefix=f"lrlm-{name}-") as folder:
        rng = random.Random(f"{seed}:{name}")
        return list(part.run(Path(folder), part.SHORT if short else part.FULL, rng))


def shown(rows: Sequence[tuple[str, Outcome, float]]) -> Table:
    """Lay the table out; the seconds of a part stand in its first row."""
    table = Table("promise", pad_edge=False)
    for column in ("count", "held", "seconds"):
        table.add_column(column, justify="right")
    table.add_column("note")
    before = ""
    for part, outcome, seconds in rows:
        style = "" if outcome.is_held else "bold red"
        count = f"{outcome.tried:,}" if outcome.tried else "not tried"
        spent = f"{seconds:,.0f}" if part != before else ""
        table.add_row(outcome.promise, count, f"{outcome.held:,}", spent, outcome.note, style=style)
        before = part
    return table


def machine() -> str:
    """Say where this was measured."""
    cores = os.cpu_count() or 1
    return f"lrlm {__version__}, Python {platform.python_version()}, {cores} cores"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="all of --list unless named")
    parser.add_argument("--short", action="store_true", help="try each promise a few times only")
    parser.add_argument("--seed", type=int, default=1, help="chooses moments and files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the outcomes there")
    parser.add_argument("--list", action="store_true", help="show the parts, and exit")
    options = parser.parse_args()
    if options.list:
        for name, what in PARTS.items():
            print(f"{name:16} {what}")
        return 0
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    rows: list[tuple[str, Outcome, float]] = []
    for name in options.parts or PARTS:
        print(f"{name}: {PARTS[name]}", file=sys.stderr, flush=True)
        start = time.perf_counter()
        outcomes = run_part(name, short=options.short, seed=options.seed)
        seconds = time.perf_counter() - start
        rows += [(name, outcome, seconds) for outcome in outcomes]
        tell(f"took {seconds:,.0f} s")
    console = Console()
    console.print(shown(rows))
    console.print(machine(), highlight=False)
    for part, outcome, _ in rows:
        for failure in outcome.failures:
            console.print(f"{part}: {failure}", markup=False, highlight=False, soft_wrap=True)
    if options.json is not None:
        entries = [{"part": part, "seconds": s, **asdict(outcome)} for part, outcome, s in rows]
        content = {"machine": machine(), "seed": options.seed, "outcomes": entries}
        options.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return 0 if all(outcome.is_held for _, outcome, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
