"""An XML file from a stranger in, the elements of one kind out, one at a time.

Document types and entities of any kind are refused, so nothing expands and nothing is fetched;
an element that is too large or too deep is refused, so memory is bounded.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder  # builds only, nothing is parsed by it
from xml.parsers import expat

from lrlm.errors import FormatError
from lrlm.text_files import open_by_content

_BLOCK = 1 << 16
_DEEPEST = 50
LARGEST_ELEMENT = 16 << 20
"""Characters in one of the elements that are sought."""


def elements(path: Path, tag: str) -> Iterator[Element]:
    """Read the elements with a tag, in order, wherever in the file they are."""
    reader = _Reader(path, tag)
    with open_by_content(path) as stream:
        while block := stream.read(_BLOCK):
            yield from reader.feed(block)
    yield from reader.feed(b"", is_last=True)


class _Reader:
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
