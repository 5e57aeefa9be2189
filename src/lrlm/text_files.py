"""Read text files line by line, plain or compressed, and account for every bad line."""

import bz2
import codecs
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any, Self, TypeVar, cast
from xml.parsers.expat import ExpatError

from lrlm.errors import FormatError, InputError, LrlmError, TooManyBadLinesError
from lrlm.parquet_lines import ParquetLines, is_parquet

LONGEST_LINE = 64 << 20
"""Bytes; a longer line is not an article but a wrong file."""

LARGEST_RATIO = 200
"""How often a compressed file may hold its own size; those of data hold it 5 to 20 times."""
ALWAYS_ALLOWED = 64 << 20
"""Bytes that any file may hold, however small it is itself."""
MOST_LINES_A_BYTE = 8
"""Lines that a compressed file may hold for each of its bytes; those of data hold one for three or
more. Empty lines are nothing when they are compressed, but reading them takes time."""
ALWAYS_ALLOWED_LINES = 4_000_000
LINES_BEFORE_GIVING_UP = 100_000
"""A file with too many bad lines is given up after this many lines, not at its end."""

MOST_TOLD = 1000
"""Bad lines that are told one by one; the others are counted."""

_BLOCK = 1 << 20
_SKIP_BLOCK = 4 << 20
_STREAM_BLOCK = 1 << 16
"""Where a file is damaged, what was read together with the damage is lost: at most so much."""

Record = TypeVar("Record")


@dataclass
class BadLines:
    """Counts the lines that cannot be used, says where they are, and stops when they are many."""

    max_share: float = 0.001
    """The share of a file's lines that may be bad."""
    count: int = 0
    examples: list[str] = field(default_factory=list)
    """The first thousand and the first of every file, each with its file, line and reason."""
    _files: set[Path] = field(default_factory=set)

    def check(self, path: Path, bad: int, lines: int) -> None:
        """Stop if more of a file's lines are bad than is allowed."""
        if bad > self.max_share * lines:
            first = next(text for text in self.examples if text.startswith(f"{path}:"))
            raise TooManyBadLinesError(
                f"{first} ({bad:,} of {lines:,} lines are bad, more than the allowed"
                f" {self.max_share:.3%})"
            )

    def add(self, path: Path, line: int, reason: str) -> None:
        """Count one bad line."""
        self.count += 1
        if len(self.examples) < MOST_TOLD or path not in self._files:
            self._files.add(path)
            self.examples.append(f"{path}:{line}: {reason}")


class BadLineError(LrlmError):
    """Says why one line cannot be used; a parser raises it, and `read_records` counts it."""


@contextmanager
def reading(where: Path | str, what: str = "as it should be") -> Iterator[None]:
    """Turn whatever a reader throws at what it reads into a `FormatError` that names the file.

    The readers of the standard library and of others throw errors of a dozen kinds at files that
    are damaged or made to do harm. This is the one place that knows them. What a program does with
    the content once it is read stays outside, for its errors are not the file's. `what` says what
    the file should be.
    """
    try:
        yield
    except LrlmError:
        raise
    except OSError as error:
        raise FormatError(f"{where}: cannot be read ({error.strerror or _shown(error)})") from error
    except MemoryError as error:
        raise FormatError(f"{where}: asks for more memory than there is") from error
    except RecursionError as error:
        raise FormatError(f"{where}: nested too deep") from error
    except EOFError as error:
        raise FormatError(f"{where}: damaged or truncated ({_shown(error)})") from error
    except _WHAT_READERS_THROW as error:
        raise FormatError(f"{where}: not {what}, or damaged ({_shown(error)})") from error


_WHAT_READERS_THROW = (
    ValueError,  # with it what cannot be decoded, and integers of 5,000 digits
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    BufferError,
    RuntimeError,  # of zipfile where a password is needed, of torch, NotImplementedError
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    ExpatError,
)
_LONGEST_REASON = 200


def _shown(error: Exception) -> str:
    """Give the reason on one line; some errors quote the whole of what they cannot read."""
    reason = " ".join(str(error)[: 2 * _LONGEST_REASON].split()) or type(error).__name__
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


class Expansion:
    """How much a compressed file may still hold, by its own size.

    Compressed zeros expand a thousandfold and more: a small file must not fill disk or memory, nor
    take hours.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        size = path.stat().st_size
        self.bytes_left = ALWAYS_ALLOWED + LARGEST_RATIO * size
        self._lines_left = ALWAYS_ALLOWED_LINES + MOST_LINES_A_BYTE * size

    def take(self, size: int, lines: int = 0) -> None:
        """Count what was read, and refuse a file that holds more than it honestly can."""
        self.bytes_left -= size
        self._lines_left -= lines
        if self.bytes_left < 0:
            raise FormatError(
                f"{self._path}: expands to more than {LARGEST_RATIO} times its size; refused"
            )
        if self._lines_left < 0:
            raise FormatError(f"{self._path}: expands to more lines than data have; refused")


class MeteredStream:
    """The text of a file, which stops when it is far more than the file can honestly hold."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._expansion = Expansion(path)

    def read(self, size: int) -> bytes:
        """Read up to so many bytes."""
        content = self._stream.read(min(size, self._expansion.bytes_left + 1))
        self._expansion.take(len(content))
        return content


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
    """Parse lines as `read_records` does, from wherever they come; `path` names their origin."""
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
        if lines % LINES_BEFORE_GIVING_UP == 0:
            bad_lines.check(path, bad, lines)
    bad_lines.check(path, bad, lines)
    if not records:
        raise FormatError(f"{path} is empty")


