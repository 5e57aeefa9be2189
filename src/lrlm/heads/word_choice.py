"""States in, a word for each out, with its log-probability: no more of the softmax than is needed.

Shapes: X states, D width of states, P of the projection, V words, C choices of the head (frequent
words and tails), Y states whose word is in a tail.
"""

import torch
from torch import Tensor

from lrlm.backbones import packed_linear
from lrlm.heads.choosing import Choosing, taken
from lrlm.heads.words import WordHead

_MOST_SCORES = 1 << 25
"""Scores of words that are held at a time: 128 MiB, and several times as much on the way."""


class WordChoice:
    """Chooses words with a head whose weights stay as they are."""

    def __init__(self, head: WordHead, *, end_id: int) -> None:
        """`end_id` is the one word that may be forbidden."""
        self._clusters = head.clusters
        self._end_id = end_id
        self._project = packed_linear(head.project.weight, head.project.bias)
        self._head_scores = packed_linear(*head.head_weights())
        self._tails = [
            (narrow, packed_linear(table, bias))
            for narrow, table, bias in zip(
                head.narrow, head.tables[1:], head.biases[1:], strict=True
            )
        ]
        self._frequent = len(head.clusters[0])

    def choose(
        self, states_XD: Tensor, may_end_X: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        """Choose a word for each state: ids and log P(word | h) under the model itself, (X,), (X,).

        Very many states are taken some at a time, for there is a number for each of them and each
        word.
        """
        rows = max(_MOST_SCORES // self._clusters[-1].last, 1)
        parts = [
            self._choose(states_XD[first : first + rows], may_end_X[first : first + rows], choosing)
            for first in range(0, max(len(states_XD), 1), rows)
        ]
        if len(parts) == 1:
            return parts[0]
        words, log_probs = zip(*parts, strict=True)
        return torch.cat(words), torch.cat(log_probs)

    def _choose(
        self, states_XD: Tensor, may_end_X: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        """Choose for some states.

        Drawn from the model's own probabilities, the head comes first and a tail is computed only
        where it was chosen. All else needs the probabilities of all words.
        """
        hidden_XP = self._project(states_XD)
        head_XC = self._head_scores(hidden_XP).log_softmax(1)
        if choosing.is_plain and self._end_id < self._frequent:
            return self._in_two_steps(hidden_XP, head_XC, may_end_X, choosing)
        all_XV = self._all(hidden_XP, head_XC)
        self._forbid_end(all_XV, may_end_X)
        word_X = choosing.choose(all_XV)
        return word_X, taken(all_XV, word_X)

    def _in_two_steps(
        self, hidden_XP: Tensor, head_XC: Tensor, may_end_X: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        self._forbid_end(head_XC, may_end_X)
        word_X = choosing.choose(head_XC)
        log_probs_X = taken(head_XC, word_X)
        if not self._tails or not bool((word_X >= self._frequent).any()):
            return word_X, log_probs_X
        tail_X = word_X - (self._frequent - 1)
        for number in range(1, len(self._clusters)):
            place_Y = (tail_X == number).nonzero().squeeze(1)
            if len(place_Y):
                scores_YV = self._tail_scores(hidden_XP[place_Y], number)
                within_YV = scores_YV.log_softmax(1)
                chosen_Y = choosing.choose(within_YV)
                word_X[place_Y] = chosen_Y + self._clusters[number].first
                log_probs_X[place_Y] += taken(within_YV, chosen_Y)
        return word_X, log_probs_X

    def _all(self, hidden_XP: Tensor, head_XC: Tensor) -> Tensor:
        """Give the log-probabilities of all words: (X, V)."""
        tails = [
            self._tail_scores(hidden_XP, number).log_softmax(1)
            + head_XC[:, self._frequent + number - 1, None]
            for number in range(1, len(self._clusters))
        ]
        return torch.cat([head_XC[:, : self._frequent], *tails], dim=1)

    def _tail_scores(self, hidden_YP: Tensor, number: int) -> Tensor:
        """Score the words of a tail; that of number 1 comes first."""
        narrow, scores_of = self._tails[number - 1]
        return scores_of(narrow(hidden_YP))

    def _forbid_end(self, log_probs_XN: Tensor, may_end_X: Tensor) -> None:
        """Make the end impossible where it is forbidden; nobody asks for its probability there."""
        log_probs_XN[:, self._end_id].masked_fill_(~may_end_X, -torch.inf)
