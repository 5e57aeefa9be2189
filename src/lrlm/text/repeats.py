"""Expect unknown words again: a name that a text has spelled once often stands in it again.

Each unknown word of a text is one that stood in it before, or is spelled anew (a Pitman–Yor
process). After n unknown words, k of them distinct, a word that was c of them has

    P(word) = (c − d) / (n + s)  [where c > 0]  +  (s + d·k) / (n + s) · P(spelling)

which sums to one over all words and depends on nothing but the text so far, however it was cut into
words and copied names.

Shapes: U unknown words of a text, in the order in which they are read.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from lrlm.arrays import Floats

STRENGTH, DISCOUNT = 4.0, 0.6
"""s and d. Words that stand in one article of Wikipedia introductions and in no other are most
probable with these; the gain is the same within 2 % from half to twice the strength."""


class UnknownSoFar:
    """The unknown words of a text up to a place."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        self.times = Counter(words)
        """How often each stands there."""
        self._total = len(words)

    def add(self, word: str) -> None:
        """Read an unknown word."""
        self.times[word] += 1
        self._total += 1

    def share(self, word: str) -> float:
        """Give the probability that the next unknown word is this one again."""
        return max(self.times[word] - DISCOUNT, 0.0) / (self._total + STRENGTH)

    @property
    def new_share(self) -> float:
        """The probability that the next unknown word is spelled anew."""
        return (STRENGTH + DISCOUNT * len(+self.times)) / (self._total + STRENGTH)

    def log_prob(self, word: str, log_spelling: float) -> float:
        """Give the log-probability of the next unknown word, from that of its spelling.

        >>> before = UnknownSoFar(["Aneto", "Posets", "Aneto"])
        >>> round(before.log_prob("Aneto", -20.0), 2), round(before.log_prob("Perdido", -20.0), 2)
        (-1.61, -20.3)
        """
        again, anew = self.share(word), math.log(self.new_share) + log_spelling
        return float(np.logaddexp(math.log(again), anew)) if again > 0 else anew


def with_repeats(words: Sequence[str], log_spelling_U: Floats) -> Floats:
    """Give the log-probability of each unknown word of a text, given those before it: (U,)."""
    before = UnknownSoFar()
    log_probs_U = np.empty(len(words), dtype=np.float32)
    for place, (word, log_spelling) in enumerate(zip(words, log_spelling_U.tolist(), strict=True)):
        log_probs_U[place] = before.log_prob(word, log_spelling)
        before.add(word)
    return log_probs_U
