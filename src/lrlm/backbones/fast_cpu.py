"""Operations that are fast on a CPU: dropout, and linear maps of few rows.

Shapes: N rows, I input width, O output width.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

LEVELS = 2**16
"""Random 16-bit numbers decide on a CPU, so a rate there is rounded to a multiple of 1 / LEVELS."""


def dropout(values: Tensor, rate: float, training: bool) -> Tensor:
    """Drop a share `rate` of the values in training; in evaluation return them untouched.

    On a CPU the generator behind `torch.nn.functional.dropout` costs as much as a layer; cutting
    each 64-bit random number into four 16-bit ones is several times faster.
    """
    if not training or rate == 0:
        return values
    if values.device.type != "cpu":
        return functional.dropout(values, rate)
    dropped = round(rate * LEVELS)
    if dropped == LEVELS:
        return values * 0.0
    count = values.numel()
    lowest = torch.iinfo(torch.int64).min
    numbers = torch.empty(-(-count // 4), dtype=torch.int64).random_(lowest, None)
    kept = numbers.view(torch.int16)[:count].view(values.shape) >= dropped - LEVELS // 2
    return values * kept.to(values.dtype).mul_(LEVELS / (LEVELS - dropped))


class Dropout(nn.Module):
    """Drops a share of the values in training, which training may lower for a while."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.share = 1.0
        """How much of the rate is in force."""

    def forward(self, values: Tensor) -> Tensor:
        """Drop values, or in evaluation return them untouched."""
        return dropout(values, self.rate * self.share, self.training)


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


def can_be_packed(weight_OI: Tensor) -> bool:
    """Whether weights like these can be laid out for the kernel."""
    return _packed(weight_OI.detach()[:1], None) is not None


def is_made_for_bfloat16() -> bool:
    """Whether this CPU multiplies in bfloat16 faster than in float32."""
    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in asked)


class PackedLinear(nn.Module):
    """A linear layer whose weights never change, laid out for a CPU; it keeps no other copy."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        reorder = torch.ops.mkldnn._reorder_linear_weight  # noqa: SLF001
        self._packed = reorder(linear.weight.detach(), _ROWS)
        self.bias = None if linear.bias is None else linear.bias.detach()
        self.in_features, self.out_features = linear.in_features, linear.out_features

    @property
    def weight(self) -> Tensor:
        """The weights as they were, made anew each time."""
        dense_OI: Tensor = self._packed.to_dense()
        return dense_OI

    def forward(self, values: Tensor) -> Tensor:
        """Map values of any number of dimensions."""
        if values.requires_grad or values.dtype != torch.float32:
            return functional.linear(values, self.weight, self.bias)
        multiply = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001
        mapped: Tensor = multiply(values, self._packed, self.bias, "none", [], "")
        return mapped


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
