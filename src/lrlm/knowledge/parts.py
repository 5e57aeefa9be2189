"""A dump in, plain or compressed; parts of whole lines out, cut the same way on every run.

A part ends at the last line end within its size, so the parts of a file depend on nothing but its
content. Memory holds one part.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lrlm.errors import FormatError, InputError

PART_BYTES = 32 << 20
"""Of text, not of its compressed form: what a worker takes at a time, and what a kill can cost."""

_SKIP_BYTES = 4 << 20

_READ_BYTES = 1 << 16
"""Read at a time: where a file is damaged, what was read together with the damage is lost."""


@dataclass(frozen=True)
class Part:
    """Whole lines of a file: the bytes from `start` to `end` of its text."""

    number: int
    start: int
    end: int
    position: int
    """How far the file itself has been read, in its own (compressed) bytes."""
    damage: str | None = None
    """Why nothing can be read after this part, if the file is truncated or damaged."""


def beginning(path: Path, size: int = 1 << 16) -> bytes:
    """Give the first bytes of a file's text."""
    with _open(path, threads=1) as stream:
        try:
            return stream.read_up_to(size)
        except _DamageError as error:
            raise FormatError(f"{path}:1: damaged or truncated ({error})") from None


def parts(
    path: Path, *, size: int = PART_BYTES, threads: int = 1, number: int = 0, start: int = 0
) -> Iterator[tuple[Part, memoryview]]:
    """Cut a file into parts, beginning with part `number` at byte `start` of its text.

    The text that comes with a part is overwritten when the next part is asked for.
    """
    buffer = bytearray(size)
    kept = 0
    damage = None
    with _open(path, threads=threads) as stream:
        try:
            stream.skip(start)
        except _DamageError as error:
            raise FormatError(f"{path}: damaged or truncated ({error})") from None
        while True:
            try:
                filled = kept + stream.fill(memoryview(buffer)[kept:])
            except _DamageError as error:
                filled, damage = kept + error.filled, str(error)
            at_end = filled < size and damage is None
            if at_end:
                cut = filled
            else:
                cut = buffer.rfind(b"\n", 0, filled) + 1
                if not cut and damage is None:
                    raise FormatError(
                        f"{path}: a line of more than {size >> 20 or 1} MiB after byte {start:,};"
                        " is this the right file?"
                    )
            if cut or damage is not None:
                mark = number == 0 and buffer.startswith(codecs.BOM_UTF8)  # of some editors
                text = memoryview(buffer)[len(codecs.BOM_UTF8) * mark : cut]
                yield Part(number, start, start + cut, stream.position(), damage), text
            if at_end or damage is not None:
                return
            number, start = number + 1, start + cut
            kept = filled - cut
            buffer[:kept] = buffer[cut:filled]


class _DamageError(Exception):
    """Nothing can be read beyond this point; `filled` bytes could be."""

    filled = 0


class _Stream:
    """Bytes of text out of a file, whatever it is compressed with."""

    def __init__(self, raw: io.BufferedReader, text: Any, *, seekable: bool) -> None:
        self._raw, self._text, self._seekable = raw, text, seekable

    def position(self) -> int:
        """How far the file itself has been read."""
        if hasattr(self._text, "tell_compressed"):
            return int(self._text.tell_compressed()) // 8
        return self._raw.tell()

    def fill(self, view: memoryview) -> int:
        """Read until the view is full or the text ends."""
        filled = 0
        while filled < len(view):
            try:
                size = self._text.readinto(view[filled : filled + _READ_BYTES])
            except _DAMAGES as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                damage = _DamageError(str(error) or type(error).__name__)
                damage.filled = filled
                raise damage from None
            if not size:
                break
            filled += size
        return filled

    def read_up_to(self, size: int) -> bytes:
        """Read `size` bytes, or less if there is no more."""
        buffer = bytearray(size)
        return bytes(buffer[: self.fill(memoryview(buffer))])

    def skip(self, size: int) -> None:
        """Go to byte `size` of the text."""
        if self._seekable:
            self._text.seek(size)
            return
        buffer = memoryview(bytearray(min(size, _SKIP_BYTES)))
        while size > 0 and (skipped := self.fill(buffer[:size])):
            size -= skipped

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        self._raw.close()


# The optional readers raise RuntimeError and ValueError for damage, the standard ones the others.
_DAMAGES = (EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError, OSError)


@contextmanager
def _open(path: Path, *, threads: int) -> Iterator[_Stream]:
    """Open a file by what it is, not by what it is called."""
    try:
        stream = _opened(path, threads)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        yield stream
    finally:
        stream.close()


def _opened(path: Path, threads: int) -> _Stream:
    raw = path.open("rb")
    magic = raw.read(6)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _Stream(raw, _gzip(raw), seekable=False)
    if magic.startswith(b"BZh"):
        return _Stream(raw, _bzip2(path, raw, threads), seekable=False)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return _Stream(raw, lzma.open(raw), seekable=False)
    return _Stream(raw, raw, seekable=True)


def _gzip(raw: io.BufferedReader) -> Any:
    """Decompress in a thread of its own, three times as fast as the standard library, or not."""
    try:
        from isal import igzip_threaded
    except ImportError:
        return gzip.open(cast("Any", raw))
    return igzip_threaded.open(raw, threads=1)


def _bzip2(path: Path, raw: io.BufferedReader, threads: int) -> Any:
    """Decompress on all cores, or on one with the standard library."""
    try:
        import rapidgzip
    except ImportError:
        return bz2.open(raw)
    return rapidgzip.IndexedBzip2File(str(path), parallelization=threads)
