"""Read Wikidata's JSON dump: truthy facts, and names in one language.

Only what is used is decoded: labels of other languages, qualifiers, references and sitelinks are
skipped by the decoder. A statement counts if it is of preferred rank, or of normal rank where
none is preferred.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lrlm.characters import describe
from lrlm.errors import MissingExtraError
from lrlm.knowledge.literals import Date, is_number
from lrlm.knowledge.statements import (
    ALL_LANGUAGES,
    StatementKind,
    StatementRow,
    Statements,
    checked_name,
)
from lrlm.text_files import BadLineError

try:
    import msgspec
except ImportError:  # pragma: no cover
    raise MissingExtraError(
        "reading Wikidata's JSON needs msgspec; install it with: pip install 'lrlm[wikidata]'"
    ) from None

LEFT_OUT = frozenset(
    {
        "external-id", "url", "commonsMedia", "globe-coordinate", "geo-shape", "tabular-data",
        "math", "musical-notation", "entity-schema", "wikibase-property", "wikibase-lexeme",
        "wikibase-form", "wikibase-sense",
    }
)  # fmt: skip
"""Data types whose values are not written in texts."""

_DATATYPE_OF_VALUE = {"wikibase-entityid": "wikibase-item"}
"""Old dumps name only the type of the value; for the others both names are the same."""

_ITEM = re.compile(r"Q[1-9][0-9]*")
_PROPERTY = re.compile(r"P[1-9][0-9]*")
_ENTITY = re.compile(r"[A-Z][1-9][0-9]*(?:-[A-Z][1-9][0-9]*)?")
"""An item, a property or a lexeme, or a form or sense of a lexeme."""
_LARGEST_NUMBER = 2**63
_LONGEST_TYPE = 40
_MOST_KNOWN = 100_000
_PLAIN_DAY = re.compile(
    r"\+((?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8]))T00:00:00Z"
)
"""A time that needs no further look: nearly all days are written so, and every month has them."""


class _Value(msgspec.Struct, gc=False):
    """What a statement says; which fields are there depends on the data type."""

    id: str | None = None
    numeric_id: int | None = msgspec.field(default=None, name="numeric-id")
    time: str = ""
    precision: float | None = None
    """A whole number for times; coordinates have one of their own."""
    amount: str = ""
    unit: str = "1"
    text: str = ""
    language: str = ""


class _DataValue(msgspec.Struct, gc=False):
    """A value with its type."""

    value: _Value | str | list[Any] | float | bool | None
    type: str = ""


class _Snak(msgspec.Struct, gc=False):
    """A value, or the knowledge that there is none (`novalue`) or an unknown one (`somevalue`)."""

    snaktype: str
    datatype: str | None = None
    datavalue: _DataValue | None = None


class _Statement(msgspec.Struct, gc=False):
    """A snak with its rank."""

    mainsnak: _Snak
    rank: str = "normal"


class _Term(msgspec.Struct, gc=False):
    """A name."""

    value: str


class WikidataJson:
    """Turns lines of the dump into statements."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._decode = _decoder(language)
        self._known_properties: set[str] = set()
        """Ids that were found to be well written: the same few come again and again."""

    def __call__(self, lines: Sequence[bytes], out: Statements) -> None:
        """Add what lines of the dump say; each holds an entity, or only a bracket."""
        decode = self._decode
        for number, line in enumerate(lines):
            text: bytes | memoryview = line
            if line.endswith(b","):  # nearly every line, and a long one: it is not copied
                text = memoryview(line)[:-1]
            elif not line.endswith(b"}"):
                text = line.strip(b", \t\r\n")
                if text in (b"", b"[", b"]"):  # the brackets around the whole dump
                    continue
            try:
                entity = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                out.add_bad(number, _explain(error, line))
                continue
            rows, counts = len(out.rows), dict(out.counts)
            try:
                self._add_entity(entity, number, out)
            except BadLineError as error:  # then nothing of the line is used
                del out.rows[rows:]
                out.counts = Counter(counts)
                out.notes = {what: at for what, at in out.notes.items() if at != number}
                out.add_bad(number, str(error))

    def _add_entity(self, entity: Any, number: int, out: Statements) -> None:
        if entity.type == "item":
            if entity.id is None:
                raise BadLineError("an item without an id")
            _check_id(entity.id, _ITEM, "an item")
            if not self._add_names(entity, out):
                out.counts["items without a name"] += 1
            if entity.claims:
                self._add_claims(entity.id, entity.claims, number, out)
        elif entity.type == "property":
            _check_id(entity.id or "", _PROPERTY, "a relation type")
            for term in (entity.labels.wanted, entity.labels.other) if entity.labels else ():
                if term is not None:
                    out.add_name(StatementKind.TYPE_LABEL, entity.id, term.value)
        elif entity.redirect is not None and entity.entity is not None:
            for id_ in (entity.entity, entity.redirect):
                _check_id(id_, _ENTITY, "an entity")
            out.rows.append((StatementKind.REDIRECT, entity.entity, None, entity.redirect, None))
        elif not entity.type:
            raise BadLineError("neither an entity nor a redirect: there is no 'type'")
        elif len(entity.type) <= _LONGEST_TYPE and entity.type.isprintable():
            out.counts[f"entities of the type {entity.type}"] += 1
        else:
            raise BadLineError(f"there are no entities of the type {entity.type[:_LONGEST_TYPE]!r}")

    def _add_names(self, entity: Any, out: Statements) -> bool:
        before = len(out.rows)
        if labels := entity.labels:
            if labels.wanted is not None:
                out.add_name(StatementKind.LABEL, entity.id, labels.wanted.value)
            if labels.other is not None:
                out.add_name(StatementKind.DEFAULT_LABEL, entity.id, labels.other.value)
        if aliases := entity.aliases:
            for term in aliases.wanted:
                out.add_name(StatementKind.ALIAS, entity.id, term.value)
            for term in aliases.other:
                out.add_name(StatementKind.DEFAULT_ALIAS, entity.id, term.value)
        return len(out.rows) > before

    def _add_claims(
        self, subject: str, claims: dict[str, list[_Statement]], number: int, out: Statements
    ) -> None:
        rows, counts, known = out.rows, out.counts, self._known_properties
        if len(known) > _MOST_KNOWN:
            known.clear()
        for property_, statements in claims.items():
            if not statements:
                continue
            if property_ not in known:
                _check_id(property_, _PROPERTY, "a relation type")
                known.add(property_)
            datatype = _datatype(statements[0].mainsnak)
            if datatype in LEFT_OUT:
                counts["statements of data types left out"] += len(statements)
                continue
            truthy = statements
            if len(statements) > 1 or statements[0].rank != "normal":
                preferred = [each for each in statements if each.rank == "preferred"]
                truthy = preferred or [each for each in statements if each.rank == "normal"]
                counts["statements of lower rank"] += len(statements) - len(truthy)
            read = _READERS.get(datatype)
            for statement in truthy:
                snak = statement.mainsnak
                if snak.snaktype != "value" or snak.datavalue is None:
                    counts["statements without a value"] += 1
                elif read is None:
                    counts["statements of unknown data types"] += 1
                    out.add_note(number, f"unknown data type {datatype!r} ({property_})")
                else:
                    row = read(self, subject, property_, snak.datavalue.value)
                    if isinstance(row, str):
                        counts[row] += 1
                    else:
                        rows.append(row)

    def _item(self, subject: str, property_: str, value: Any) -> StatementRow | str:
        if type(value) is not _Value:
            return _MALFORMED
        object_ = value.id
        if object_ is None:
            if value.numeric_id is None or not 0 < value.numeric_id < _LARGEST_NUMBER:
                return _MALFORMED
            object_ = f"Q{value.numeric_id}"
        elif _ITEM.fullmatch(object_) is None:
            _check_id(object_, _ITEM, "an item")
        return StatementKind.ENTITY, subject, property_, object_, None

    def _time(self, subject: str, property_: str, value: Any) -> StatementRow | str:
        if type(value) is not _Value:
            return _MALFORMED
        kind, date = time_value(value.time, int(value.precision or 0))
        return (kind, subject, property_, date, None) if date else "times too coarse to write"

    def _quantity(self, subject: str, property_: str, value: Any) -> StatementRow | str:
        if type(value) is not _Value or not is_number(value.amount):
            return _MALFORMED
        unit = None if value.unit == "1" else value.unit.rpartition("/")[2]
        if unit is not None and _ITEM.fullmatch(unit) is None:
            return _MALFORMED
        return StatementKind.QUANTITY, subject, property_, value.amount.removeprefix("+"), unit

    def _monolingual(self, subject: str, property_: str, value: Any) -> StatementRow | str:
        if type(value) is not _Value:
            return _MALFORMED
        if value.language not in (self.language, ALL_LANGUAGES):
            return "texts in other languages"
        return self._string(subject, property_, value.text)

    def _string(self, subject: str, property_: str, value: Any) -> StatementRow | str:
        if type(value) is not str:
            return _MALFORMED
        text = checked_name("text", value)
        return (StatementKind.TEXT, subject, property_, text, None) if text else _MALFORMED


