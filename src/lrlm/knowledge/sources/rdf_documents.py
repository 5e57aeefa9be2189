r"""Read Turtle, TriG, RDF/XML and JSON-LD as lines of N-Quads, in bounded memory.

A statement of these formats may span many lines and use prefixes from far above, so a file cannot
be cut at line ends. It is parsed from its beginning, and written as N-Quads piece by piece while
it is read; those lines are then cut into parts and read like any others. The lines depend on
nothing but the file: a build that goes on after a stop parses the file again, which is quick, and
throws away the lines that it has used already.

Blank nodes without a label get random ones from the parser; here they get numbers instead, in the
order in which they appear.
"""

import io
import re
from collections import OrderedDict
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Self
from urllib.parse import quote

from lrlm.errors import FormatError, MissingExtraError
from lrlm.knowledge.sources import SourceFormat
from lrlm.text_files import TextStream

_STATEMENTS_AT_ONCE = 4096
_LARGEST_PIECE = 64 << 20
"""Bytes of so many statements: a short file can repeat a long prefix without end."""
_MOST_BLANK_NODES = 500_000
"""Blank nodes without a label that are remembered: they are used near to where they appear."""
_RANDOM_LABEL = re.compile(
    rb'^_:([a-f][0-9a-f]{19,31})(?= )|(?<=> )_:([a-f][0-9a-f]{19,31})(?= (?:[^ "]+ )?\.$)',
    re.MULTILINE,
)
"""The label of a blank node as a subject, or as an object that no quote follows on its line: a
random number in base 16, whose first zeros are not written."""

_SYNTAX = {
    SourceFormat.TURTLE: "TRIG",
    SourceFormat.WIKIDATA_TURTLE: "TRIG",
    SourceFormat.RDF_XML: "RDF_XML",
    SourceFormat.JSON_LD: "JSON_LD",
}
"""Turtle is TriG without graphs."""

_ENTITY_DECLARATION = b"<!ENTITY"
_ENTITY_VALUE = re.compile(rb"<!ENTITY\s+[^\s\"'%]+\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")
_LONGEST_ENTITY = 300
_BLOCK = 1 << 16


class RdfDocument:
    """The statements of an RDF file as text, a line each; it is read as a `TextStream` is."""

    def __init__(self, path: Path, source: TextStream, format: SourceFormat) -> None:  # noqa: A002
        self._rdf = _parser_library()
        self._format, self._source = format, source
        self._input = _Input(path, source, is_xml=format is SourceFormat.RDF_XML)
        self._statements = self._rdf.parse(
            self._input,
            format=getattr(self._rdf.RdfFormat, _SYNTAX[format]),
            base_iri=f"file:///{quote(path.name)}",
        )
        self._numbers: OrderedDict[bytes, int] = OrderedDict()
        self._given = 0
        self._waiting = memoryview(b"")
        self._damage: str | None = None

    @classmethod
    def open(cls, path: Path, format: SourceFormat, *, threads: int = 1) -> Self:  # noqa: A002
        """Open a file, plain or compressed."""
        source = TextStream.open(path, threads=threads)
        try:
            return cls(path, source, format)
        except BaseException:
            source.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.__exit__()

    def position(self) -> int:
        """How far the file itself has been read, in its own (compressed) bytes."""
        return self._source.position()

    def fill(self, view: memoryview) -> tuple[int, str | None]:
        """Write lines until the view is full or they end; give the bytes, and any damage."""
        filled = 0
        while filled < len(view):
            if not self._waiting and not self._read():
                return filled, self._damage
            size = min(len(self._waiting), len(view) - filled)
            view[filled : filled + size] = self._waiting[:size]
            self._waiting = self._waiting[size:]
            filled += size
        return filled, None

    def skip(self, size: int) -> str | None:
        """Go to byte `size` of the lines; give the damage that is in the way, if there is any."""
        while size > 0:
            if not self._waiting and not self._read():
                return self._damage
            skipped = min(size, len(self._waiting))
            self._waiting = self._waiting[skipped:]
            size -= skipped
        return None

    def _read(self) -> bool:
        """Parse some more statements; False where there are none, or where they are broken."""
        if self._damage is not None:
            return False
        piece = _Piece()
        statements = islice(self._statements, _STATEMENTS_AT_ONCE)
        try:
            self._rdf.serialize(statements, output=piece, format=self._rdf.RdfFormat.N_QUADS)
        except SyntaxError as error:
            self._input.raise_if_refused()
            self._damage = self._input.damage or self._explain(error)
        except OSError:
            self._input.raise_if_refused()
            if piece.is_full:
                raise FormatError(
                    f"{self._input.path}: {_STATEMENTS_AT_ONCE:,} statements of more than"
                    f" {_LARGEST_PIECE >> 20} MiB; is this the right file?"
                ) from None
            raise
        text = piece.getvalue()
        if self._damage is not None:  # what was written before the broken statement is whole
            text = text[: text.rfind(b"\n") + 1]
        elif not text:
            self._damage = self._input.damage
        if b"_:" in text:
            text = _RANDOM_LABEL.sub(self._numbered, text)
        self._waiting = memoryview(text)
        return bool(text)

    def _numbered(self, match: re.Match[bytes]) -> bytes:
        """Give a blank node without a label the next number, or the one that it has."""
        label = match[1] or match[2]
        number = self._numbers.get(label)
        if number is None:
            self._given += 1
            number = self._numbers[label] = self._given
            if len(self._numbers) > _MOST_BLANK_NODES:
                self._numbers.popitem(last=False)
        return b"_:-%d" % number  # no label that a file may give begins with a hyphen

    def _explain(self, error: SyntaxError) -> str:
        """Say where and why the file cannot be read any further."""
        where, _, reason = str(error.msg).partition(": ")
        if "LoadDocumentCallback" in where:
            return (
                "it names a context by its address, and no address is fetched; write the context"
                ' into the file, for schema.org: "@context": {"@vocab": "https://schema.org/"}'
            )
        at = f"line {error.lineno}: " if error.lineno else ""
        return f"{at}not {self._format} ({' '.join((reason or where)[:200].split())})"


