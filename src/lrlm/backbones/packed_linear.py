"""Weights in, their linear map out: for weights that stay as they are, and few rows at a time.

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
    weight_OI = weight_OI.detach().clone()
    bias_O = None if bias_O is None else bias_O.detach().clone()
    # These two are what PyTorch's own compiler calls; a build without oneDNN lacks them.
    reorder = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)
    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    is_fit = weight_OI.device.type == "cpu" and weight_OI.dtype == torch.float32
    if reorder is None or multiply is None or not is_fit:
        return lambda values_NI: functional.linear(values_NI, weight_OI, bias_O)

    packed = reorder(weight_OI, _ROWS)

    def mapped(values_NI: Tensor) -> Tensor:
        mapped_NO: Tensor = multiply(values_NI, packed, bias_O, "none", [], "")
        return mapped_NO

    return mapped
