"""The formats in which knowledge comes, and the parser for each of them.

Another format needs a value of `SourceFormat`, a look at its first lines in `recognise`, and a
parser in `parser_of`: a function that takes lines and adds what they say to `Statements`.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial

from lrlm.errors import FormatError
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


FORMAT_OF_TABLE = {
    TableKind.TRIPLES: SourceFormat.TRIPLES,
    TableKind.FORMS: SourceFormat.FORMS,
    TableKind.WIDE: SourceFormat.WIDE,
}


def recognise(name: str, beginning: bytes) -> SourceFormat:
    """Recognise a file's format by its first lines."""
    lines = [line for line in beginning.split(b"\n") if line.strip()]
    first = lines[0].lstrip(b"\xef\xbb\xbf \t") if lines else b""
    if first.startswith((b"[", b"{")):
        return SourceFormat.WIKIDATA_JSON
    if first.startswith((b"<", b"_:")) or (first.startswith(b"#") and b"\t" not in first):
        return SourceFormat.NTRIPLES
    layout = recognise_table(beginning)
    if layout is not None:
        return FORMAT_OF_TABLE[layout.kind]
    raise FormatError(
        f"{name}:1: not a known format; expected Wikidata's JSON or N-Triples, or a table (CSV,"
        " TSV, Parquet) of triples (3 or 4 columns), of forms (2 columns), or with a header and a"
        " row for each entity"
    )


def parser_of(
    format: SourceFormat,  # noqa: A002
    language: str,
    layout: TableLayout | None = None,
) -> StatementParser:
    """Give the parser of a format, for names and texts in a language.

    A table that is not written with tabs, or that has a header, needs its layout.
    """
    from lrlm.knowledge.sources import triples

    match format:
        case SourceFormat.TRIPLES:
            return partial(triples.add_triples, layout or PLAIN[TableKind.TRIPLES])
        case SourceFormat.FORMS:
            return partial(triples.add_forms, layout or PLAIN[TableKind.FORMS])
        case SourceFormat.WIDE:
            assert layout is not None, "only its layout says what the columns of a wide table are"
            return partial(triples.add_wide, layout)
        case SourceFormat.TITLES:
            return triples.add_titles
        case SourceFormat.WIKIDATA_JSON:
            from lrlm.knowledge.sources.wikidata_json import WikidataJson

            return WikidataJson(language)
        case SourceFormat.NTRIPLES:
            from lrlm.knowledge.sources.ntriples import NTriples

            return NTriples(language)
