"""Read and write tokens with the layers that a pretrained language model brings.

Shapes: X states or tokens, D width of states, V tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lrlm.backbones import Backbone, PretrainedBackbone
from lrlm.checks import WIDEST, check_range, check_shape
from lrlm.errors import InputError
from lrlm.heads.choosing import Choosing, taken
from lrlm.heads.clusters import SoftmaxCost
from lrlm.heads.tokens import (
    TokenChooser,
    TokenEmbedding,
    TokenHead,
    TokenLayersConfig,
    register_token_layers,
)

_LogProbs = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""States and targets in; log-probabilities of the targets and of a new word out."""

_USUAL_RANK = 32

_SCORES_AT_A_TIME = 1 << 22
"""Scores of tokens that are held at a time: 16 MiB, which stay in the cache of a CPU."""

_SCORES_HELD_FOR_THE_GRADIENT = 1 << 24
"""So many are not computed again for the gradient."""


@dataclass(frozen=True, slots=True)
class PretrainedLayersConfig(TokenLayersConfig):
    """The vectors and the softmax of the pretrained language model that is the backbone."""

    name: ClassVar[str] = "pretrained"

    tuned_rank: int | None = None
    """Rank of a map of the LM's last states that is learned, so that its words become those of the
    corpus; 0 leaves its words as they are. none: 32 where other heads learn from a frozen LM, else
    0."""
    tuned_tokens: int = 128
    """Tokens of an update, drawn at random, from which the map of rank tuned_rank learns: each of
    them takes a softmax over all tokens."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if self.tuned_rank is not None:
            check_range("model.words.tuned_rank", self.tuned_rank, 0, WIDEST)
        check_range("model.words.tuned_tokens", self.tuned_tokens, 1, WIDEST)

    def fitted(
        self,
        counts: Sequence[int] | None,
        cost: SoftmaxCost | None = None,
        *,
        beside_heads: bool = False,
    ) -> Self:
        """Let the words learn where heads do that read states of a frozen LM."""
        del counts, cost
        if self.tuned_rank is not None:
            return self
        return replace(self, tuned_rank=_USUAL_RANK if beside_heads else 0)

    def as_fitted(self, before: TokenLayersConfig) -> "PretrainedLayersConfig":
        """Take over the rank of a run that is resumed, if it is left open."""
        if self.tuned_rank is None and isinstance(before, PretrainedLayersConfig):
            return replace(self, tuned_rank=before.tuned_rank)
        return self

    def embedding(self, tokens: int, *, backbone: Backbone | None = None) -> "PretrainedEmbedding":
        """Give the vectors that the LM reads tokens as."""
        return PretrainedEmbedding(_pretrained(backbone), tokens)

    def head(
        self,
        state_size: int,
        tokens: int,
        *,
        embedding: TokenEmbedding,
        backbone: Backbone,
        begins_word_V: Tensor | None = None,
    ) -> "PretrainedHead":
        """Give the LM's own distribution over tokens."""
        del embedding
        if state_size != backbone.output_size:
            raise InputError(
                f"a pretrained LM scores tokens in its own states of width {backbone.output_size},"
                f" not in states of width {state_size}"
            )
        return PretrainedHead(
            _pretrained(backbone),
            tokens,
            begins_word_V,
            tuned_rank=self.tuned_rank or 0,
            tuned_tokens=self.tuned_tokens,
        )


register_token_layers(PretrainedLayersConfig)


def _pretrained(backbone: Backbone | None) -> PretrainedBackbone:
    if not isinstance(backbone, PretrainedBackbone):
        raise InputError("model.words.name 'pretrained' goes with the backbone 'pretrained' only")
    return backbone


class PretrainedEmbedding(TokenEmbedding):
    """The vectors that a pretrained LM reads tokens as."""

    def __init__(self, backbone: PretrainedBackbone, tokens: int) -> None:
        super().__init__()
        if tokens > backbone.tokens_read:
            raise InputError(
                f"the tokenizer has {tokens:,} tokens, but the language model has vectors of"
                f" {backbone.tokens_read:,}; they do not belong together"
            )
        self.output_size = backbone.input_size
        self._backbone = (backbone,)  # in a tuple, for its weights are not those of this layer

    def forward(self, ids: Tensor) -> Tensor:
        """Look up tokens: ids of any shape → that shape with E behind it."""
        return self._backbone[0].embed(ids)


class TunedStates(nn.Module):
    """h' = (1 + t) (h + U gelu(V h)): changes the states that a frozen LM's softmax reads.

    A language model that has read everything knows how a corpus is written, but does not expect it.
    Before anything is learned, h' is h.
    """

    def __init__(self, state_size: int, rank: int) -> None:
        super().__init__()
        self.down = nn.Linear(state_size, rank)
        self.up = nn.Linear(rank, state_size)
        self.scale = nn.Parameter(torch.zeros(()))
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, states_XD: Tensor) -> Tensor:
        """Change states: (X, D)."""
        moved_XD: Tensor = states_XD + self.up(nn.functional.gelu(self.down(states_XD)))
        return (1 + self.scale) * moved_XD


