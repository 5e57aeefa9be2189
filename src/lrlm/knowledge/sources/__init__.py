"""The formats in which knowledge comes, and the parser for each of them.

Another format needs a value of `SourceFormat`, a look at its first lines in `recognise`, and a
parser in `parser_of`: a function that takes lines and adds what they say to `Statements`.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

from lrlm.errors import FormatError
from lrlm.knowledge.statements import Statements

StatementParser = Callable[[Sequence[bytes], Statements], None]
"""Takes lines and adds what they say; a line that cannot be used is added as a bad one."""


class SourceFormat(StrEnum):
    """What a file of knowledge holds."""

    TRIPLES = "triples"
    FORMS = "forms"
    TITLES = "titles"
    WIKIDATA_JSON = "Wikidata JSON"
    NTRIPLES = "N-Triples"


def recognise(name: str, beginning: bytes) -> SourceFormat:
    """Recognise a file's format by its first lines."""
    lines = [line for line in beginning.split(b"\n") if line.strip()]
    first = lines[0].lstrip(b"\xef\xbb\xbf \t") if lines else b""
    if first.startswith((b"[", b"{")):
        return SourceFormat.WIKIDATA_JSON
    if first.startswith((b"<", b"_:")) or (first.startswith(b"#") and b"\t" not in first):
        return SourceFormat.NTRIPLES
    columns = first.count(b"\t") + 1
    if columns == 2:
        return SourceFormat.FORMS
    if columns in (3, 4):
        return SourceFormat.TRIPLES
    raise FormatError(
        f"{name}:1: not a known format; expected Wikidata's JSON or N-Triples, or a table of"
        " triples (3 or 4 columns between tabs) or of forms (2 columns)"
    )


def parser_of(format: SourceFormat, language: str) -> StatementParser:  # noqa: A002
    """Give the parser of a format, for names and texts in a language."""
    from lrlm.knowledge.sources import triples

    match format:
        case SourceFormat.TRIPLES:
            return triples.add_triples
        case SourceFormat.FORMS:
            return triples.add_forms
        case SourceFormat.TITLES:
            return triples.add_titles
        case SourceFormat.WIKIDATA_JSON:
            from lrlm.knowledge.sources.wikidata_json import WikidataJson

            return WikidataJson(language)
        case SourceFormat.NTRIPLES:
            from lrlm.knowledge.sources.ntriples import NTriples

            return NTriples(language)
