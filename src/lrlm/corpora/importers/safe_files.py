"""Read archives and XML from strangers: nothing is unpacked, expanded or fetched.

A tar is read from its beginning to its end, compressed or not, and its files are given as streams.
One that holds a path out of its folder, a link or a device is refused as a whole: honest archives
of data have none of them.

XML is read an element at a time. Document types and entities of any kind are refused, so nothing
expands and nothing is fetched; an element that is too large or too deep is refused, so memory is
bounded.
"""

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder  # builds only, nothing is parsed by it
from xml.parsers import expat

from lrlm.errors import FormatError, InputError
from lrlm.text_files import open_by_content

LARGEST_FILE = 16 << 30
"""Bytes; a larger file in an archive is refused."""
LARGEST_ARCHIVE = 64 << 30
"""Bytes of all files in an archive, once decompressed."""
LARGEST_ELEMENT = 16 << 20
"""Characters in one of the elements that are sought."""

_BLOCK = 1 << 16
_DEEPEST = 50


class BoundedStream:
    """A file in an archive, of which no more than its stated size can be read."""

    def __init__(self, stream: IO[bytes], size: int, where: str) -> None:
        self._stream = stream
        self._left = size
        self.size = size
        self.where = where

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; an end before the stated size is an error."""
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


def elements(path: Path, tag: str) -> Iterator[Element]:
    """Read the elements with a tag, in order, wherever in the file they are."""
    reader = _XmlReader(path, tag)
    with open_by_content(path) as stream:
        while block := stream.read(_BLOCK):
            yield from reader.feed(block)
    yield from reader.feed(b"", is_last=True)


class _XmlReader:
    def __init__(self, path: Path, tag: str) -> None:
        self._path = path
        self._tag = tag
        self._builder: TreeBuilder | None = None
        self._depth = 0
        self._size = 0
        self._start_depth = 0
        self._found: list[Element] = []
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.UnparsedEntityDeclHandler = self._refuse

    def feed(self, block: bytes, *, is_last: bool = False) -> list[Element]:
        try:
            self._parser.Parse(block, is_last)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise FormatError(f"{self._path}:{error.lineno}: not XML ({reason})") from None
        found, self._found = self._found, []
        return found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"elements within elements, more than {_DEEPEST} deep")
        if self._builder is None and tag == self._tag:
            self._builder, self._size, self._start_depth = TreeBuilder(), 0, self._depth
        if self._builder is not None:
            self._grow(len(tag) + sum(map(len, attributes)) + sum(map(len, attributes.values())))
            self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is not None:
            self._builder.end(tag)
            if self._depth == self._start_depth:
                self._found.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._grow(len(text))
            self._builder.data(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST_ELEMENT:
            raise self._error(f"one <{self._tag}> of more than {LARGEST_ELEMENT >> 20} MiB")

    def _refuse(self, *_: object) -> int:
        raise self._error("declares a document type or entities, which could expand; refused")

    def _error(self, reason: str) -> FormatError:
        return FormatError(f"{self._path}:{self._parser.CurrentLineNumber}: {reason}")