class PretrainedHead(TokenHead):
    """A pretrained LM's own softmax: P(x | h), and the probability that x begins a new word.

    Scores of all tokens are held for some states at a time only; where there is a gradient, they
    are computed again for it.
    """

    def __init__(
        self,
        backbone: PretrainedBackbone,
        tokens: int,
        begins_word_V: Tensor | None = None,
        *,
        tuned_rank: int = 0,
        tuned_tokens: int = 128,
    ) -> None:
        """`begins_word_V` says which tokens begin a new word; None where each of them does.

        With `tuned_rank`, the states that the softmax reads are changed by a map that is learned
        from `tuned_tokens` tokens of each update.
        """
        super().__init__()
        self.tuned = TunedStates(backbone.output_size, tuned_rank) if tuned_rank else None
        self.tuned_tokens = tuned_tokens
        self.state_size = backbone.output_size
        if tokens > backbone.tokens:
            raise InputError(
                f"the tokenizer has {tokens:,} tokens, but the language model scores"
                f" {backbone.tokens:,}; they do not belong together"
            )
        if begins_word_V is None:
            begins_word_V = torch.ones(tokens, dtype=torch.bool)
        check_shape("begins_word_V", begins_word_V, (tokens,))
        # Rows of the table beyond the tokenizer's tokens have probabilities, but stand for nothing.
        begins_V = begins_word_V.new_zeros(backbone.tokens, dtype=torch.bool)
        begins_V[:tokens] = begins_word_V
        summed_V2 = torch.stack([torch.ones_like(begins_V), begins_V], dim=1).float()
        self.begins_V: Tensor
        self.summed_V2: Tensor
        self.register_buffer("begins_V", begins_V, persistent=False)
        self.register_buffer("summed_V2", summed_V2, persistent=False)
        self._backbone = (backbone,)  # in a tuple, for its weights are not those of this layer

    def log_probs(self, states_XD: Tensor, targets_X: Tensor) -> Tensor:
        """Give log P(target | h) of each state: (X,)."""
        return self.log_probs_and_fresh(states_XD, targets_X)[0]

    def log_probs_and_fresh(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        """Give log P(target | h), and log P(the next token begins a new word | h): (X,), (X,)."""
        check_shape("states_XD", states_XD, (None, self.state_size))
        check_shape("targets_X", targets_X, (len(states_XD),))
        return self._in_parts(self._log_probs, states_XD, targets_X)

    def _in_parts(
        self, log_probs: _LogProbs, states_XD: Tensor, targets_X: Tensor
    ) -> tuple[Tensor, Tensor]:
        tokens = self._backbone[0].tokens
        is_held = len(states_XD) * tokens <= _SCORES_HELD_FOR_THE_GRADIENT
        compute = log_probs if is_held else partial(_again_for_the_gradient, log_probs)
        parts = [
            compute(states_XD[part], targets_X[part]) for part in _parts(len(states_XD), tokens)
        ]
        log_probs_X, log_fresh_X = map(torch.cat, zip(*parts, strict=True))
        return log_probs_X, log_fresh_X

    def log_probs_as_read(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        """Give the same as the LM itself has it, whatever was learned since."""
        parts = [
            self._normalised(self._backbone[0].scores(states_XD[part]), targets_X[part])
            for part in _parts(len(states_XD), self._backbone[0].tokens)
        ]
        token_X, fresh_X = map(torch.cat, zip(*parts, strict=True))
        return token_X.to(states_XD.dtype), fresh_X.to(states_XD.dtype)

    def log_probs_of_read(
        self, states_XD: Tensor, targets_X: Tensor, token_X: Tensor, fresh_X: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Give the same for tokens of which the LM itself has given both before, as it is.

        If states are changed before the softmax, both are computed anew. In training only those of
        some tokens are, drawn at random: their gradient stands for that of all, and the others keep
        what the LM gave them. Two digits are enough for that.
        """
        if self.tuned is None:
            return token_X, fresh_X
        if not (self.training and torch.is_grad_enabled()) or len(token_X) <= self.tuned_tokens:
            return self.log_probs_and_fresh(states_XD, targets_X)
        drawn = torch.randperm(len(token_X), device=token_X.device)[: self.tuned_tokens]
        weight = len(token_X) / self.tuned_tokens
        both = self._in_parts(self._rough_log_probs, states_XD[drawn], targets_X[drawn])
        token_X, fresh_X = (
            kept_X.index_copy(0, drawn, new_X.detach() + weight * (new_X - new_X.detach()))
            for kept_X, new_X in zip((token_X, fresh_X), both, strict=True)
        )
        return token_X, fresh_X

    def scores(self, states_XD: Tensor) -> Tensor:
        """Give the score of every token in each state, before they are normalised: (X, V)."""
        if self.tuned is not None:
            states_XD = self.tuned(states_XD)
        return self._backbone[0].scores(states_XD)

    def _log_probs(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        token_X, fresh_X = self._normalised(self.scores(states_XD), targets_X)
        return token_X.to(states_XD.dtype), fresh_X.to(states_XD.dtype)

    def _rough_log_probs(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        assert self.tuned is not None, "others need no gradient"
        scores_XV = self._backbone[0].rough_scores(self.tuned(states_XD))
        token_X, fresh_X = self._normalised(scores_XV, targets_X)
        return token_X.to(states_XD.dtype), fresh_X.to(states_XD.dtype)

    def _normalised(self, scores_XV: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        score_X = taken(scores_XV, targets_X)
        top_X1, log_sums_X2 = self.log_sums(scores_XV)
        log_all_X = log_sums_X2[:, 0]
        return score_X - top_X1.squeeze(1) - log_all_X, log_sums_X2[:, 1] - log_all_X

    def log_sums(self, scores_XV: Tensor) -> tuple[Tensor, Tensor]:
        """Give the best score of each state, and the log-sums over all tokens and new words.

        The latter two are of scores beside the best one; the scores are used up: (X, 1), (X, 2).
        """
        top_X1 = scores_XV.detach().amax(1, keepdim=True)
        if torch.is_grad_enabled():
            weights_XV = (scores_XV - top_X1).exp()
        else:
            weights_XV = scores_XV.sub_(top_X1).exp_()
        sums_X2 = weights_XV @ self.summed_V2.to(weights_XV.dtype)
        return top_X1, sums_X2.clamp(min=torch.finfo(sums_X2.dtype).tiny).log()

    def chooser(self, *, end_id: int) -> "PretrainedChooser":
        """Give what chooses tokens."""
        return PretrainedChooser(self, self._backbone[0], end_id=end_id)


class PretrainedChooser(TokenChooser):
    """Chooses tokens with a pretrained LM's own softmax."""

    def __init__(self, head: PretrainedHead, backbone: PretrainedBackbone, *, end_id: int) -> None:
        """`end_id` is the one token that may be forbidden by itself."""
        self._head, self._backbone = head, backbone
        self._end_id = end_id

    @torch.no_grad()
    def choose(
        self,
        states_XD: Tensor,
        may_end_X: Tensor,
        choosing: Choosing,
        *,
        fresh_X: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Choose a token for each state: ids, and log P(token | h) among all tokens: (X,), (X,)."""
        chosen, log_probs = [], []
        for part in _parts(len(states_XD), self._backbone.tokens):
            all_XV = self._head.scores(states_XD[part]).log_softmax(1)
            all_XV[:, self._end_id].masked_fill_(~may_end_X[part], -torch.inf)
            if fresh_X is not None and bool(fresh_X[part].any()):
                all_XV.masked_fill_(fresh_X[part, None] & ~self._head.begins_V, -torch.inf)
            token_X = choosing.choose(all_XV)
            chosen.append(token_X)
            log_probs.append(taken(all_XV, token_X).to(states_XD.dtype))
        return torch.cat(chosen), torch.cat(log_probs)

    @torch.no_grad()
    def log_fresh(self, states_XD: Tensor) -> Tensor:
        """Give log P(the next token begins a new word | h): (X,)."""
        parts = []
        for part in _parts(len(states_XD), self._backbone.tokens):
            _, log_sums_X2 = self._head.log_sums(self._head.scores(states_XD[part]))
            parts.append((log_sums_X2[:, 1] - log_sums_X2[:, 0]).to(states_XD.dtype))
        return torch.cat(parts)


def _again_for_the_gradient(
    log_probs: _LogProbs, states_XD: Tensor, targets_X: Tensor
) -> tuple[Tensor, Tensor]:
    """Hold no scores for the gradient, but compute them again."""
    if not torch.is_grad_enabled():
        return log_probs(states_XD, targets_X)
    result: tuple[Tensor, Tensor] = checkpoint(
        log_probs, states_XD, targets_X, use_reentrant=False, preserve_rng_state=False
    )
    return result


def _parts(states: int, tokens: int) -> Iterator[slice]:
    """Cut states into parts whose scores are few enough to hold; at least one part."""
    size = max(_SCORES_AT_A_TIME // tokens, 1)
    for first in range(0, max(states, 1), size):
        yield slice(first, first + size)
