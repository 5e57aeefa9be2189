"""Linear maps for generating text: fixed weights, and few rows at a time.

Where PyTorch comes with oneDNN, the weights are laid out once in the order in which its kernel
reads them. A product with ten rows then takes about half the time.

Shapes: N rows, I input width, O output width.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

_ROWS = 10
"""For how many rows the layout is chosen; any number can be multiplied with it."""

LinearMap = Callable[[Tensor], Tensor]
"""Rows (N, I) in, rows (N, O) out."""


def packed_linear(weight_OI: Tensor, bias_O: Tensor | None = None) -> LinearMap:
    """Give x ↦ xWᵀ + b with W and b as they are now, without gradients."""
    weight_OI = weight_OI.detach()
    bias_O = None if bias_O is None else bias_O.detach().clone()
    return _packed(weight_OI, bias_O) or _plain(weight_OI.clone(), bias_O)


def _plain(weight_OI: Tensor, bias_O: Tensor | None) -> LinearMap:
    return lambda values_NI: functional.linear(values_NI, weight_OI, bias_O)


def _packed(weight_OI: Tensor, bias_O: Tensor | None) -> LinearMap | None:
    """Lay weights out for the kernel; None where there is none for them."""
    if weight_OI.device.type != "cpu" or weight_OI.dtype != torch.float32:
        return None
    # These two are what PyTorch's own compiler calls. A build without oneDNN lacks them, and a
    # later one may call them otherwise, so they are tried first.
    reorder = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)
    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    if reorder is None or multiply is None:
        return None
    try:
        packed = reorder(weight_OI, _ROWS)
        multiply(weight_OI[:1] * 0, packed, bias_O, "none", [], "")
    except (RuntimeError, TypeError):
        return None

    def mapped(values_NI: Tensor) -> Tensor:
        mapped_NO: Tensor = multiply(values_NI, packed, bias_O, "none", [], "")
        return mapped_NO

    return mapped
