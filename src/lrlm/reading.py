"""Text files in, plain or compressed; records out, with every bad line accounted for."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar, cast

from lrlm.errors import FormatError, InputError

LONGEST_LINE = 64 << 20
"""Bytes; a longer line is not an article but a wrong file."""

_BLOCK = 1 << 20

Record = TypeVar("Record")


@dataclass
class BadLines:
    """Counts what cannot be used, remembers the first few, and knows when it is too much."""

    max_share: float = 0.001
    """The share of a file's lines that may be bad."""
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def check(self, path: Path, bad: int, lines: int) -> None:
        """Stop if more of a file's lines are bad than is allowed."""
        if bad > self.max_share * lines:
            first = next(text for text in self.examples if text.startswith(f"{path}:"))
            raise FormatError(
                f"{first} ({bad:,} of {lines:,} lines are bad, more than the"
                f" {self.max_share:.3%} that --max-bad allows)"
            )

    def add(self, path: Path, line: int, reason: str) -> None:
        """Count one bad line."""
        self.count += 1
        is_first_of_file = not any(text.startswith(f"{path}:") for text in self.examples)
        if len(self.examples) < 5 or is_first_of_file:
            self.examples.append(f"{path}:{line}: {reason}")


class BadLineError(Exception):
    """Why one line cannot be used; raised by a parser, counted by `read_records`."""


def read_records(
    path: Path, parse: Callable[[str], Record], bad_lines: BadLines, *, limit: int | None = None
) -> Iterator[Record]:
    """Parse a file line by line, skipping bad lines as long as there are few of them."""
    return parse_lines(raw_lines(path), path, parse, bad_lines, limit=limit)


def parse_lines(
    raw: Iterable[bytes],
    path: Path,
    parse: Callable[[str], Record],
    bad_lines: BadLines,
    *,
    limit: int | None = None,
) -> Iterator[Record]:
    """Do the same with lines that come from elsewhere; `path` says from where."""
    lines = bad = records = 0
    for number, line in enumerate(raw, start=1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901  a mark of some editors
        if limit is not None and records >= limit:
            break
        if not line.strip():
            continue
        lines += 1
        try:
            record = parse(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            bad += 1
            bad_lines.add(path, number, f"not UTF-8 at byte {error.start + 1} of the line")
        except BadLineError as error:
            bad += 1
            bad_lines.add(path, number, str(error))
        else:
            records += 1
            yield record
    bad_lines.check(path, bad, lines)
    if not records:
        raise FormatError(f"{path} is empty")


def raw_lines(path: Path) -> Iterator[bytes]:
    """Split a file into lines without ever holding more than one long line."""
    try:
        stream = open_by_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    with stream:
        yield from stream_lines(stream, path)


def stream_lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Do the same with what is open already; `path` says what it is."""
    read = stream.read1 if isinstance(stream, io.BufferedReader) else stream.read
    rest = b""
    number = 1
    try:
        while block := read(_BLOCK):
            *complete, rest = (rest + block).split(b"\n")
            for line in complete:
                yield line.removesuffix(b"\r")
                number += 1
            if len(rest) > LONGEST_LINE:
                raise FormatError(
                    f"{path}:{number}: a line of more than {LONGEST_LINE >> 20} MiB;"
                    " is this the right file?"
                )
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FormatError(f"{path}:{number}: damaged or truncated ({error})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if rest:
        yield rest.removesuffix(b"\r")


def open_by_content(path: Path) -> IO[bytes]:
    """Open a file by what it is, not by what it is called."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(path, "rb")
    return path.open("rb")
