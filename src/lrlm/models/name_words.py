"""Take single words of the topic's names while texts are written.

What a reader finds in a whole text (`lrlm.batching.name_words`) is kept account of as it grows.

Shapes: B texts, X texts that choose, K words of names, N names of several words, L words of the
longest but for its last, D width of states, W width of the words' features, E width of the vectors
of tokens.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lrlm.batching import NO_WORD
from lrlm.heads import NameWordHead
from lrlm.models.writing import ANY_WORD, WordsToTake

_NOTHING = -2
"""What stands before a text, in the place of the number of a word."""


@dataclass(frozen=True)
class TakenWords:
    """The words of names in B texts of the same length so far."""

    times_BK: Tensor
    last_BK: Tensor
    """How often each stands in the text, and its last place."""
    word_B: Tensor
    """Which of them the last word is, or `NO_WORD`."""
    recent_BL: Tensor
    """The numbers of the last words, the latest one last."""
    place: int = 0
    """Tokens so far."""

    def select(self, rows: Tensor) -> "TakenWords":
        """Give the texts at these indices."""
        return replace(
            self,
            times_BK=self.times_BK[rows],
            last_BK=self.last_BK[rows],
            word_B=self.word_B[rows],
            recent_BL=self.recent_BL[rows],
        )


class NameWordChooser:
    """Says how probable the words of one topic's names are."""

    def __init__(self, head: NameWordHead, words: WordsToTake, vectors_KE: Tensor) -> None:
        self._head = head
        self._words = words
        self._vectors_KE = vectors_KE
        self._goes_on_K = words.follows_KK.any(1)

    @property
    def ids_K(self) -> Tensor:
        """The tokens of the words."""
        return self._words.ids_K

    def begin(self) -> TakenWords:
        """Give what is known before the first token of a text."""
        nothing_1K = torch.zeros_like(self._words.ids_K[None])
        recent_1L = torch.full_like(self._words.beginnings_NL[:1], _NOTHING)
        if not len(recent_1L):  # all names are single words
            recent_1L = recent_1L.new_empty(1, 0)
        return TakenWords(nothing_1K, nothing_1K, nothing_1K.new_full((1,), NO_WORD), recent_1L)

    def read(self, before: TakenWords, number_B: Tensor) -> TakenWords:
        """Go on after a word of each text, by its number."""
        found_BK = number_B[:, None] == self._words.numbers_K
        is_word_B = found_BK.any(1)
        return TakenWords(
            before.times_BK + found_BK,
            before.last_BK.masked_fill(found_BK, before.place),
            torch.where(is_word_B, found_BK.long().argmax(1), NO_WORD),
            torch.cat([before.recent_BL, number_B[:, None]], dim=1)[:, 1:],
            before.place + 1,
        )

    def allowed(self, so_far: TakenWords) -> Tensor:
        """Say which words complete no name: (X, K)."""
        beginnings_NL = self._words.beginnings_NL
        alike_XNL = so_far.recent_BL[:, None] == beginnings_NL
        begun_XN = (alike_XNL | (beginnings_NL == ANY_WORD)).all(2)
        row, name = begun_XN.nonzero(as_tuple=True)
        allowed_XK = ~self._words.alone_K.expand(len(begun_XN), -1).clone()
        allowed_XK[row, self._words.completing_N[name]] = False
        return allowed_XK

    def log_shares(self, states_XD: Tensor, so_far: TakenWords) -> Tensor:
        """Give log P(vocabulary | a word, h) and log P(name | a word, h): (X, 2)."""
        word_X = so_far.word_B
        goes_on_X = (word_X != NO_WORD) & self._goes_on_K[word_X.clamp(min=0)]
        shares = self._head.log_shares(states_XD, goes_on_X, self.allowed(so_far).any(1))
        return torch.stack(shares, dim=1)

    def log_probs(self, states_XD: Tensor, so_far: TakenWords) -> Tensor:
        """Give the log-probability of every word among those of the names: (X, K)."""
        times_XK, word_X = so_far.times_BK, so_far.word_B
        since_XK = torch.where(times_XK > 0, so_far.place - so_far.last_BK, 0)
        follows_XK = self._words.follows_KK[word_X.clamp(min=0)] & (word_X != NO_WORD)[:, None]
        log_probs_XK: Tensor = self._head.log_probs(
            states_XD,
            self._words.features_KW,
            self._vectors_KE,
            self.allowed(so_far),
            follows_XK=follows_XK,
            times_XK=times_XK,
            since_XK=since_XK,
        )
        return log_probs_XK
