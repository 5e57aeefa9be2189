"""Check files of weights before they are loaded: whether they are whole, and how much they hold."""

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from lrlm.errors import FormatError, InputError
from lrlm.plain_data import parse_json, read_json
from lrlm.text_files import reading

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"

_LARGEST_HEADER = 100 << 20
_LARGEST_INDEX = 64 << 20
_BYTES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2,
    "U16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}  # fmt: skip
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.msgpack", "*.h5")
_GGUF_MAGIC = b"GGUF"

Shapes = dict[str, tuple[int, ...]]
"""The shape of each tensor of a file, by its name."""


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Name the files that hold a model's weights, the index of a sharded one first."""
    if (folder / SINGLE).is_file():
        return (folder / SINGLE,)
    if (folder / INDEX).is_file():
        names = sorted(set(_weight_map(folder).values()))
        return (folder / INDEX, *(folder / name for name in names))
    others = sorted(path.name for path in folder.glob("*.safetensors"))
    if others:
        raise FormatError(
            f"{folder}: {others[0]} is there, but neither {SINGLE} nor {INDEX}, which says what"
            " is in which file"
        )
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise InputError(
            f"{folder}: its weights ({pickles[0]}) can run code when they are read, so only"
            " safetensors are; where you trust them, convert them with transformers:"
            " AutoModelForCausalLM.from_pretrained(…).save_pretrained(…)"
        )
    raise FormatError(f"{folder}: holds no weights ({SINGLE})")


def safetensors_shapes(folder: Path) -> Shapes:
    """Check all safetensors files of a model, and give the shapes of their tensors."""
    index, *_ = files = weight_files(folder)
    if index.name == SINGLE:
        return _checked_shapes(index)
    inside: dict[str, Shapes] = {}
    for path in files[1:]:
        if not path.is_file():
            raise FormatError(
                f"{path}: there is no such file, but {INDEX} says that weights are in it"
            )
        inside[path.name] = _checked_shapes(path)
    shapes: Shapes = {}
    for name, file in _weight_map(folder).items():
        if name not in inside[file]:
            raise FormatError(f"{folder / file}: lacks {name}, which {INDEX} says is in it")
        shapes[name] = inside[file][name]
    return shapes


def _weight_map(folder: Path) -> Mapping[str, str]:
    index = read_json(folder / INDEX, largest=_LARGEST_INDEX)
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not places:
        raise FormatError(f"{folder / INDEX}: has no weight_map that says what is in which file")
    for name in places.values():
        if not isinstance(name, str) or Path(name).name != name or name.startswith("."):
            raise FormatError(f"{folder / INDEX}: {name!r} is not the name of a file beside it")
    return places


def _checked_shapes(path: Path) -> Shapes:
    """Read the header of a safetensors file, and check that the tensors fill the rest exactly."""
    with reading(path, "a safetensors file"):
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(size - 8, _LARGEST_HEADER):
                raise FormatError(
                    f"{path}: not a safetensors file, or truncated (its header does not fit)"
                )
            header = parse_json(file.read(length), where=f"{path}: its header")
        if not isinstance(header, dict):
            raise FormatError(f"{path}: not a safetensors file (its header is no table)")
        header.pop("__metadata__", None)
        end = 0
        shapes: Shapes = {}
        for name, entry in sorted(header.items(), key=_offset):
            first, last = entry["data_offsets"]
            shape = tuple(entry["shape"])
            if entry["dtype"] not in _BYTES:
                raise FormatError(f"{path}: {name} has numbers of the type {entry['dtype']}")
            is_sound = all(isinstance(each, int) and each >= 0 for each in shape)
            wanted = prod(shape) * _BYTES[entry["dtype"]]
            if not is_sound or first != end or last - first != wanted:
                raise FormatError(f"{path}: damaged ({name} is not where its header says)")
            end, shapes[name] = last, shape
    if end != size - 8 - length:
        found = size - 8 - length
        raise FormatError(
            f"{path}: damaged or truncated (its tensors take {end:,} bytes, but it has {found:,})"
        )
    return shapes


def _offset(item: tuple[str, Any]) -> tuple[int, int]:
    first, last = item[1]["data_offsets"]
    return int(first), int(last)


def gguf_shapes(path: Path) -> Shapes:
    """Check a GGUF file, and give the shapes of its tensors."""
    from gguf import GGUFReader

    with reading(path, "a GGUF file"):
        with path.open("rb") as file:
            magic, version = struct.unpack("<4sI", file.read(8))
        if magic != _GGUF_MAGIC or not 1 <= version <= 3:
            raise FormatError(f"{path}: not a GGUF file")
        size = path.stat().st_size
        shapes: Shapes = {}
        for tensor in GGUFReader(path).tensors:
            if int(tensor.data_offset) + int(tensor.n_bytes) > size:
                raise FormatError(f"{path}: truncated ({tensor.name} is behind its end)")
            shapes[tensor.name] = tuple(int(each) for each in tensor.shape)
    return shapes


def is_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do, whatever it is called."""
    with reading(path, "a readable file"), path.open("rb") as file:
        return file.read(4) == _GGUF_MAGIC
