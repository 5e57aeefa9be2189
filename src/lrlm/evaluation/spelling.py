"""A window in, what spelling each of its unknown words costs out, in the three ways to count it.

Shapes: B rows, T tokens.
"""

import math
from collections.abc import Iterable
from enum import StrEnum

import torch
from torch import Tensor

from lrlm.batching import Window
from lrlm.corpora.corpus import Corpus
from lrlm.text import Vocabulary
from lrlm.training.data import unknown_words


class Spelling(StrEnum):
    """What an unknown word costs on top of `<unk>`."""

    OPEN = "open"
    """Its spelling under the run's character model: open-vocabulary perplexity."""
    UPP = "upp"
    """log |V_out|: every unknown word of the corpus is as likely as every other."""
    ORACLE = "oracle"
    """Nothing: somebody spells it for us."""


def log_probs(window: Window, spelling: Spelling, *, unknown_id: int, unknown_words: int) -> Tensor:
    """Give the log-probability of each token's spelling, 0 where the word is known: (B, T)."""
    if spelling is Spelling.OPEN:
        return window.spelling_BT
    if spelling is Spelling.ORACLE:
        return torch.zeros_like(window.spelling_BT)
    is_unknown_BT = window.targets_BT == unknown_id
    return is_unknown_BT.double() * -math.log(max(unknown_words, 1))


def words_outside(
    corpus: Corpus, vocabulary: Vocabulary, splits: Iterable[str] | None = None
) -> set[str]:
    """List V_out: the distinct words of the corpus, in all of its splits, that have no id."""
    found: set[str] = set()
    for split in corpus.splits if splits is None else splits:
        found |= unknown_words(corpus, vocabulary, split)
    return found
