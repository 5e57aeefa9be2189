"""Read small files that ask for much, or that would run something: each within bounds.

Every file is read in a process of its own, which is watched (`tests.bounded`): it may use the file
or refuse it by an `LrlmError`, with at most 1 GB of memory and 10 seconds of computing, and it may
start nothing, connect to nothing and write nothing outside of its folder.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.faults.outcome import Outcome
from tests.bounded import LARGEST_PEAK, LONGEST, trials
from tests.generators import hostile_files, hostile_numbers, hostile_texts
from tests.knowledge.hostile_lines import ARTICLE, LINES

FULL = {"each": 1000, "opcodes": 4_000_000}
SHORT = {"each": 2, "opcodes": 400_000}

_MOST_FAILURES = 20
_Files = Iterator[tuple[str, bytes]]


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Read up to `each` hostile files of every kind, chosen at random."""
    outcomes = []
    for kind, (reader, make) in _kinds(counts["opcodes"]).items():
        files = list(make())
        chosen = rng.sample(files, min(len(files), counts["each"]))
        found = list(trials(reader, chosen))
        failures = [trial.fault for trial in found if trial.fault is not None]
        seconds = max(trial.seconds for trial in found)
        peak = max(trial.peak for trial in found)
        refused = sum(trial.error == "LrlmError" for trial in found)
        outcomes.append(
            Outcome(
                f"hostile {kind}: nothing executed, nothing written outside,"
                f" at most {LARGEST_PEAK >> 30} GB and {LONGEST:.0f} s each",
                len(found),
                len(found) - len(failures),
                tuple(failures[:_MOST_FAILURES]),
                f"{refused} refused; at most {peak / 2**30:.2f} GB, {seconds:.1f} s",
            )
        )
    return outcomes


def _kinds(opcodes: int) -> dict[str, tuple[str, Callable[[], _Files]]]:
    """Give the kinds of files, with what reads them and what makes them."""
    article = f"{ARTICLE}\n".encode()
    kinds: dict[str, tuple[str, Callable[[], _Files]]] = {
        "pickles": ("pickle", hostile_files.pickles),
        "pickles that execute": ("pickle", hostile_files.executing_pickles),
        "pickles larger than their bytes": (
            "pickle",
            lambda: hostile_files.large_pickles(opcodes),
        ),
        "pickled lists": ("pickled list", hostile_files.repeating_pickles),
        "tensors": ("tensors", hostile_files.tensor_files),
        "archives": ("tar", hostile_files.tars),
        "XML": ("xml", hostile_files.xml_files),
        "fastText": ("fastText", hostile_numbers.fasttext_files),
        "safetensors": ("safetensors", hostile_numbers.safetensors_files),
        "names of rows": ("names", hostile_numbers.name_files),
        "OpenKE": ("OpenKE", hostile_numbers.openke_id_files),
        "topics": ("topic", hostile_texts.topic_files),
        "configurations": ("configuration", hostile_texts.configuration_files),
        "vocabularies": ("vocabulary", hostile_texts.vocabulary_files),
        "articles": ("articles", lambda: hostile_texts.line_files(article)),
    }
    for format_, lines in LINES.items():
        good = "".join(f"{line}\n" for line in lines).encode()
        kinds[f"files of {format_.value}"] = (
            "knowledge",
            lambda good=good: hostile_texts.line_files(good),  # type: ignore[misc]
        )
    return kinds
