"""Tensors, and the names of their rows, on disk.

Tensors are kept as safetensors, names as a JSON list. Everything that is read is checked, and a
file that is not as it should be is refused by its name.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lrlm.checks import check_shape
from lrlm.errors import FormatError, ShapeError
from lrlm.plain_data import read_json, shown
from lrlm.text_files import reading

_LONGEST_NAME = 1 << 14
_LARGEST_NAMES = 1 << 20

_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")
"""How the library that writes tensors tells an error of the system, such as a full disk."""

Shape = Sequence[int | None]
"""The size of each dimension; None stands for any size."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name."""
    path.touch()  # for the permissions that files have here; those of the library are narrower
    mode = path.stat().st_mode
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:
        number = _SYSTEM_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error
    path.chmod(mode)


def read_tensors(path: Path, shapes: Mapping[str, Shape]) -> dict[str, Tensor]:
    """Read tensors that have these names and shapes, and no others; half precision is widened."""
    if not path.is_file():
        raise FormatError(f"{path}: there is no such file")
    with reading(path, "a safetensors file"):
        try:
            with safe_open(path, "pt") as file:
                if odd := {*file.keys()} ^ shapes.keys():
                    raise FormatError(
                        f"{path}: tensors are missing or too many: {shown(sorted(odd))}"
                    )
                tensors = {name: file.get_tensor(name) for name in shapes}
        except SafetensorError as error:  # of no kind that others throw
            raise ValueError(str(error)) from error
    for name, shape in shapes.items():
        if not tensors[name].is_floating_point():
            raise FormatError(f"{path}: {name} must hold real numbers, not {tensors[name].dtype}")
        try:
            check_shape(name, tensors[name], shape)
        except ShapeError as error:
            raise FormatError(f"{path}: {error}") from None
    return {name: tensor.float() for name, tensor in tensors.items()}


def write_names(path: Path, names: Sequence[str]) -> None:
    """Write the names of a tensor's rows in their order."""
    # Escapes keep even halves of surrogate pairs, which UTF-8 cannot hold.
    path.write_text(json.dumps(list(names), indent=0) + "\n", encoding="utf-8")


def read_names(path: Path, *, count: int) -> tuple[str, ...]:
    """Read `count` names that all differ."""
    if not path.is_file():
        raise FormatError(f"{path}: there is no such file")
    with reading(path, "a list of names"):
        if path.stat().st_size > _LARGEST_NAMES + count * _LONGEST_NAME:
            raise FormatError(f"{path}: far larger than the names of {count:,} vectors can be")
        names = read_json(path)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{path}: must be a list of names")
    if len(set(names)) != len(names):
        raise FormatError(f"{path}: a name stands there twice")
    if len(names) != count:
        raise FormatError(f"{path}: holds {len(names):,} names, but there are {count:,} vectors")
    return tuple(names)
