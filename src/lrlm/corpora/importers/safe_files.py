"""Read archives and XML from strangers: nothing is unpacked, expanded or fetched.

A tar is read from its beginning to its end, compressed or not, and its files are given as streams.
One that holds a path out of its folder, a link, a device or a sparse file is refused as a whole:
honest archives of data have none of them. So is one that expands beyond measure, or whose headers
do: a header is held in memory as large as it says that it is.

XML is read an element at a time. Document types and entities of any kind are refused, so nothing
expands and nothing is fetched; an element or a tag that is too large or too deep is refused, so
memory is bounded.
"""

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast
from xml.etree.ElementTree import Element, TreeBuilder  # builds only, nothing is parsed by it
from xml.parsers import expat

from lrlm.errors import FormatError, InputError
from lrlm.text_files import MeteredStream, open_by_content, reading

LARGEST_FILE = 16 << 30
"""Bytes; a larger file in an archive is refused."""
LARGEST_ARCHIVE = 64 << 30
"""Bytes of all files in an archive, once decompressed."""
MOST_FILES = 150_000
"""In one archive; WikiFacts has 40,000."""
LARGEST_HEADERS = 1 << 20
"""Bytes before a file in an archive that say what it is; its name is one of these."""
LONGEST_NAME = 4096
LARGEST_ELEMENT = 4 << 20
"""Characters in one of the elements that are sought."""
LARGEST_TAG = 1 << 20
"""Bytes of a tag with its attributes, or of a comment: the parser holds them in memory."""

_BLOCK = 1 << 16
_DEEPEST = 50
_PART = 64
"""Characters that an element takes for itself, whatever is in it."""


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
        with reading(self.where):
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


class _Headers:
    """A stream that gives a tar's headers within bounds, and everything else as it comes."""

    def __init__(self, stream: MeteredStream, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left: int | None = LARGEST_HEADERS

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        if self._left is not None:
            self._left -= len(content)
            if self._left < 0:
                raise FormatError(
                    f"{self._path}: what it says of one file takes more than"
                    f" {LARGEST_HEADERS >> 20} MiB; refused"
                )
        return content

    def expect(self, *, headers: bool) -> None:
        """Say what is read next: the headers of a file, or its content."""
        self._left = LARGEST_HEADERS if headers else None


def _members(path: Path) -> Iterator[tuple[PurePosixPath, BoundedStream]]:
    count = total = 0
    with reading(path, "a tar"), open_by_content(path) as raw:
        stream = MeteredStream(raw, path)
        headers = _Headers(stream, path)
        with tarfile.open(fileobj=cast("IO[bytes]", headers), mode="r|") as archive:
            while (member := archive.next()) is not None:
                cast("Any", archive).members.clear()  # they would all be kept
                headers.expect(headers=False)
                count += 1
                if count > MOST_FILES:
                    raise FormatError(f"{path} holds more than {MOST_FILES:,} files; refused")
                name = _checked_name(path, member)
                if member.isfile():
                    total += member.size
                    if member.size > LARGEST_FILE or total > LARGEST_ARCHIVE:
                        raise FormatError(
                            f"{path}: {_shown(member.name)} is too large ({member.size:,} bytes,"
                            f" {total:,} with all before it)"
                        )
                    content = archive.extractfile(member)
                    if content is None:
                        raise FormatError(f"{path}: {_shown(member.name)} has no content")
                    file = BoundedStream(content, member.size, f"{path}: {_shown(member.name)}")
                    yield name, file
                    while file.read(_BLOCK):  # so that what comes next are headers
                        pass
                headers.expect(headers=True)
        while stream.read(_BLOCK):  # to its end, so that a truncated one is noticed
            pass


def _checked_name(path: Path, member: tarfile.TarInfo) -> PurePosixPath:
    name, shown = PurePosixPath(member.name), _shown(member.name)
    if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
        raise FormatError(f"{path} holds the path '{shown}', out of its folder; refused")
    if member.issym() or member.islnk():
        raise FormatError(f"{path} holds a link, '{shown}'; refused")
    if not (member.isfile() or member.isdir()):
        raise FormatError(f"{path} holds '{shown}', no file and no folder; refused")
    if member.issparse():
        raise FormatError(f"{path} holds a sparse file, '{shown}'; refused")
    if member.size < 0 or len(member.name) > LONGEST_NAME:
        raise FormatError(f"{path} holds '{shown}', whose size or name is impossible; refused")
    return name


def _shown(name: str) -> str:
    """Give a name within a message; what is no character is escaped."""
    return repr(name[:200])[1:-1]


def elements(path: Path, tag: str) -> Iterator[Element]:
    """Read the elements with a tag, in order, wherever in the file they are."""
    reader = _XmlReader(path, tag)
    with reading(path, "XML"), open_by_content(path) as raw:
        stream = MeteredStream(raw, path)
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
        self._fed = 0
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
        """Give the elements that end in a block."""
        try:
            self._parser.Parse(block, is_last)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise FormatError(f"{self._path}:{error.lineno}: not XML ({reason})") from None
        except (LookupError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{self._path}:1: not XML in an encoding that is read") from None
        self._fed += len(block)
        if self._fed - self._parser.CurrentByteIndex > LARGEST_TAG + len(block):
            raise self._error(f"a tag or a comment of more than {LARGEST_TAG >> 20} MiB")
        found, self._found = self._found, []
        return found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"elements within elements, more than {_DEEPEST} deep")
        if self._builder is None and tag == self._tag:
            self._builder, self._size, self._start_depth = TreeBuilder(), 0, self._depth
        if self._builder is not None:
            texts = (*attributes, *attributes.values())
            self._grow(_PART + len(tag) + _PART * len(texts) + sum(map(len, texts)))
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
