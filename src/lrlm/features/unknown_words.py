"""Words outside a vocabulary in, log-probabilities of their spellings out, summing to one.

A spelling model gives probability to all words, also to those that have an id. Where only words
without one are spelled, that share would be lost: it is divided out. The text `</s>` is no word of
a vocabulary, and is spelled like any other.

    P(spelling | not in V) = P(spelling) / (1 − Σ_{v ∈ V} P(v))
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from lrlm.arrays import Floats
from lrlm.errors import InputError, LrlmError
from lrlm.features.spelling import Manner
from lrlm.text import Vocabulary

_ROUNDS = 1000


class SamplingSpeller(Protocol):
    """A distribution over all words."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's characters, end symbol included."""

    def sample(
        self, count: int, *, generator: torch.Generator, manner: Manner | None = None
    ) -> list[str]:
        """Spell words at random."""


class UnknownWordSpeller:
    """The distribution over words that a spelling model has left when those of V are taken out."""

    def __init__(
        self, speller: SamplingSpeller, vocabulary: Vocabulary, *, log_unknown: float
    ) -> None:
        """`log_unknown` is log(1 − Σ P(v)), as `log_unknown_mass` gives it."""
        self._speller = speller
        self._vocabulary = vocabulary
        self.log_unknown = log_unknown

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word, given that it is not in the vocabulary."""
        scores: Floats = self._speller.log_probs(words) - np.float32(self.log_unknown)
        return scores

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        """Spell words at random, again and again where they are in the vocabulary.

        At another temperature than 1, a word does not end where it would be one of the vocabulary:
        at low ones there would hardly be any other. At 0 every word is the same. Without
        `capitals`, no word has a capital letter.
        """
        manner = None
        if temperature != 1:
            manner = Manner(
                temperature,
                refuses=self._vocabulary.__contains__,
                leaves_out=lambda character: not capitals and has_capital(character),
            )
        words: list[str] = []
        for _ in range(_ROUNDS):
            if len(words) >= count:
                return words[:count]
            drawn = self._speller.sample(count - len(words), generator=generator, manner=manner)
            words += [word for word in drawn if self._is_wanted(word, capitals=capitals)]
        raise LrlmError("the spelling model hardly ever spells a word outside the vocabulary")

    def _is_wanted(self, word: str, *, capitals: bool) -> bool:
        return word not in self._vocabulary and (capitals or not has_capital(word))


def has_capital(word: str) -> bool:
    """Say whether a letter of a word is a capital, as in most names."""
    return any(character.isupper() or character.istitle() for character in word)


def log_unknown_mass(speller: SamplingSpeller, vocabulary: Vocabulary) -> float:
    """Give log(1 − Σ P(v)) over the words of a vocabulary: a constant of the two."""
    words = [word for word in vocabulary.words if word in vocabulary]
    known = float(np.exp(speller.log_probs(words).astype(np.float64)).sum())
    if not known < 1:
        raise InputError("the spelling model gives no probability to words outside the vocabulary")
    return float(np.log1p(-known))
