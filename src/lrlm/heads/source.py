"""Choose whether the next segment is a word or a copied name.

Shapes: X states, D width.
"""

import torch
from torch import Tensor, nn

from lrlm.checks import check_shape


class SourceHead(nn.Module):
    """P(π | h) = softmax(W_π h + b_π): whether the next segment is a word or is copied."""

    def __init__(self, state_size: int) -> None:
        super().__init__()
        self.state_size = state_size
        self.linear = nn.Linear(state_size, 2)

    def forward(self, states_XD: Tensor, has_relations_X: Tensor) -> tuple[Tensor, Tensor]:
        """Give log P(word) and log P(relation) of each state: (X,), (X,).

        Where a topic has no relations there is nothing to choose: exactly 0 and −inf.
        """
        check_shape("states_XD", states_XD, (None, self.state_size))
        check_shape("has_relations_X", has_relations_X, (len(states_XD),))
        log_probs_X2 = self.log_probs(states_XD)
        return (
            torch.where(has_relations_X, log_probs_X2[:, 0], 0.0),
            torch.where(has_relations_X, log_probs_X2[:, 1], -torch.inf),
        )

    def log_probs(self, states_XD: Tensor) -> Tensor:
        """Give log P(word) and log P(relation) of states of topics that have relations: (X, 2)."""
        log_probs_X2: Tensor = self.linear(states_XD).log_softmax(1)
        return log_probs_X2
