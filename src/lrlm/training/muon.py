"""Muon: turn the update of a matrix into the nearest one that is orthogonal.

So a matrix learns in all directions alike, not only in those of frequent words. It does what
`torch.optim.Muon` does, which always computes in bfloat16: on a CPU that is not made for it, one
update would take seconds.

Shapes: A × B, a matrix.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from lrlm.backbones.fast_cpu import is_made_for_bfloat16

_MOMENTUM = 0.95
"""How much of the direction so far is kept at each update."""
_STEPS = 5
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the polynomial that drives all singular values towards 1; they end between 0.7 and 1.2."""
_SIZE_OF_AN_UPDATE = 0.2
"""Root mean square of an update at a rate of 1: what Adam's usually is, so both share one rate."""
_LEAST_NORM = 1e-7


class Muon:
    """Updates matrices by their gradients."""

    def __init__(
        self,
        matrices: Mapping[str, nn.Parameter],
        shares: Mapping[str, float],
        *,
        weight_decay: float = 0.0,
    ) -> None:
        """Each matrix learns at its share of the rate; the decay is apart from the gradient."""
        self.momentum = {name: torch.zeros_like(matrix) for name, matrix in matrices.items()}
        """The direction of each matrix so far."""
        self._matrices = matrices
        self._shares = shares
        self._weight_decay = weight_decay

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update the matrices."""
        for name, matrix in self._matrices.items():
            gradient, so_far = matrix.grad, self.momentum[name]
            assert gradient is not None, "all gradients are in one buffer from the beginning"
            so_far.lerp_(gradient, 1 - _MOMENTUM)
            update = orthogonal(gradient.lerp(so_far, _MOMENTUM))
            own_rate = rate * self._shares[name]
            matrix.mul_(1 - own_rate * self._weight_decay)
            matrix.sub_(update, alpha=own_rate * _SIZE_OF_AN_UPDATE * max(matrix.shape) ** 0.5)


def orthogonal(matrix_AB: Tensor) -> Tensor:
    """Give a matrix with the same singular vectors, whose singular values are near 1.

    It is an iteration of Newton and Schulz, for which bfloat16 is exact enough.
    """
    is_fast = matrix_AB.device.type != "cpu" or is_made_for_bfloat16()
    found_AB = matrix_AB.bfloat16() if is_fast else matrix_AB
    is_tall = matrix_AB.shape[0] > matrix_AB.shape[1]
    if is_tall:
        found_AB = found_AB.T
    found_AB = found_AB / found_AB.norm().clamp(min=_LEAST_NORM)
    first, second, third = _COEFFICIENTS
    for _ in range(_STEPS):
        product_AA = found_AB @ found_AB.T
        factor_AA = torch.addmm(product_AA, product_AA, product_AA, beta=second, alpha=third)
        found_AB = torch.addmm(found_AB, factor_AA, found_AB, beta=first)
    return (found_AB.T if is_tall else found_AB).to(matrix_AB.dtype)
