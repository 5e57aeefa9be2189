"""A spelling model in, words outside the vocabulary out, one after the other as they are needed.

How an unknown word is spelled depends on nothing but chance, and nothing depends on it. So many
are spelled at once, before it is known where they will stand.
"""

from collections import deque

import torch

from lrlm.features.spelling import UnknownWordSpeller

_AT_ONCE = 64


class SpellingPool:
    """Words that are spelled already."""

    def __init__(
        self,
        speller: UnknownWordSpeller,
        *,
        seed: int,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> None:
        self._speller = speller
        self._generator = torch.Generator().manual_seed(seed)
        self._temperature = temperature
        self._capitals = capitals
        self._words: deque[tuple[str, float]] = deque()

    def take(self) -> tuple[str, float]:
        """Give the next word, and log P(spelling | unknown) under the model itself."""
        if not self._words:
            words = self._speller.sample(
                _AT_ONCE,
                generator=self._generator,
                temperature=self._temperature,
                capitals=self._capitals,
            )
            self._words.extend(zip(words, self._speller.log_probs(words).tolist(), strict=True))
        return self._words.popleft()
