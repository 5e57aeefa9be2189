"""Fit what repeated names cost generated texts, so that they repeat as much as articles do.

A text weighs e^-cost times what it does in the model for each object that it names again. How
often texts repeat at a cost is known from texts that were drawn without one: each counts by its
weight.
"""

import math
from collections.abc import Sequence

from lrlm.artifacts import write_manifest
from lrlm.corpora import Corpus
from lrlm.runs.run import REPETITION_COST, Run, read_run_manifest

LARGEST_COST = 6.0
"""In nats; at that, nearly every text that repeats something is written again."""
_STEPS = 40


def fitted_cost(repeated: Sequence[int], wanted: float) -> float:
    """Give the cost at which texts have so many repetitions on average, to two digits.

    `repeated` counts the repetitions of texts that were drawn without a cost. It is 0 where these
    have no more than is wanted.

    >>> fitted_cost([0, 1, 0, 2, 1], wanted=0.8)
    0.0
    >>> fitted_cost([0, 1], wanted=0.25)  # one text in four instead of one in two: a third of it
    1.1
    """
    if not repeated or _mean_at(repeated, 0.0) <= wanted:
        return 0.0
    low, high = 0.0, LARGEST_COST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean_at(repeated, middle) > wanted else (low, middle)
    return round(high, 2)


def _mean_at(repeated: Sequence[int], cost: float) -> float:
    weights = [math.exp(-cost * count) for count in repeated]
    total = sum(weight * count for weight, count in zip(weights, repeated, strict=True))
    return total / sum(weights)


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
