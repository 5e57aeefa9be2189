"""A table of published word probabilities in, a speller that uses them out.

A line is `word TAB natural logarithm of its probability`; `lrlm corpus import release` writes such
a table from the paper's archives.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lrlm.arrays import Floats
from lrlm.batching import Speller
from lrlm.corpora.importers.word_values import parse_word_and_value
from lrlm.reading import BadLines, read_records


class PublishedSpeller:
    """Gives words their published probabilities; those without one are spelled by another."""

    def __init__(self, published: Mapping[str, float], otherwise: Speller) -> None:
        self._published = published
        self._otherwise = otherwise

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word."""
        scores = np.array([self._published.get(word, 0.0) for word in words], dtype=np.float32)
        others = [place for place, word in enumerate(words) if word not in self._published]
        if others:
            scores[others] = self._otherwise.log_probs([words[place] for place in others])
        return scores


def read_published_words(path: Path) -> dict[str, float]:
    """Read the table; every line of it must be good, for it decides what words cost."""
    return dict(read_records(path, parse_word_and_value, BadLines(max_share=0)))
