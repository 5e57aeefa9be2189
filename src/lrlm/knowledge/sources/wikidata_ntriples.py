"""Read Wikidata's dump of truthy statements in N-Triples.

The dump has one triple a line, so an entity's names and facts are on many of them. It knows less
than the JSON dump: a time has lost its precision, a quantity its unit.
"""

import re
from collections.abc import Sequence

from lrlm.knowledge.literals import Date, is_number
from lrlm.knowledge.sources.ntriples import TRIPLE, fault, unescape
from lrlm.knowledge.statements import ALL_LANGUAGES, StatementKind, Statements, checked_name
from lrlm.text_files import BadLineError

ENTITY = b"<http://www.wikidata.org/entity/"
DIRECT = b"<http://www.wikidata.org/prop/direct/"
USED_DATATYPES = ("WikibaseItem", "Time", "Quantity", "Monolingualtext", "String")
"""The data types of relation types, as the dump calls them, whose values are written in texts."""

_PROPERTY_TYPE = b"<http://wikiba.se/ontology#propertyType>"
_ONTOLOGY = b"<http://wikiba.se/ontology#"
_SAME_AS = b"<http://www.w3.org/2002/07/owl#sameAs>"
_XSD = b"<http://www.w3.org/2001/XMLSchema#"
_NAMES = {
    b"<http://www.w3.org/2000/01/rdf-schema#label>": (
        StatementKind.LABEL,
        StatementKind.DEFAULT_LABEL,
    ),
    b"<http://www.w3.org/2004/02/skos/core#altLabel>": (
        StatementKind.ALIAS,
        StatementKind.DEFAULT_ALIAS,
    ),
}
_ENTITY_ID = re.compile(r"[A-Z][1-9][0-9]*(?:-[A-Z][1-9][0-9]*)?")
"""An item, a property or a lexeme, or a form or sense of a lexeme."""
_PROPERTY_ID = re.compile(r"P[1-9][0-9]*")
_DATE_TIME = re.compile(r"([+-]?\d{4,16})-(\d\d)-(\d\d)T[\d:.]+Z?", re.ASCII)


class NTriples:
    """Turns lines of the dump into statements."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._wanted = (language.encode(), ALL_LANGUAGES.encode())

    def __call__(self, lines: Sequence[bytes], out: Statements) -> None:
        """Add what lines of the dump say; every line must be a triple, also one of no use."""
        whole = TRIPLE.fullmatch
        for number, line in enumerate(lines):
            match = whole(line)
            if match is None:
                line = line.rstrip()  # noqa: PLW2901  a line end of another system
                if not line or line.startswith(b"#"):
                    continue
                match = whole(line)
                if match is None:
                    out.add_bad(number, fault(line))
                    continue
            if match[1].startswith(ENTITY):
                try:
                    self._add(match, out)
                except BadLineError as error:
                    out.add_bad(number, str(error))
                except ValueError as error:  # bytes or escapes that are no characters
                    out.add_bad(number, f"not a text ({error})")

    def _add(self, match: re.Match[bytes], out: Statements) -> None:
        """Add what a triple about an entity says."""
        subject, predicate, object_, literal, language, datatype = match.groups()
        if predicate.startswith(DIRECT):
            entity, type_ = _id(subject), _property_of(predicate)
            if object_ is None:
                self._add_value(entity, type_, (literal, language, datatype), out)
            elif object_.startswith(ENTITY):
                out.rows.append((StatementKind.ENTITY, entity, type_, _id(object_), None))
            else:
                is_blank = b"genid" in object_ or object_.startswith(b"_:")
                out.counts[f"statements {'without a value' if is_blank else _LEFT_OUT}"] += 1
        elif language is not None:
            if language in self._wanted and predicate in _NAMES:
                self._add_name(_id(subject), _NAMES[predicate], literal, language, out)
        elif predicate in (_SAME_AS, _PROPERTY_TYPE) and object_ is not None:
            self._add_link(_id(subject), predicate, object_, out)

    def _add_value(
        self,
        subject: str,
        property_: str,
        value: tuple[bytes, bytes | None, bytes | None],
        out: Statements,
    ) -> None:
        literal, language, datatype = value
        if datatype is not None and not datatype.startswith(_XSD):
            out.counts[f"statements {_LEFT_OUT}"] += 1  # coordinates, formulas: their own types
            return
        if language is not None and language not in self._wanted:
            out.counts["texts in other languages"] += 1
            return
        kind, object_ = _typed(checked_name("literal", unescape(literal)), datatype)
        if object_:
            out.rows.append((kind, subject, property_, object_, None))
        else:
            out.counts[
                "times too coarse to write" if kind is StatementKind.DATE else "malformed values"
            ] += 1

    def _add_name(
        self,
        entity: str,
        kinds: tuple[StatementKind, StatementKind],
        literal: bytes,
        language: bytes,
        out: Statements,
    ) -> None:
        name = unescape(literal)
        kind = kinds[language != self._wanted[0]]
        if entity.startswith("Q"):
            out.add_name(kind, entity, name)
        elif entity.startswith("P") and kind <= StatementKind.DEFAULT_LABEL:
            out.add_name(StatementKind.TYPE_LABEL, entity, name)

    @staticmethod
    def _add_link(entity: str, predicate: bytes, object_: bytes, out: Statements) -> None:
        if predicate == _SAME_AS and object_.startswith(ENTITY):
            out.rows.append((StatementKind.REDIRECT, entity, None, _id(object_), None))
        elif predicate == _PROPERTY_TYPE and object_.startswith(_ONTOLOGY):
            datatype = object_[len(_ONTOLOGY) : -1].decode()
            out.rows.append((StatementKind.DATATYPE, entity, None, datatype, None))


def _id(address: bytes) -> str:
    """Give the id of an entity's address."""
    id_ = address[len(ENTITY) : -1].decode()
    if _ENTITY_ID.fullmatch(id_) is None:
        raise BadLineError(f"{id_[:40]!a} is not an id of Wikidata")
    return id_


def _property_of(address: bytes) -> str:
    """Give the id of the relation type of an address."""
    id_ = address[len(DIRECT) : -1].decode()
    if _PROPERTY_ID.fullmatch(id_) is None:
        raise BadLineError(f"{id_[:40]!a} is not the id of a relation type of Wikidata")
    return id_


_LEFT_OUT = "of data types left out"
_NUMBERS = frozenset(b"%s%s>" % (_XSD, name) for name in (b"decimal", b"integer", b"double"))


def _typed(text: str, datatype: bytes | None) -> tuple[StatementKind, str]:
    if datatype == b"%sdateTime>" % _XSD:
        return StatementKind.DATE, date_of(text)
    if datatype in _NUMBERS:
        return StatementKind.QUANTITY, text.removeprefix("+") if is_number(text) else ""
    return StatementKind.TEXT, text


def date_of(text: str) -> str:
    """Read `1961-08-04T00:00:00Z`; what lies on 1 January is taken for a year.

    The dump writes a year as its first day, and years are far more frequent than New Year's days.
    It counts a year 0, which is 1 BC, -1 is 2 BC, and so on.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return ""
    year, month, day = (int(part) for part in match.groups())
    if year <= 0:
        year -= 1
    whole_year = month <= 1 and day <= 1
    date = Date.if_valid(year, 0 if whole_year else month, 0 if whole_year else day)
    return "" if date is None else date.iso()
