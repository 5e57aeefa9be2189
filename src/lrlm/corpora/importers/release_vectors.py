"""Convert the vectors and word probabilities of a published archive, without executing anything.

Vectors are in tensor files of PyTorch (`.pt`). torch is not asked to read them: both containers are
read here, the zip of today and the row of pickles before version 1.6. What says where a tensor lies
is read as words, and every number in it is checked against the file.
"""

import math
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from lrlm.corpora.importers.plain_pickle import (
    PickledCall,
    PickledReference,
    PickledSymbol,
    load_plain,
)
from lrlm.errors import FormatError
from lrlm.text_files import BadLineError, BadLines, read_records

_STORAGES = {
    "torch.FloatStorage": "<f4",
    "torch.DoubleStorage": "<f8",
    "torch.HalfStorage": "<f2",
}
_TENSORS = frozenset(("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor"))
_PARAMETER = "torch._utils._rebuild_parameter"
_SYMBOLS = frozenset((*_STORAGES, *_TENSORS, _PARAMETER, "collections.OrderedDict"))

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
_LARGEST_HEADER = 1 << 20
"""Bytes; what describes one tensor is far smaller."""

_Matrix = npt.NDArray[np.float32]
_Storage = Callable[[str, int], bytes]
"""Gives a number of bytes of a storage by its key."""


def read_matrix(path: Path, where: str) -> _Matrix:
    """Read the one matrix of numbers that a file holds."""
    try:
        if zipfile.is_zipfile(path):
            return _read_zip(path, where)
        return _read_legacy(path, where)
    except (zipfile.BadZipFile, struct.error, EOFError, NotImplementedError, OSError) as error:
        raise FormatError(f"{where}: cannot be read as tensors ({error})") from None


def _read_zip(path: Path, where: str) -> _Matrix:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        headers = [name for name in members if name.endswith("/data.pkl")]
        if len(headers) != 1 or members[headers[0]].file_size > _LARGEST_HEADER:
            raise FormatError(f"{where}: not a file of tensors (no data.pkl in the zip)")
        folder = headers[0].removesuffix("data.pkl")
        order = members.get(f"{folder}byteorder")
        if order is not None and archive.read(order)[:6] != b"little":
            raise FormatError(f"{where}: written with the most significant byte first; refused")
        with archive.open(headers[0]) as stream:
            content = load_plain(stream, f"{where}: {headers[0]}", symbols=_SYMBOLS)

        def storage(key: str, size: int) -> bytes:
            info = members.get(f"{folder}data/{key}")
            # Nothing is compressed, so nothing can be larger than the file.
            if info is None or info.compress_type != zipfile.ZIP_STORED or info.file_size < size:
                raise FormatError(f"{where}: the numbers of the tensor are not in the file")
            with archive.open(info) as numbers:
                return numbers.read(size)

        return _matrix(content, storage, where)


def _read_legacy(path: Path, where: str) -> _Matrix:
    with path.open("rb") as stream:
        if load_plain(stream, where) != _LEGACY_MAGIC:
            raise FormatError(f"{where}: not a file of tensors")
        if load_plain(stream, where) != _LEGACY_VERSION:
            raise FormatError(f"{where}: tensors in an unknown version of their format")
        system = load_plain(stream, where)
        if not isinstance(system, dict) or system.get("little_endian") is not True:
            raise FormatError(f"{where}: written with the most significant byte first; refused")
        content = load_plain(stream, where, symbols=_SYMBOLS)
        keys = load_plain(stream, where)

        def storage(key: str, size: int) -> bytes:
            # One tensor has one storage; it follows its count of numbers.
            if keys != [key]:
                raise FormatError(f"{where} holds more than one tensor; refused")
            stream.seek(struct.calcsize("<q"), 1)
            return _exactly(stream, size, where)

        return _matrix(content, storage, where)


def _exactly(stream: IO[bytes], size: int, where: str) -> bytes:
    here = stream.tell()
    left = stream.seek(0, 2) - here
    if size > left:
        raise FormatError(f"{where}: damaged or truncated")
    stream.seek(here)
    return stream.read(size)


def _matrix(content: Any, storage: _Storage, where: str) -> _Matrix:
    match content:
        case PickledCall(PickledSymbol(name), (inner, *_)) if name == _PARAMETER:
            return _matrix(inner, storage, where)
        case PickledCall(
            PickledSymbol(name),
            (
                PickledReference(("storage", PickledSymbol(kind), str(key), _, int(count), *_)),
                int(offset),
                (int(rows), int(columns)),
                (int(row_step), int(column_step)),
                *_,
            ),
        ) if name in _TENSORS and kind in _STORAGES:
            steps = (row_step, column_step)
            if min(count, offset, rows, columns, *steps) < 0:
                raise FormatError(f"{where}: the tensor has a size below zero")
            last = offset + (rows - 1) * row_step + (columns - 1) * column_step
            if rows * columns > count or (rows * columns and last >= count):
                raise FormatError(f"{where}: the tensor reaches beyond its numbers")
            number = np.dtype(_STORAGES[kind])
            numbers = np.frombuffer(storage(key, count * number.itemsize), number)
            view = np.lib.stride_tricks.as_strided(
                numbers[offset:],
                (rows, columns),
                tuple(step * number.itemsize for step in steps),
                writeable=False,
            )
            return np.ascontiguousarray(view, np.float32)
    raise FormatError(f"{where} does not hold one matrix of floating point numbers")


def write_vectors(
    files: Sequence[tuple[str, Path, str]], names: Callable[[str, int], str], folder: Path
) -> None:
    """Write the published vectors as OpenKE does, a row an id, under the corpus's own names.

    A file is given with its kind (entity or relation) and with what it is called in errors; `names`
    names a row of a kind.
    """
    folder.mkdir()
    widths = set()
    for kind, path, where in files:
        matrix = read_matrix(path, where)
        if not np.isfinite(matrix).all():
            raise FormatError(f"{where}: not all numbers are finite")
        widths.add(matrix.shape[1])
        with (folder / f"{kind}2id.txt").open("w", encoding="utf-8") as file:
            file.write(f"{len(matrix)}\n")
            file.writelines(f"{names(kind, row)}\t{row}\n" for row in range(len(matrix)))
        matrix.astype("<f4").tofile(folder / f"{kind}2vec.bin")
    if len(widths) > 1:
        raise FormatError(f"{where}: vectors of entities and relations differ in width")


def copy_word_log_probs(source: Path, target: Path) -> int:
    """Copy a table of words with log-probabilities; give how many lines cannot be used."""
    bad_lines = BadLines(max_share=1)
    with target.open("w", encoding="utf-8") as file:
        for word, value in read_records(source, parse_word_and_value, bad_lines):
            file.write(f"{word}\t{value!r}\n")
    return bad_lines.count


def parse_word_and_value(line: str) -> tuple[str, float]:
    """Read `word TAB natural logarithm of its probability`."""
    word, _, number = line.rpartition("\t")
    try:
        value = float(number)
    except ValueError:
        raise BadLineError("expected a word, a tab and a number") from None
    if not word or "\t" in word or not math.isfinite(value) or value > 0:
        raise BadLineError("expected a word and the logarithm of a probability")
    return word, value