def raw_lines(path: Path) -> Iterator[bytes]:
    """Split a file into lines, holding no more than a block and one long line at a time."""
    try:
        stream = open_by_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    with stream:
        yield from stream_lines(stream, path, None if is_plain(path) else Expansion(path))


def stream_lines(
    stream: IO[bytes], path: Path, expansion: Expansion | None = None
) -> Iterator[bytes]:
    """Split an open file into lines as `raw_lines` does; `path` names it in errors."""
    read = stream.read1 if isinstance(stream, io.BufferedReader) else stream.read
    rest = b""
    number = 1
    try:
        while block := read(_BLOCK):
            if expansion is not None:
                expansion.take(len(block), block.count(b"\n"))
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


class Compression(Enum):
    """What a file is compressed with, by its first bytes: its name may say anything."""

    GZIP = b"\x1f\x8b"
    BZIP2 = b"BZh"
    XZ = b"\xfd7zXZ\x00"

    @classmethod
    def of(cls, path: Path) -> "Compression | None":
        """Look at a file; None if it is not compressed."""
        with path.open("rb") as file:
            beginning = file.read(6)
        return next((each for each in cls if beginning.startswith(each.value)), None)


def is_plain(path: Path) -> bool:
    """Whether the text of a file is what lies on disk: neither compressed nor Parquet."""
    return Compression.of(path) is None and not is_parquet(path)


def open_by_content(path: Path) -> IO[bytes]:
    """Open the text of a file as bytes, by what the file is and not by what it is called."""
    match Compression.of(path):
        case Compression.GZIP:
            return cast("IO[bytes]", gzip.open(path, "rb"))
        case Compression.BZIP2:
            return bz2.open(path, "rb")
        case Compression.XZ:
            return lzma.open(path, "rb")
    if is_parquet(path):
        return cast("IO[bytes]", ParquetLines(path.open("rb"), path))
    return path.open("rb")


class TextStream:
    """The text of a very large file as bytes, read into memory of the caller as fast as can be.

    It knows how far the file itself has been read, and up to where a damaged file is whole.
    """

    def __init__(self, raw: io.BufferedReader, text: Any) -> None:
        self._raw, self._text = raw, text

    @classmethod
    def open(cls, path: Path, *, threads: int = 1) -> Self:
        """Open a file by what it is; `threads` may decompress it where the format allows that."""
        try:
            raw = path.open("rb")
            match Compression.of(path):
                case Compression.GZIP:
                    return cls(raw, _fast_gzip(raw))
                case Compression.BZIP2:
                    return cls(raw, _fast_bzip2(path, raw, threads))
                case Compression.XZ:
                    return cls(raw, lzma.open(raw))
            if is_parquet(path):
                return cls(raw, ParquetLines(raw, path))
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        return cls(raw, raw)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()
        self._raw.close()

    def position(self) -> int:
        """How far the file itself has been read, in its own (compressed) bytes."""
        if hasattr(self._text, "tell_compressed"):
            return int(self._text.tell_compressed()) // 8
        return self._raw.tell()

    def fill(self, view: memoryview) -> tuple[int, str | None]:
        """Read until the view is full or the text ends; give the bytes read, and any damage."""
        filled = 0
        while filled < len(view):
            try:
                size = self._text.readinto(view[filled : filled + _STREAM_BLOCK])
            except _DAMAGES as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                return filled, str(error) or type(error).__name__
            if not size:
                break
            filled += size
        return filled, None

    def skip(self, size: int) -> str | None:
        """Go to byte `size` of the text; give the damage that is in the way, if there is any."""
        if self._text is self._raw:
            self._raw.seek(size)
            return None
        buffer = memoryview(bytearray(min(size, _SKIP_BLOCK)))
        while size > 0:
            skipped, damage = self.fill(buffer[:size])
            if damage is not None or not skipped:
                return damage
            size -= skipped
        return None


def beginning_of(path: Path, size: int = 1 << 16) -> bytes:
    """Read the first bytes of a file's text."""
    buffer = bytearray(size)
    with TextStream.open(path) as stream:
        filled, damage = stream.fill(memoryview(buffer))
    if damage is not None:
        raise FormatError(f"{path}:1: damaged or truncated ({damage})")
    return bytes(buffer[:filled])


def _isal_error() -> type[Exception]:
    """Give what isal raises at damage, which is of no other kind."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.error
    return cast("type[Exception]", isal_zlib.IsalError)


# The optional readers raise the first three for damage, the standard ones the others.
_DAMAGES = (_isal_error(), RuntimeError, ValueError, EOFError, zlib.error, lzma.LZMAError, OSError)


def _fast_gzip(raw: io.BufferedReader) -> Any:
    """Decompress in a thread, three times as fast as the standard library, if isal is there."""
    try:
        from isal import igzip_threaded
    except ImportError:
        return gzip.open(cast("Any", raw))
    return igzip_threaded.open(raw, threads=1)


def _fast_bzip2(path: Path, raw: io.BufferedReader, threads: int) -> Any:
    """Decompress on all cores if rapidgzip is there, or on one with the standard library."""
    try:
        import rapidgzip
    except ImportError:
        return bz2.open(raw)
    return rapidgzip.IndexedBzip2File(str(path), parallelization=threads)
