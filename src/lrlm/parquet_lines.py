"""Read a Parquet file as lines of JSON, an object for each row.

So whatever reads lines reads Parquet, too: articles are such objects already, and the cells of a
table are their fields. Rows are read in small batches, so memory does not grow with the file.
"""

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lrlm.errors import FormatError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC = b"PAR1"

_ROWS_AT_ONCE = 1024


def is_parquet(path: Path) -> bool:
    """Look whether a file is Parquet, by its first bytes: its name may say anything."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Give the names of a file's columns, in order."""
    with path.open("rb") as file:
        return tuple(_opened(file, path).schema_arrow.names)


class ParquetLines(io.RawIOBase):
    """The rows of a Parquet file as a stream of bytes: JSON, a line each.

    A field without a value is left out. Dates are written as `1961-08-04`, and a whole number is
    written as one also where its column is of floating point, because others in it are missing.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self._lines = self._read(_opened(file, path))
        self._rest = b""

    def readable(self) -> bool:
        """Tell that this can be read, as streams are asked."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill a part of the buffer; 0 at the end."""
        import pyarrow as pa

        view = memoryview(buffer)
        if not self._rest:
            try:
                self._rest = next(self._lines, b"")
            except (pa.ArrowException, ValueError) as error:
                raise EOFError(" ".join(str(error).split())) from None
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()

    def _read(self, parquet: Any) -> Iterator[bytes]:
        names = parquet.schema_arrow.names
        for batch in parquet.iter_batches(batch_size=_ROWS_AT_ONCE):
            columns = [column.to_pylist() for column in batch.columns]
            yield b"".join(_line(names, row) for row in zip(*columns, strict=True))


def _opened(file: IO[bytes], path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: not Parquet, or damaged ({reason})") from None
    for field in parquet.schema_arrow:
        if _holds_bytes(field.type):
            raise FormatError(f"{path}: the column {field.name!r} holds bytes, not text")
    names = parquet.schema_arrow.names
    if len(set(names)) < len(names):
        raise FormatError(f"{path}: two columns have the same name")
    return parquet


def _holds_bytes(type_: Any) -> bool:
    import pyarrow.types as kinds

    tests = kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view, kinds.is_fixed_size_binary
    return any(test(type_) for test in tests)


def _line(names: Sequence[str], row: Iterable[Any]) -> bytes:
    fields = zip(names, map(_plain, row), strict=True)
    record = {name: value for name, value in fields if value is not None}
    return json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n"


def _plain(value: Any) -> Any:
    """Write a value as JSON has it; None for one that is missing."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, date):
        day = value.date() if isinstance(value, datetime) else value  # texts name the day
        return day.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, list):
        return [each for each in map(_plain, value) if each is not None]
    return None if isinstance(value, time | timedelta) else value  # no text writes those so
