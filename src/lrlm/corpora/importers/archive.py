"""An archive or a folder from a stranger in, its files as streams out; nothing is unpacked.

A tar is read from its beginning to its end, compressed or not. One that holds a path out of its
folder, a link or a device is refused as a whole: honest archives of data have none of them.
"""

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from lrlm.errors import FormatError, InputError
from lrlm.text_files import open_by_content

LARGEST_FILE = 16 << 30
"""Bytes; a larger file in an archive is refused."""
LARGEST_ARCHIVE = 64 << 30
"""Bytes of all files in an archive, once decompressed."""


class BoundedStream:
    """A file in an archive, of which no more than its stated size can be read."""

    def __init__(self, stream: IO[bytes], size: int, where: str) -> None:
        self._stream = stream
        self._left = size
        self.size = size
        self.where = where

    def read(self, size: int = -1) -> bytes:
        """Read up to so many bytes; an end before the stated size is an error."""
        wanted = self._left if size < 0 else min(size, self._left)
        with _readable(self.where):
            content = self._stream.read(wanted)
        if len(content) < wanted:
            raise FormatError(f"{self.where}: damaged or truncated")
        self._left -= len(content)
        return content


def files_in(path: Path) -> Iterator[tuple[PurePosixPath, BoundedStream]]:
    """Give the files of a tar in its order, or those of a folder in the order of their names."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                name = PurePosixPath(file.relative_to(path).as_posix())
                with file.open("rb") as stream:
                    yield name, BoundedStream(stream, file.stat().st_size, str(file))
    elif path.is_file():
        yield from _members(path)
    else:
        raise InputError(f"{path}: there is no such file or folder")


def _members(path: Path) -> Iterator[tuple[PurePosixPath, BoundedStream]]:
    total = 0
    with _readable(path), open_by_content(path) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                name = _checked_name(path, member)
                if not member.isfile():
                    continue
                total += member.size
                if member.size > LARGEST_FILE or total > LARGEST_ARCHIVE:
                    raise FormatError(
                        f"{path}: {member.name} is too large ({member.size:,} bytes,"
                        f" {total:,} with all before it)"
                    )
                content = archive.extractfile(member)
                assert content is not None
                yield name, BoundedStream(content, member.size, f"{path}: {member.name}")
        while stream.read(1 << 20):  # to its end, so that a truncated one is noticed
            pass


def _checked_name(path: Path, member: tarfile.TarInfo) -> PurePosixPath:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
        raise FormatError(f"{path} holds the path {member.name!r}, out of its folder; refused")
    if member.issym() or member.islnk():
        raise FormatError(f"{path} holds a link, {member.name!r}; refused")
    if not (member.isfile() or member.isdir()):
        raise FormatError(f"{path} holds {member.name!r}, no file and no folder; refused")
    return name


@contextmanager
def _readable(path: Path | str) -> Iterator[None]:
    """Name the archive when it cannot be read to its end."""
    try:
        yield
    except tarfile.TarError as error:
        raise FormatError(f"{path}: not a tar, or damaged ({error})") from None
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise FormatError(f"{path}: damaged or truncated ({error})") from None
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror or error})") from None
