"""Check settings and tensors, and refuse by name those that do not fit."""

from collections.abc import Sequence

from torch import Tensor

from lrlm.errors import InputError, ShapeError


def check_at_least(name: str, value: float, minimum: float) -> None:
    """Refuse a number below `minimum`; `name` is the user's name for it: `LstmConfig.layers`."""
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


def check_ids(name: str, ids: Tensor, lowest: int, count: int) -> None:
    """Refuse ids outside [lowest, count), naming the first of them and where it stands."""
    if ids.is_floating_point() or ids.is_complex():
        raise ShapeError(f"{name} must hold whole numbers, not {ids.dtype}")
    if ids.numel() == 0 or ids.is_meta:
        return
    smallest, largest = ids.aminmax()
    if int(smallest) < lowest or int(largest) >= count:
        place = ((ids < lowest) | (ids >= count)).nonzero()[0].tolist()
        value = int(ids[tuple(place)])
        raise InputError(f"{name}{place} is {value}, but ids here are from {lowest} to {count - 1}")
