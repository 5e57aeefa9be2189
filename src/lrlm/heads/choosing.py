"""Make one choice a row from log-probabilities: at random, the best, or in between.

Shapes: X rows, N choices.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

_BELOW_ONE = 1 - 2.0**-50
"""Keeps rounding from putting a point behind the last choice that is possible."""


@dataclass(frozen=True)
class Choosing:
    """How every choice is made while a text is written; the defaults draw from the model itself."""

    temperature: float = 1.0
    """Log-probabilities are divided by it: below 1 the probable becomes more probable."""
    top_k: int | None = None
    """Only this many of the most probable choices are possible."""
    top_p: float | None = None
    """Only the most probable choices that together have this probability are possible."""
    greedy: bool = False
    """Whether always the most probable one is taken."""
    generator: torch.Generator = field(default_factory=torch.Generator)
    """Where chance comes from; on the device of what is chosen from."""

    @property
    def is_plain(self) -> bool:
        """Whether choices are drawn from the model's own probabilities."""
        return (
            self.temperature == 1 and self.top_k is None and self.top_p is None and not self.greedy
        )

    def choose(self, log_probs_XN: Tensor) -> Tensor:
        """Choose in each row; −inf is never chosen, and what is given need not be normalised: (X,).

        In every row something must be possible.
        """
        return log_probs_XN.argmax(1) if self.greedy else self._draw(self._kept(log_probs_XN))

    def choose_first(self, log_probs_XN: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Choose among so many of the first choices, given that `choose` takes one of them.

        It is given with log P that `choose` does: (X,), (X,). Where it never does, −inf, and what
        is chosen is the most probable of them.
        """
        if self.greedy:
            chosen_X = log_probs_XN[:, :first].argmax(1)
            is_first_X = log_probs_XN.argmax(1) < first
            return chosen_X, torch.where(is_first_X, 0.0, -torch.inf).to(log_probs_XN.dtype)
        kept_XN = self._kept(log_probs_XN).log_softmax(1)
        share_X = kept_XN[:, :first].logsumexp(1).clamp(max=0)
        never_X1 = share_X[:, None] == -torch.inf
        best_XN = log_probs_XN == log_probs_XN[:, :first].amax(1, keepdim=True)
        instead_XN = torch.zeros_like(kept_XN).masked_fill(~best_XN, -torch.inf)
        return self._draw(torch.where(never_X1, instead_XN, kept_XN)[:, :first]), share_X

    def _kept(self, log_probs_XN: Tensor) -> Tensor:
        """Give the log-weights with which choices are drawn, −inf for those that are left out."""
        kept_XN = log_probs_XN if self.temperature == 1 else log_probs_XN / self.temperature
        if self.top_k is not None and self.top_k < kept_XN.shape[1]:
            least_X1 = kept_XN.topk(self.top_k, dim=1).values[:, -1:]
            kept_XN = kept_XN.masked_fill(kept_XN < least_X1, -torch.inf)
        if self.top_p is not None and self.top_p < 1:
            kept_XN = _nucleus(kept_XN, self.top_p)
        return kept_XN

    def _draw(self, log_weights_XN: Tensor) -> Tensor:
        """Draw by inverting the distribution function."""
        largest_X1 = log_weights_XN.amax(1, keepdim=True)
        up_to_XN = (log_weights_XN - largest_X1).exp_().cumsum(1, dtype=torch.float64)
        point_X1 = torch.rand(
            len(up_to_XN), 1, generator=self.generator, dtype=torch.float64, device=up_to_XN.device
        )
        point_X1.mul_(up_to_XN[:, -1:]).mul_(_BELOW_ONE)
        return torch.searchsorted(up_to_XN, point_X1, right=True).squeeze(1)


def taken(values_XN: Tensor, chosen_X: Tensor) -> Tensor:
    """Give the value of what was chosen in each row: (X,)."""
    return values_XN.gather(1, chosen_X[:, None]).squeeze(1)


def _nucleus(log_weights_XN: Tensor, share: float) -> Tensor:
    """Keep the most probable choices up to the one with which they reach their share."""
    sorted_XN, order_XN = log_weights_XN.log_softmax(1).sort(stable=True, dim=1, descending=True)
    probabilities_XN = sorted_XN.exp()
    before_XN = probabilities_XN.cumsum(1) - probabilities_XN
    beyond_XN = before_XN >= share
    beyond_XN[:, 0] = False  # a share that rounds to nothing still leaves the most probable one
    left_out_XN = torch.zeros_like(beyond_XN).scatter(1, order_XN, beyond_XN)
    return log_weights_XN.masked_fill(left_out_XN, -torch.inf)