_MALFORMED = "malformed values"

_READERS: dict[str, Callable[[WikidataJson, str, str, Any], StatementRow | str]] = {
    "wikibase-item": WikidataJson._item,  # noqa: SLF001
    "time": WikidataJson._time,  # noqa: SLF001
    "quantity": WikidataJson._quantity,  # noqa: SLF001
    "monolingualtext": WikidataJson._monolingual,  # noqa: SLF001
    "string": WikidataJson._string,  # noqa: SLF001
}


def _datatype(snak: _Snak) -> str:
    if snak.datatype is not None:
        return snak.datatype
    of_value = "" if snak.datavalue is None else snak.datavalue.type
    return _DATATYPE_OF_VALUE.get(of_value, of_value)


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def time_value(time: str, precision: int) -> tuple[StatementKind, str]:
    """Turn Wikidata's time into a date, or into the name of a decade or century; else ""."""
    if precision >= 11 and (plain := _PLAIN_DAY.fullmatch(time)):
        return StatementKind.DATE, plain[1]
    if precision >= 9:
        date = Date.from_wikidata(time, precision)
        return StatementKind.DATE, "" if date is None else date.iso()
    year = Date.from_wikidata(time, 9)
    if precision < 7 or year is None or not 0 < year.year < 10_000:
        return StatementKind.TEXT, ""
    if precision == 8:
        return StatementKind.TEXT, f"{year.year // 10 * 10}s"
    century = (year.year + 99) // 100
    ending = "th" if century % 100 in (11, 12, 13) else _ENDINGS.get(century % 10, "th")
    return StatementKind.TEXT, f"{century}{ending} century"


