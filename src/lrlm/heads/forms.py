"""Choose one of the surface forms of an object.

Shapes: Q choices (a state and an object), D width of states, F forms of all choices, W width of
form features.
"""

import torch
from torch import Tensor, nn

from lrlm.checks import check_shape


class FormHead(nn.Module):
    """P(a | e, h) = softmax over the forms of e's object of f_a · (W_a h + b_a)."""

    def __init__(self, state_size: int, feature_size: int) -> None:
        super().__init__()
        self.state_size = state_size
        self.feature_size = feature_size
        self.linear = nn.Linear(state_size, feature_size)

    def log_probs(self, states_QD: Tensor, features_FW: Tensor, query_F: Tensor) -> Tensor:
        """Give the log-probability of each form among the forms of its own choice: (F,)."""
        check_shape("states_QD", states_QD, (None, self.state_size))
        check_shape("features_FW", features_FW, (None, self.feature_size))
        check_shape("query_F", query_F, (len(features_FW),))
        scores_F = (self.linear(states_QD)[query_F] * features_FW).sum(1)
        return _log_softmax_within(scores_F, query_F, len(states_QD))

    def masked_log_probs(self, states_QD: Tensor, features_FW: Tensor, mask_QF: Tensor) -> Tensor:
        """Do the same where all choices are among the same forms, each within its mask: (Q, F)."""
        check_shape("states_QD", states_QD, (None, self.state_size))
        check_shape("features_FW", features_FW, (None, self.feature_size))
        check_shape("mask_QF", mask_QF, (len(states_QD), len(features_FW)))
        scores_QF = self.linear(states_QD) @ features_FW.mT
        log_probs_QF: Tensor = scores_QF.masked_fill(~mask_QF, -torch.inf).log_softmax(1)
        return log_probs_QF


def _log_softmax_within(scores_F: Tensor, query_F: Tensor, choices: int) -> Tensor:
    """Normalise scores within the forms of each choice; a lone form has exactly 0."""
    with torch.no_grad():
        largest_Q = scores_F.new_full((choices,), -torch.inf).scatter_reduce(
            0, query_F, scores_F, "amax"
        )
    shifted_F = scores_F - largest_Q[query_F]
    total_Q = scores_F.new_zeros(choices).index_add(0, query_F, shifted_F.exp())
    return shifted_F - total_Q.log()[query_F]
