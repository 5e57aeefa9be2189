"""Tensors in, a safetensors file out, and back: what does not fit is refused naming the file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from lrlm.checks import check_shape
from lrlm.errors import FormatError, ShapeError

Shape = Sequence[int | None]
"""None stands for any size."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name."""
    path.touch()  # for the permissions that files have here; those of the library are narrower
    mode = path.stat().st_mode
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    path.chmod(mode)


def read_tensors(path: Path, shapes: Mapping[str, Shape]) -> dict[str, Tensor]:
    """Read tensors that have these names and shapes, and no others; half precision is widened."""
    try:
        tensors = load_file(path)
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except (OSError, SafetensorError) as error:
        raise FormatError(f"{path}: not a safetensors file, or damaged ({error})") from None
    if tensors.keys() != shapes.keys():
        odd = ", ".join(sorted(tensors.keys() ^ shapes.keys()))
        raise FormatError(f"{path}: tensors are missing or too many: {odd}")
    for name, shape in shapes.items():
        if not tensors[name].is_floating_point():
            raise FormatError(f"{path}: {name} must hold real numbers, not {tensors[name].dtype}")
        try:
            check_shape(name, tensors[name], shape)
        except ShapeError as error:
            raise FormatError(f"{path}: {error}") from None
    return {name: tensor.float() for name, tensor in tensors.items()}
