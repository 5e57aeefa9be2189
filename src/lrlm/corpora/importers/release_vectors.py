"""Convert the vectors and word probabilities of a published archive, without executing anything.

Vectors are in tensor files of PyTorch (`.pt`). torch is not asked to read them: both containers are
read here, the zip of today and the row of pickles before version 1.6. What says where a tensor lies
is read as words, and every number in it is checked against the file.
"""

import io
import math
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from lrlm.corpora.importers.plain_pickle import (
    PickledCall,
    PickledReference,
    PickledSymbol,
    load_plain,
)
from lrlm.errors import FormatError
from lrlm.text_files import BadLineError, BadLines, read_records, reading

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
_LARGEST_DIRECTORY = 8 << 20
"""Bytes of the list of a zip's files; that of a tensor has a handful of them."""
_ENCRYPTED = 0x1
"""The bit in a member's flags."""
_LARGEST_COUNT = 1 << 48
_NUMBERS_AT_ONCE = 1 << 20

_Matrix = npt.NDArray[np.float32]
_Storage = Callable[[str, int], bytes]
"""Gives the bytes of a storage by its key and its size: exactly so many, or an error."""


def read_matrix(path: Path, where: str) -> _Matrix:
    """Read the one matrix of numbers that a file holds."""
    with reading(where, "a file of tensors"), path.open("rb") as stream:
        if zipfile.is_zipfile(stream):
            return _read_zip(stream, where)
        stream.seek(0)
        return _read_legacy(stream, where)


class _BoundedReads(io.RawIOBase):
    """A file that can be told to give no more than so many bytes at once.

    Opening a zip reads the list of its files into memory, as large as the zip says that it is.
    """

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream = stream
        self.most: int | None = most

    def read(self, size: int = -1) -> bytes:
        if self.most is None:
            return self._stream.read(size)
        content = self._stream.read(self.most + 1 if size < 0 else min(size, self.most + 1))
        if len(content) > self.most:
            raise zipfile.BadZipFile("the list of its files is too large")
        return content

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True


def _read_zip(stream: IO[bytes], where: str) -> _Matrix:
    size_of_file = stream.seek(0, 2)
    bounded = _BoundedReads(stream, _LARGEST_DIRECTORY)
    with zipfile.ZipFile(cast("IO[bytes]", bounded)) as archive:
        bounded.most = None
        members = {info.filename: info for info in archive.infolist()}

        def stored(name: str, *, most: int = size_of_file, size: int | None = None) -> bytes:
            """Read a member: as many bytes as were promised, and no more than are there."""
            info = members.get(name)
            # Nothing is compressed by torch, so nothing can be larger than the file.
            if (
                info is None
                or info.compress_type != zipfile.ZIP_STORED
                or info.flag_bits & _ENCRYPTED
                or info.file_size != info.compress_size
                or info.file_size > min(most, size_of_file - info.header_offset)
                or size not in (None, info.file_size)
            ):
                raise FormatError(f"{where}: the bytes of {_shown(name)} are not in the file")
            with archive.open(info) as content:
                return _exactly(content, info.file_size, where)

        headers = [name for name in members if name.endswith("/data.pkl")]
        if len(headers) != 1:
            raise FormatError(f"{where}: not a file of tensors (no data.pkl in the zip)")
        folder = headers[0].removesuffix("data.pkl")
        order = f"{folder}byteorder"
        if order in members and stored(order, most=_LARGEST_HEADER)[:6] != b"little":
            raise FormatError(f"{where}: written with the most significant byte first; refused")
        header = io.BytesIO(stored(headers[0], most=_LARGEST_HEADER))
        content = load_plain(header, f"{where}: {_shown(headers[0])}", symbols=_SYMBOLS)
        return _matrix(content, lambda key, size: stored(f"{folder}data/{key}", size=size), where)


def _read_legacy(stream: IO[bytes], where: str) -> _Matrix:
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
        _exactly(stream, struct.calcsize("<q"), where)
        here = stream.tell()
        if size > stream.seek(0, 2) - here:
            raise FormatError(f"{where}: damaged or truncated")
        stream.seek(here)
        return _exactly(stream, size, where)

    return _matrix(content, storage, where)


def _exactly(stream: IO[bytes], size: int, where: str) -> bytes:
    """Read so many bytes; fewer are an error, whatever was promised."""
    content = stream.read(size)
    if len(content) != size:
        raise FormatError(f"{where}: damaged or truncated")
    return content


def _shown(name: str) -> str:
    return ascii(name[:80])[1:-1]


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
            places = (count, offset, rows, columns, row_step, column_step)
            if min(places) < 0:
                raise FormatError(f"{where}: the tensor has a size below zero")
            last = offset + (rows - 1) * row_step + (columns - 1) * column_step
            if max(places) > _LARGEST_COUNT or rows * columns > count:
                raise FormatError(f"{where}: the tensor reaches beyond its numbers")
            if rows * columns and last >= count:
                raise FormatError(f"{where}: the tensor reaches beyond its numbers")
            number = np.dtype(_STORAGES[kind])
            numbers = np.frombuffer(storage(key, count * number.itemsize), number)
            return _gather(numbers, offset, (rows, columns), (row_step, column_step))
    raise FormatError(f"{where} does not hold one matrix of floating point numbers")


def _gather(
    numbers: npt.NDArray[Any], offset: int, shape: tuple[int, int], steps: tuple[int, int]
) -> _Matrix:
    """Take the numbers of a matrix by their places; numpy refuses every place that is not there."""
    rows, columns = shape
    matrix = np.empty(shape, np.float32)
    if not matrix.size:
        return matrix
    places_C = offset + np.arange(columns) * steps[1]
    at_once = max(1, _NUMBERS_AT_ONCE // columns)
    for start in range(0, rows, at_once):
        rows_R = np.arange(start, min(start + at_once, rows))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
            matrix[start : start + at_once] = numbers[rows_R[:, None] * steps[0] + places_C]
    return matrix


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