class _Piece(io.BytesIO):
    """Takes what is written, up to a bound."""

    is_full = False

    def write(self, content: Any) -> int:
        if self.tell() + len(content) > _LARGEST_PIECE:
            self.is_full = True
            raise OSError("too much")
        return super().write(content)


class _Input:
    """What the parser reads; it refuses XML whose entities could expand without end."""

    def __init__(self, path: Path, source: TextStream, *, is_xml: bool) -> None:
        self.path = path
        self.damage: str | None = None
        self._source, self._is_xml = source, is_xml
        self._waiting = memoryview(b"")
        self._before: bytes | None = None
        self._refused: FormatError | None = None

    def read(self, size: int) -> bytes:
        """Give the next bytes, never more than asked for; none at the end or behind damage."""
        if not self._waiting and self.damage is None:
            buffer = bytearray(_BLOCK)
            filled, damage = self._source.fill(memoryview(buffer))
            if damage is not None:
                self.damage = f"damaged or truncated ({damage})"
            if self._is_xml:
                self._check(bytes(buffer[:filled]))
            self._waiting = memoryview(buffer)[:filled]
        content, self._waiting = self._waiting[:size], self._waiting[size:]
        return bytes(content)

    def raise_if_refused(self) -> None:
        """Raise what was wrong: the parser hides what its input raises."""
        if self._refused is not None:
            raise self._refused

    def _check(self, content: bytes) -> None:
        """Let short names of addresses pass, as `<!ENTITY owl "http://…">`, and nothing else."""
        text = (self._before or b"") + content
        declared = text.count(_ENTITY_DECLARATION)
        if declared:
            values = [one or other for one, other in _ENTITY_VALUE.findall(text)]
            is_plain = all(len(value) <= _LONGEST_ENTITY and b"&" not in value for value in values)
            if self._before is not None or len(values) < declared or not is_plain:
                self._refused = FormatError(
                    f"{self.path}: its XML entities could expand without end; refused (only short"
                    " ones at the beginning, as for namespaces, are read)"
                )
                raise self._refused
        self._before = text[-len(_ENTITY_DECLARATION) + 1 :]


def _parser_library() -> ModuleType:
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError(
            "reading Turtle, TriG, RDF/XML and JSON-LD needs pyoxigraph; install it with:"
            " pip install 'lrlm[rdf]'"
        ) from None
    return pyoxigraph
