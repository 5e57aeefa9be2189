"""The formats that knowledge comes in: a file in, the parser of its lines out."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from lrlm.errors import FormatError
from lrlm.knowledge.statements import Statements

Parser = Callable[[Sequence[bytes], Statements], None]
"""Takes lines and adds what they state."""


class Format(StrEnum):
    """What a file of knowledge holds."""

    TRIPLES = "triples"
    FORMS = "forms"
    TITLES = "titles"
    WIKIDATA_JSON = "Wikidata JSON"
    NTRIPLES = "N-Triples"


def recognise(name: str, beginning: bytes) -> Format:
    """Tell a file's format by its first lines."""
    lines = [line for line in beginning.split(b"\n") if line.strip()]
    first = lines[0].lstrip(b"\xef\xbb\xbf \t") if lines else b""
    if first.startswith((b"[", b"{")):
        return Format.WIKIDATA_JSON
    if first.startswith((b"<", b"_:")) or (first.startswith(b"#") and b"\t" not in first):
        return Format.NTRIPLES
    columns = first.count(b"\t") + 1
    if columns == 2:
        return Format.FORMS
    if columns in (3, 4):
        return Format.TRIPLES
    raise FormatError(
        f"{name}:1: not a known format; expected Wikidata's JSON or N-Triples, or a table of"
        " triples (3 or 4 columns between tabs) or of forms (2 columns)"
    )


def parser_of(format: Format, language: str) -> Parser:  # noqa: A002
    """Give what turns the lines of a format into statements."""
    from lrlm.knowledge.sources import triples

    match format:
        case Format.TRIPLES:
            return triples.add_triples
        case Format.FORMS:
            return triples.add_forms
        case Format.TITLES:
            return triples.add_titles
        case Format.WIKIDATA_JSON:
            from lrlm.knowledge.sources.wikidata_json import WikidataJson

            return WikidataJson(language)
        case Format.NTRIPLES:
            from lrlm.knowledge.sources.ntriples import NTriples

            return NTriples(language)