def _decoder(language: str) -> Callable[[bytes | memoryview], Any]:
    """Make a decoder that sees two languages only; an empty map is written `[]` by Wikidata."""
    default = "(none)" if language == ALL_LANGUAGES else ALL_LANGUAGES

    def in_two_languages(name: str, type_: Any, missing: dict[str, Any]) -> Any:
        fields = [
            ("wanted", type_, msgspec.field(**missing, name=language)),
            ("other", type_, msgspec.field(**missing, name=default)),
        ]
        return msgspec.defstruct(name, fields, gc=False) | list[None]

    labels = in_two_languages("Labels", _Term | None, {"default": None})
    aliases = in_two_languages("Aliases", list[_Term], {"default_factory": list})
    entity = msgspec.defstruct(
        "Entity",
        [
            ("id", str | None, None),
            ("type", str | None, None),
            ("labels", labels | None, None),
            ("aliases", aliases | None, None),
            ("claims", dict[str, list[_Statement]] | list[None] | None, None),
            ("entity", str | None, None),
            ("redirect", str | None, None),
        ],
        gc=False,
    )
    decoder: Callable[[bytes | memoryview], Any] = msgspec.json.Decoder(entity).decode
    return decoder


def _check_id(id_: str, known: re.Pattern[str], what: str) -> None:
    if known.fullmatch(id_) is None:
        raise BadLineError(f"{id_[:40]!r} is not the id of {what}")


_UTF16_ESCAPES = re.compile(rb"(?<!\\)(?:\\\\)*((?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+)")
"""One escaped half of a character behind another."""


def _explain(error: Exception, line: bytes) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as found:
        return f"not UTF-8 at byte {found.start + 1} of the line"
    if half := _lone_half(line):
        return f"holds {half}"
    if isinstance(error, msgspec.ValidationError):
        return f"not an entity of Wikidata ({error})"
    return f"not JSON ({error})"


def _lone_half(line: bytes) -> str | None:
    """Name a character of which the line has only half, in escapes; the decoder calls it other."""
    for found in _UTF16_ESCAPES.finditer(line):
        halves = found[1].decode().split("\\u")[1:]
        text = b"".join(int(half, 16).to_bytes(2, "big") for half in halves)
        try:
            text.decode("utf-16-be")
        except UnicodeDecodeError as error:
            return describe(chr(int.from_bytes(text[error.start : error.start + 2], "big")))
    return None
