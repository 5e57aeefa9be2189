"""Flip or cut bytes of every kind of file that lrlm writes: it is told before anything is used.

Told means twice: `lrlm verify` names the file, and whatever opens the folder refuses it.
"""

import random
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults.outcome import MOST_FAILURES, Outcome
from tests.damage import KINDS, MADE, folders, made_folders, untold

FULL = {"each": 300}
SHORT = {"each": 14}


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Damage so many files of each kind of folder."""
    whole = folders(folder / "whole")
    whole |= made_folders(folder / "whole")
    outcomes = []
    for kind in (*KINDS, *MADE):
        silent = untold(folder, kind, whole[kind.name], counts["each"], rng)
        outcomes.append(
            Outcome(
                f"bytes flipped or cut in {kind.title}: told before use",
                counts["each"],
                counts["each"] - len(silent),
                tuple(silent[:MOST_FAILURES]),
            )
        )
    return outcomes
