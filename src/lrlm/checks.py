"""Check settings and tensors, and refuse by name those that do not fit."""

from collections.abc import Sequence

from torch import Tensor

from lrlm.errors import InputError, ShapeError


def check_at_least(name: str, value: float, minimum: float) -> None:
    """Refuse a number below `minimum`; `name` is the setting, as in `training.epochs`."""
    if not value >= minimum:
        raise InputError(f"{name} must be at least {minimum}, not {value}")


def check_rate(name: str, value: float) -> None:
    """Refuse a dropout rate, or another share, that is not in [0, 1)."""
    if not 0 <= value < 1:
        raise InputError(f"{name} must be at least 0 and less than 1, not {value}")


def check_shape(name: str, tensor: Tensor, expected: Sequence[int | None]) -> None:
    """Refuse a tensor of another shape than `expected`, in which None stands for any size."""
    fits = tensor.dim() == len(expected) and all(
        size is None or size == actual for size, actual in zip(expected, tensor.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in expected)
        raise ShapeError(f"{name} must have the shape ({wanted}), not {tuple(tensor.shape)}")
