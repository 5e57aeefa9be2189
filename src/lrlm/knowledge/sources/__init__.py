"""The formats in which knowledge comes, and the parser for each of them.

Another format needs a value of `SourceFormat`, a look at its first lines in `recognise`, and a
parser in `parser_of`: a function that takes lines and adds what they say to `Statements`.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from lrlm.errors import FormatError
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.knowledge.sources.tables import PLAIN, TableKind, TableLayout, recognise_table
from lrlm.knowledge.statements import Statements

StatementParser = Callable[[Sequence[bytes], Statements], None]
"""Takes lines and adds what they say; a line that cannot be used is added as a bad one."""


class SourceFormat(StrEnum):
    """What a file of knowledge holds."""

    TRIPLES = "triples"
    FORMS = "forms"
    WIDE = "wide table"
    TITLES = "titles"
    WIKIDATA_JSON = "Wikidata JSON"
    NTRIPLES = "N-Triples"
    """Of Wikidata."""
    WIKIDATA_TURTLE = "Turtle of Wikidata"
    RDF_LINES = "N-Triples or N-Quads"
    """Of any other vocabulary."""
    TURTLE = "Turtle or TriG"
    RDF_XML = "RDF/XML"
    JSON_LD = "JSON-LD"


RDF = frozenset(
    {SourceFormat.RDF_LINES, SourceFormat.TURTLE, SourceFormat.RDF_XML, SourceFormat.JSON_LD}
)
"""RDF of any vocabulary."""
DOCUMENTS = (RDF | {SourceFormat.WIKIDATA_TURTLE}) - {SourceFormat.RDF_LINES}
"""Formats whose statements are not lines: they are written as lines while they are read."""


FORMAT_OF_TABLE = {
    TableKind.TRIPLES: SourceFormat.TRIPLES,
    TableKind.FORMS: SourceFormat.FORMS,
    TableKind.WIDE: SourceFormat.WIDE,
}
_TABLES = {written: kind for kind, written in FORMAT_OF_TABLE.items()}


def recognise(name: str, beginning: bytes) -> SourceFormat:
    """Recognise a file's format by its first lines."""
    beginning = beginning.removeprefix(codecs.BOM_UTF8)
    lines = [line for line in beginning.split(b"\n") if line.strip()]
    if not lines:
        raise FormatError(f"{name} is empty")
    first = lines[0].lstrip()
    if first.startswith((b"[", b"{")) and _JSON_BEGINS.match(beginning):
        return SourceFormat.JSON_LD if _OF_JSON_LD.search(beginning) else SourceFormat.WIKIDATA_JSON
    if first.startswith(_XML_BEGINS):
        return SourceFormat.RDF_XML
    if first.startswith((b"<", b"_:", b"[")) or _is_comment(first) or _PREFIX.match(first):
        return _rdf(beginning, lines)
    layout = recognise_table(beginning)
    if layout is not None:
        return FORMAT_OF_TABLE[layout.kind]
    raise FormatError(
        f"{name}:1: not a known format; expected RDF (Turtle, N-Triples, RDF/XML, JSON-LD …),"
        " Wikidata's JSON, or a table (CSV, TSV, Parquet) of triples (3 or 4 columns), of forms (2"
        " columns), or with a header and a row for each entity"
    )


_JSON_BEGINS = re.compile(rb"\s*(?:\{|\[[ \t\r]*(?:[\n\[{\"]|\]?\s*$))")
_STATEMENT = re.compile(rb"(?:<[^<>\s]*>|_:\S+)\s*<[^<>\s]*>\s*[<\"_].*\.\s*(?:#.*)?")
"""Three terms and a full stop on one line, in any layout."""
_OF_JSON_LD = re.compile(rb'"@(?:context|graph|id|type)"\s*:')
_XML_BEGINS = (b"<?xml", b"<rdf:RDF", b"<!DOCTYPE", b"<!--", b"<RDF")
_PREFIX = re.compile(rb"@(?:prefix|base)\s|(?:prefix\s+[\w.-]*:|base)\s*<", re.IGNORECASE)
_OF_WIKIDATA = re.compile(
    rb"^<https?://www\.wikidata\.org/|^<http://wikiba\.se/|<http://www\.wikidata\.org/prop/direct/",
    re.MULTILINE,
)
"""Lines about Wikidata; other data sets have its addresses as objects only."""


def _is_comment(line: bytes) -> bool:
    return line.startswith(b"#") and b"\t" not in line


def _rdf(beginning: bytes, lines: list[bytes]) -> SourceFormat:
    """Tell RDF whose statements are lines from Turtle, and Wikidata's from all other."""
    statements = [line.strip() for line in lines if not line.lstrip().startswith(b"#")]
    if len(statements) > 1 and not beginning.endswith(b"\n"):
        statements.pop()  # perhaps only the beginning of a line
    whole = sum(_STATEMENT.fullmatch(line) is not None for line in statements)
    if any(_PREFIX.match(line) for line in statements) or (
        2 * whole < len(statements) and not _OF_WIKIDATA.search(beginning)
    ):
        is_wikidata = b"<http://wikiba.se/ontology#>" in beginning
        return SourceFormat.WIKIDATA_TURTLE if is_wikidata else SourceFormat.TURTLE
    is_wikidata = _OF_WIKIDATA.search(beginning) is not None
    return SourceFormat.NTRIPLES if is_wikidata else SourceFormat.RDF_LINES


def parser_of(
    format: SourceFormat,  # noqa: A002
    language: str,
    names: NamePredicates = NAME_PREDICATES,
    layout: TableLayout | None = None,
) -> StatementParser:
    """Give the parser of a format, for names and texts in a language.

    A table that is not written with tabs, or that has a header, needs its layout.
    """
    from lrlm.knowledge.sources import triples

    match format:
        case SourceFormat.TRIPLES | SourceFormat.FORMS | SourceFormat.WIDE:
            return triples.parser_of_table(layout or PLAIN[_TABLES[format]])
        case SourceFormat.TITLES:
            return triples.add_titles
        case SourceFormat.WIKIDATA_JSON:
            from lrlm.knowledge.sources.wikidata_json import WikidataJson

            return WikidataJson(language)
        case SourceFormat.NTRIPLES | SourceFormat.WIKIDATA_TURTLE:
            from lrlm.knowledge.sources.wikidata_ntriples import NTriples

            return NTriples(language)
        case _:
            from lrlm.knowledge.sources.rdf import Rdf

            return Rdf(language, names)
