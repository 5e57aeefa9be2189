"""Read and write tokens with the layers that a pretrained language model brings.

Shapes: X states or tokens, D width of states, V tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lrlm.backbones import Backbone, PretrainedBackbone
from lrlm.checks import check_shape
from lrlm.errors import InputError
from lrlm.heads.choosing import Choosing, taken
from lrlm.heads.tokens import (
    TokenChooser,
    TokenEmbedding,
    TokenHead,
    TokenLayersConfig,
    register_token_layers,
)

_SCORES_AT_A_TIME = 1 << 22
"""Scores of tokens that are held at a time: 16 MiB, which stay in the cache of a CPU."""


@dataclass(frozen=True, slots=True)
class PretrainedLayersConfig(TokenLayersConfig):
    """The vectors and the softmax of the pretrained language model that is the backbone."""

    name: ClassVar[str] = "pretrained"

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
        return PretrainedHead(_pretrained(backbone), tokens, begins_word_V)


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


class PretrainedHead(TokenHead):
    """A pretrained LM's own softmax: P(x | h), and the probability that x begins a new word.

    Scores of all tokens are held for some states at a time only; where there is a gradient, they
    are computed again for it.
    """

    def __init__(
        self, backbone: PretrainedBackbone, tokens: int, begins_word_V: Tensor | None = None
    ) -> None:
        """`begins_word_V` says which tokens begin a new word; None where each of them does."""
        super().__init__()
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
        parts = [
            self._again_for_the_gradient(self._log_probs, states_XD[part], targets_X[part])
            for part in _parts(len(states_XD), self._backbone[0].tokens)
        ]
        log_probs_X, log_fresh_X = map(torch.cat, zip(*parts, strict=True))
        return log_probs_X, log_fresh_X

    def _again_for_the_gradient(
        self,
        function: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
        states_XD: Tensor,
        targets_X: Tensor,
    ) -> tuple[Tensor, Tensor]:
        if not torch.is_grad_enabled():
            return function(states_XD, targets_X)
        result: tuple[Tensor, Tensor] = checkpoint(
            function, states_XD, targets_X, use_reentrant=False, preserve_rng_state=False
        )
        return result

    def _log_probs(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        scores_XV = self._backbone[0].scores(states_XD)
        score_X = taken(scores_XV, targets_X)
        top_X1, log_sums_X2 = self.log_sums(scores_XV)
        log_all_X = log_sums_X2[:, 0]
        dtype = states_XD.dtype
        log_probs_X = score_X - top_X1.squeeze(1) - log_all_X
        return log_probs_X.to(dtype), (log_sums_X2[:, 1] - log_all_X).to(dtype)

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
            all_XV = self._backbone.scores(states_XD[part]).log_softmax(1)
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
            _, log_sums_X2 = self._head.log_sums(self._backbone.scores(states_XD[part]))
            parts.append((log_sums_X2[:, 1] - log_sums_X2[:, 0]).to(states_XD.dtype))
        return torch.cat(parts)


def _parts(states: int, tokens: int) -> Iterator[slice]:
    """Cut states into parts whose scores are few enough to hold; at least one part."""
    size = max(_SCORES_AT_A_TIME // tokens, 1)
    for first in range(0, max(states, 1), size):
        yield slice(first, first + size)
