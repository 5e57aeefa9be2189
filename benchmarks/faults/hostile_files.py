"""Read small files that ask for much, or that would run something: each within bounds.

Every file is read in a process of its own, which is watched (`tests.bounded`): it may use the file
or refuse it by an `LrlmError`, with at most 1 GB of memory and 10 seconds of computing, and it may
start nothing, connect to nothing and write nothing outside of its folder.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.faults.outcome import MOST_FAILURES, Outcome
from lrlm.knowledge.sources import SourceFormat
from tests.bounded import LARGEST_PEAK, LONGEST, Trial, trials
from tests.generators import hostile_files, hostile_numbers, hostile_texts
from tests.knowledge.hostile_lines import ARTICLE, LINES

FULL = {"each": 1000, "opcodes": 4_000_000, "first": 0}
SHORT = {"each": 2, "opcodes": 400_000, "first": 5}
"""The first five kinds have tests of their own, and take long to make."""


_Files = Iterable[tuple[str, bytes]]


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Read up to `each` hostile files of every kind from the `first` on, chosen at random."""
    del folder
    chosen: dict[str, _Files] = {}
    for kind, files in list(_kinds(counts["opcodes"]).items())[counts["first"] :]:
        made = list(files)
        chosen[kind] = rng.sample(made, min(len(made), counts["each"]))
    found: dict[str, list[Trial]] = {kind: [] for kind in chosen}
    for trial in trials(chosen):
        found[trial.reader].append(trial)
    return [_outcome(kind, each) for kind, each in found.items()]


def _outcome(kind: str, found: list[Trial]) -> Outcome:
    failures = [trial.fault for trial in found if trial.fault is not None]
    seconds = max(trial.seconds for trial in found)
    peak = max(trial.peak for trial in found)
    refused = sum(trial.error == "LrlmError" for trial in found)
    return Outcome(
        f"hostile {kind}: nothing executed, nothing written outside,"
        f" at most {LARGEST_PEAK >> 30} GB and {LONGEST:.0f} s each",
        len(found),
        len(found) - len(failures),
        tuple(failures[:MOST_FAILURES]),
        f"{refused} refused; at most {peak / 2**30:.2f} GB, {seconds:.1f} s",
    )


def _kinds(opcodes: int) -> dict[str, _Files]:
    """Give hostile files by what reads them."""
    kinds: dict[str, _Files] = {
        "pickles": _pickles(opcodes),
        "pickled lists": hostile_files.repeating_pickles(),
        "tensors": hostile_files.tensor_files(),
        "archives": _archives(),
        "XML": hostile_files.xml_files(),
        "fastText": hostile_numbers.fasttext_files(),
        "safetensors": hostile_numbers.safetensors_files(),
        "names of rows": hostile_numbers.name_files(),
        "OpenKE": hostile_numbers.openke_id_files(),
        "topics": hostile_texts.topic_files(),
        "configurations": hostile_texts.configuration_files(),
        "vocabularies": hostile_texts.vocabulary_files(),
        "articles": hostile_texts.line_files(f"{ARTICLE}\n".encode()),
    }
    for format_ in (SourceFormat.TRIPLES, SourceFormat.WIKIDATA_JSON, SourceFormat.NTRIPLES):
        good = "".join(f"{line}\n" for line in LINES[format_]).encode()
        kinds[format_.value] = hostile_texts.line_files(good)
    return kinds


def _pickles(opcodes: int) -> Iterator[tuple[str, bytes]]:
    yield from hostile_files.pickles()
    yield from hostile_files.executing_pickles()
    for name, content in hostile_files.large_pickles(opcodes):
        if name not in hostile_files.HONEST:
            yield name, content


def _archives() -> Iterator[tuple[str, bytes]]:
    yield from hostile_files.tars()
    yield hostile_files.tar_of_many_files()
