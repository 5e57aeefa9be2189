"""Read and write words: their vectors, and a softmax over them, full or adaptive, tied or not.

Word ids are in order of frequency. With cutoffs, the words from one cutoff to the next form a
cluster; the vectors of each cluster are narrower than those of the one before.

Shapes: X states or words, D width of states, E of embeddings, P of the projection, V words, C
choices of the head (frequent words and tails), Y states whose word is in a tail.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.backbones import Backbone, packed_linear
from lrlm.checks import WIDEST, check_at_least, check_range, check_shape
from lrlm.errors import InputError
from lrlm.heads.choosing import Choosing, taken
from lrlm.heads.clusters import Cluster, SoftmaxCost, choose_cutoffs
from lrlm.heads.known_words import KnownWords, begin_biases, begin_vectors
from lrlm.heads.tokens import (
    TokenChooser,
    TokenEmbedding,
    TokenHead,
    TokenLayersConfig,
    register_token_layers,
)

_MOST_SCORES = 1 << 25
"""Scores of words that are held at a time: 128 MiB, and several times as much on the way."""


@dataclass(frozen=True, slots=True)
class WordConfig(TokenLayersConfig):
    """How words are read and written; the defaults are the paper's for WikiText-S."""

    name: ClassVar[str] = "words"

    embedding_size: int = 400
    """Width E of the vectors that are read."""
    projection_size: int = 1000
    """Width P of the bottleneck between a state and the scores of the words."""
    cutoffs: tuple[int, ...] | None = None
    """The first word of each tail cluster; () for a full softmax, None to choose the fastest."""
    divisor: float = 4.0
    """How much narrower the vectors of a cluster are than those of the one before."""
    tied: bool = False
    """Whether reading and writing share their vectors; both widths must then be the same."""
    informed: bool = False
    """Whether training begins with what is known of words: how frequent they are, and the vectors
    that surface forms have (not in the paper)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        for name in ("embedding_size", "projection_size"):
            check_range(f"model.words.{name}", getattr(self, name), 1, WIDEST)
        check_at_least("model.words.divisor", self.divisor, 1)
        cutoffs = (0, *(self.cutoffs or ()))
        if any(later <= earlier for earlier, later in pairwise(cutoffs)):
            raise InputError(f"model.words.cutoffs must increase from above 0, not {self.cutoffs}")
        if self.tied and self.embedding_size != self.projection_size:
            raise InputError(
                f"model.words.tied needs one width, but embedding_size is {self.embedding_size} and"
                f" projection_size is {self.projection_size}"
            )

    def embedding(self, tokens: int, *, backbone: Backbone | None = None) -> "WordEmbedding":
        """Make a table of vectors, narrower for rare words."""
        del backbone
        return WordEmbedding(self, tokens)

    def head(
        self,
        state_size: int,
        tokens: int,
        *,
        embedding: TokenEmbedding,
        backbone: Backbone,
        begins_word_V: Tensor | None = None,
    ) -> "WordHead":
        """Make a softmax, full or adaptive, which may share its vectors with the embedding."""
        del backbone, begins_word_V
        assert isinstance(embedding, WordEmbedding), "a configuration is given what it made"
        return WordHead(self, state_size, tokens, embedding=embedding)

    def fitted(
        self,
        counts: Sequence[int] | None,
        cost: SoftmaxCost | None = None,
        *,
        beside_heads: bool = False,
    ) -> "WordConfig":
        """Choose the clusters of the adaptive softmax, if that is left open."""
        del beside_heads
        if self.cutoffs is not None:
            return self
        cutoffs: tuple[int, ...] = ()
        if counts is not None:
            cutoffs = choose_cutoffs(
                counts, width=self.projection_size, divisor=self.divisor, cost=cost
            )
        return replace(self, cutoffs=cutoffs)

    def as_fitted(self, before: TokenLayersConfig) -> "WordConfig":
        """Take over the clusters of a run that is resumed, if they are left open."""
        if self.cutoffs is None and isinstance(before, WordConfig):
            return replace(self, cutoffs=before.cutoffs)
        return self

    def begin_with(
        self, embedding: TokenEmbedding, head: TokenHead, known: Callable[[], KnownWords]
    ) -> None:
        """Begin with what is known of the words, if that is wished."""
        if not self.informed:
            return
        assert isinstance(embedding, WordEmbedding), "a configuration is given what it made"
        assert isinstance(head, WordHead), "a configuration is given what it made"
        words = known()
        begin_biases(words, head.clusters, head.biases, head.tails_bias)
        if self.tied:
            begin_vectors(words, head.clusters, head.tables, up=embedding.maps, down=head.narrow)
        else:
            begin_vectors(words, embedding.clusters, embedding.tables, up=embedding.maps)
            begin_vectors(words, head.clusters, head.tables, down=head.narrow)


register_token_layers(WordConfig)


def _clusters(config: WordConfig, words: int, width: int) -> list[Cluster]:
    if config.cutoffs is None:
        raise InputError("model.words.cutoffs are not chosen yet; choose_cutoffs() does it")
    bounds = (0, *config.cutoffs, words)
    if bounds[-2] >= words:
        raise InputError(f"model.words.cutoffs {config.cutoffs} leave no word of {words} behind")
    return [
        Cluster(first, last, max(int(width / config.divisor**number), 1))
        for number, (first, last) in enumerate(pairwise(bounds))
    ]


class WordEmbedding(TokenEmbedding):
    """Vectors of words; rare ones are narrow and mapped up (Baevski and Auli 2018)."""

    def __init__(self, config: WordConfig, words: int) -> None:
        super().__init__()
        self.words = words
        self.output_size = config.embedding_size
        self.clusters = _clusters(config, words, config.embedding_size)
        self.tables = nn.ParameterList(
            torch.randn(len(cluster), cluster.width) / cluster.width**0.5
            for cluster in self.clusters
        )
        self.maps = nn.ModuleList(
            nn.Linear(cluster.width, config.embedding_size, bias=False)
            for cluster in self.clusters[1:]
        )

    def forward(self, ids: Tensor) -> Tensor:
        """Look up words: ids of any shape → that shape with E behind it."""
        if len(self.clusters) == 1:
            vectors: Tensor = functional.embedding(ids, self.tables[0])
            return vectors
        ids_X = ids.flatten()
        vectors_XE = self.tables[0].new_zeros(len(ids_X), self.output_size)
        for number, (place_Y, cluster) in enumerate(_by_cluster(ids_X, self.clusters)):
            found_YE = functional.embedding(ids_X[place_Y] - cluster.first, self.tables[number])
            if number:
                found_YE = self.maps[number - 1](found_YE)
            vectors_XE = vectors_XE.index_copy(0, place_Y, found_YE)
        unflattened: Tensor = vectors_XE.unflatten(0, ids.shape)
        return unflattened

    def step(self, ids_X: Tensor) -> Tensor:
        """Look up a few words, as `forward` does: (X, E).

        A cluster is asked for every word or for none, which takes fewer operations than to sort
        them.
        """
        last = int(ids_X.max()) if len(ids_X) else 0
        vectors_XE: Tensor = functional.embedding(
            ids_X.clamp(max=len(self.clusters[0]) - 1), self.tables[0]
        )
        for cluster, table, up in zip(self.clusters[1:], self.tables[1:], self.maps, strict=True):
            if last < cluster.first:
                break
            within_X = ids_X - cluster.first
            found_XE = up(functional.embedding(within_X.clamp(0, len(cluster) - 1), table))
            vectors_XE = torch.where(within_X[:, None] >= 0, found_XE, vectors_XE)
        return vectors_XE


class WordHead(TokenHead):
    """P(x | h) = softmax(W₁(W₂h + b₂) + b₁), the softmax over all words or in two steps.

    In two steps, the head chooses a frequent word or a tail, and the tail chooses its word; both
    are normalised, so the words' probabilities always sum to one.
    """

    def __init__(
        self,
        config: WordConfig,
        state_size: int,
        words: int,
        *,
        embedding: WordEmbedding | None = None,
    ) -> None:
        """With a tied configuration, `embedding` gives the vectors that are shared."""
        super().__init__()
        if config.tied and embedding is None:
            raise InputError("model.words.tied needs the embedding whose vectors are shared")
        self.state_size = state_size
        self.words = words
        self.clusters = _clusters(config, words, config.projection_size)
        tails = self.clusters[1:]
        self.project = nn.Linear(state_size, config.projection_size)
        self.narrow = nn.ModuleList(
            nn.Linear(config.projection_size, tail.width, bias=False) for tail in tails
        )
        if config.tied and embedding is not None:
            if embedding.clusters != self.clusters:
                raise InputError("a tied head and its embedding must have the same words")
            # The list itself is shared: moving a model may replace the parameters inside it.
            self.tables = embedding.tables
        else:
            self.tables = nn.ParameterList(
                torch.randn(len(cluster), cluster.width) / cluster.width**0.5
                for cluster in self.clusters
            )
        self.tails_table = nn.Parameter(torch.zeros(len(tails), config.projection_size))
        self.biases = nn.ParameterList(torch.zeros(len(cluster)) for cluster in self.clusters)
        self.tails_bias = nn.Parameter(torch.zeros(len(tails)))

    def log_probs(self, states_XD: Tensor, targets_X: Tensor) -> Tensor:
        """Give log P(target | h) of each state, computing only what the targets need: (X,)."""
        check_shape("states_XD", states_XD, (None, self.state_size))
        check_shape("targets_X", targets_X, (len(states_XD),))
        hidden_XP = self.project(states_XD)
        if len(self.clusters) == 1:
            return _target_log_probs(self._head_scores(hidden_XP), targets_X)
        choice_X = targets_X.clone()
        parts = list(_by_cluster(targets_X, self.clusters))[1:]
        for number, (place_Y, _) in enumerate(parts):
            choice_X[place_Y] = len(self.clusters[0]) + number
        log_probs_X = _target_log_probs(self._head_scores(hidden_XP), choice_X)
        for number, (place_Y, cluster) in enumerate(parts, start=1):
            within_Y = _target_log_probs(
                self._tail_scores(hidden_XP[place_Y], number), targets_X[place_Y] - cluster.first
            )
            log_probs_X = log_probs_X.index_add(0, place_Y, within_Y)
        return log_probs_X

    def chooser(self, *, end_id: int) -> "WordChooser":
        """Give what chooses words with the weights as they are now."""
        return WordChooser(self, end_id=end_id)

    def head_weights(self) -> tuple[Tensor, Tensor]:
        """Give the vectors and biases of the frequent words, and behind them those of the tails."""
        if len(self.clusters) == 1:
            return self.tables[0], self.biases[0]
        return (
            torch.cat([self.tables[0], self.tails_table]),
            torch.cat([self.biases[0], self.tails_bias]),
        )

    def _head_scores(self, hidden_XP: Tensor) -> Tensor:
        """Score the frequent words, and behind them the tails."""
        return functional.linear(hidden_XP, *self.head_weights())

    def _tail_scores(self, hidden_YP: Tensor, number: int) -> Tensor:
        """Score the words of a tail; that of number 1 comes first."""
        return functional.linear(
            self.narrow[number - 1](hidden_YP), self.tables[number], self.biases[number]
        )


class WordChooser(TokenChooser):
    """Chooses words, computing no more of the softmax than is needed."""

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
        self,
        states_XD: Tensor,
        may_end_X: Tensor,
        choosing: Choosing,
        *,
        fresh_X: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Choose a word for each state: ids and log P(word | h) under the model itself, (X,), (X,).

        Every word is a new one, so `fresh_X` forbids nothing. Very many states are taken some at a
        time, for there is a number for each of them and each word.
        """
        del fresh_X  # every token is a word
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


def _target_log_probs(scores_XV: Tensor, targets_X: Tensor) -> Tensor:
    return -functional.cross_entropy(scores_XV, targets_X, reduction="none")


def _by_cluster(ids_X: Tensor, clusters: list[Cluster]) -> Iterator[tuple[Tensor, Cluster]]:
    """Give for each cluster the places where one of its words stands."""
    for cluster in clusters:
        within_X = (ids_X >= cluster.first) & (ids_X < cluster.last)
        yield within_X.nonzero().squeeze(1), cluster
