"""Fit what repeated names cost generated texts, so that they repeat as much as articles do."""

from collections.abc import Callable

from lrlm.artifacts import write_manifest
from lrlm.corpora import Corpus
from lrlm.runs.run import REPETITION_COST, Run, read_run_manifest

LARGEST_COST = 4.0
"""In nats; at that, one in fifty sentences that repeat a name is kept."""
_STEPS = 6


def fitted_cost(repeated_at: Callable[[float], float], wanted: float) -> float:
    """Give the cost at which texts have so many repetitions on average, within 0.1 nats.

    `repeated_at` writes texts at a cost and counts. It is 0 where texts that cost nothing have no
    more than is wanted.

    >>> fitted_cost(lambda cost: 1.2 - cost, wanted=1.5)
    0.0
    >>> fitted_cost(lambda cost: 1.2 - cost, wanted=0.4)
    0.8
    """
    if repeated_at(0.0) <= wanted:
        return 0.0
    low, high = 0.0, LARGEST_COST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if repeated_at(middle) > wanted else (low, middle)
    return round(high, 1)


def save_repetition_cost(run: Run, cost: float, corpus: Corpus, split: str) -> None:
    """Keep the cost in the manifest of a run, and what it was fitted on."""
    fitted_on = {
        "corpus": corpus.folder.resolve().name,
        "fingerprint": corpus.fingerprint,
        "split": split,
    }
    manifest = read_run_manifest(run.folder)
    kept = {REPETITION_COST: cost, f"{REPETITION_COST}_fitted_on": fitted_on}
    write_manifest(run.folder, **{**manifest, **kept})
