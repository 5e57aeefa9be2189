"""Read Wikidata's dump of truthy statements in N-Triples.

The dump has one triple a line, so an entity's names and facts are on many of them. It knows less
than the JSON dump: a time has lost its precision, a quantity its unit.
"""

import re
import sys
from collections.abc import Sequence

from lrlm.characters import LONE_SURROGATE, clean_name, describe
from lrlm.knowledge.literals import Date, is_number
from lrlm.knowledge.statements import ALL_LANGUAGES, StatementKind, Statements

ENTITY = b"<http://www.wikidata.org/entity/"
DIRECT = b"<http://www.wikidata.org/prop/direct/"
USED_DATATYPES = ("WikibaseItem", "Time", "Quantity", "Monolingualtext", "String")
"""The data types of relation types, as the dump calls them, whose values are written in texts."""

_PROPERTY_TYPE = b"<http://wikiba.se/ontology#propertyType>"
_ONTOLOGY = b"<http://wikiba.se/ontology#"
_SAME_AS = b"<http://www.w3.org/2002/07/owl#sameAs>"
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
_LITERAL = re.compile(
    rb'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<http://www\.w3\.org/2001/XMLSchema#(\w+)>)?'
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_DATE_TIME = re.compile(r"([+-]?\d{4,16})-(\d\d)-(\d\d)T[\d:.]+Z?")


class NTriples:
    """Turns lines of the dump into statements."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._wanted = (language.encode(), ALL_LANGUAGES.encode())
        self._endings = tuple(b'"@%s .' % code for code in self._wanted)

    def __call__(self, lines: Sequence[bytes], out: Statements) -> None:
        """Add what lines of the dump say; one that says nothing of use costs next to nothing."""
        start = len(ENTITY)
        for number, line in enumerate(lines):
            if not line.endswith(b" ."):
                line = line.rstrip()  # noqa: PLW2901  a line end of another system
                if not line.endswith(b" ."):
                    if line and not line.startswith(b"#"):
                        out.add_bad(number, "expected a triple that ends with ' .'")
                    continue
            if not line.startswith(ENTITY):
                if not line.startswith((b"<", b"_:")):
                    out.add_bad(number, "expected a triple that begins with '<'")
                continue
            subject, _, rest = line[start:].partition(b"> ")
            try:
                if rest.startswith(DIRECT):
                    self._add_fact(subject, rest[len(DIRECT) :], number, out)
                elif line.endswith(self._endings):
                    self._add_name(subject, rest, number, out)
                elif rest.startswith((_SAME_AS, _PROPERTY_TYPE)):
                    self._add_link(subject, rest, out)
            except ValueError as error:  # bytes or escapes that are no characters
                out.add_bad(number, f"not a text ({error})")

    def _add_fact(self, subject: bytes, rest: bytes, number: int, out: Statements) -> None:
        property_, separator, value = rest.partition(b"> ")
        if not separator:
            out.add_bad(number, "expected three terms between spaces")
        elif value.startswith(ENTITY):
            object_ = value[len(ENTITY) : -3].decode()
            out.rows.append(
                (StatementKind.ENTITY, subject.decode(), property_.decode(), object_, None)
            )
        else:
            self._add_value(subject, property_, value[:-2], number, out)

    def _add_value(
        self, subject: bytes, property_: bytes, value: bytes, number: int, out: Statements
    ) -> None:
        if not value.startswith(b'"'):
            what = "without a value" if b"genid" in value or value[:2] == b"_:" else _LEFT_OUT
            out.counts[f"statements {what}"] += 1
            return
        match = _LITERAL.fullmatch(value)
        if match is None:
            if b"^^<" in value:  # coordinates, formulas: data types of their own
                out.counts[f"statements {_LEFT_OUT}"] += 1
            else:
                out.add_bad(number, "a literal that is not closed")
            return
        raw, language, datatype = match.groups()
        if language is not None and language not in self._wanted:
            out.counts["texts in other languages"] += 1
            return
        kind, object_ = _typed(clean_name(unescape(raw)), datatype)
        if object_:
            out.rows.append((kind, subject.decode(), property_.decode(), object_, None))
        else:
            out.counts[
                "times too coarse to write" if kind is StatementKind.DATE else "malformed values"
            ] += 1

    def _add_name(self, subject: bytes, rest: bytes, number: int, out: Statements) -> None:
        predicate, _, value = rest.partition(b" ")
        kinds = _NAMES.get(predicate)
        if kinds is None:
            return
        match = _LITERAL.fullmatch(value[:-2])
        if match is None:
            out.add_bad(number, "a literal that is not closed")
            return
        name = unescape(match[1])
        kind = kinds[match[2] != self._wanted[0]]
        entity = subject.decode()
        if entity.startswith("Q"):
            out.add_name(kind, entity, name)
        elif entity.startswith("P") and kind <= StatementKind.DEFAULT_LABEL:
            out.add_name(StatementKind.TYPE_LABEL, entity, name)

    @staticmethod
    def _add_link(subject: bytes, rest: bytes, out: Statements) -> None:
        predicate, _, value = rest.partition(b" ")
        entity = subject.decode()
        if predicate == _SAME_AS and value.startswith(ENTITY):
            target = value[len(ENTITY) : -3].decode()
            out.rows.append((StatementKind.REDIRECT, entity, None, target, None))
        elif predicate == _PROPERTY_TYPE and value.startswith(_ONTOLOGY):
            datatype = value[len(_ONTOLOGY) : -3].decode()
            out.rows.append((StatementKind.DATATYPE, entity, None, datatype, None))


_LEFT_OUT = "of data types left out"


def _typed(text: str, datatype: bytes | None) -> tuple[StatementKind, str]:
    if datatype == b"dateTime":
        return StatementKind.DATE, date_of(text)
    if datatype in (b"decimal", b"integer", b"double"):
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
    if month > 12 or day > 31:
        return ""
    whole_year = month <= 1 and day <= 1
    return (Date(year) if whole_year else Date(year, month, day or None)).iso()


def unescape(raw: bytes) -> str:
    r"""Read the text of a literal: UTF-8 with `\"`, `\n`, `\u00E9` and their like.

    Raises a ValueError where it is none.
    """
    text = raw.decode("utf-8")
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        short, long, plain = match.groups()
        if plain is not None:
            return _ESCAPED.get(plain, plain)
        code = int(short or long, 16)
        if code > sys.maxunicode:
            raise ValueError(f"there is no character {code:X}")
        character = chr(code)
        if LONE_SURROGATE.match(character):
            raise ValueError(describe(character))
        return character

    return _ESCAPE.sub(one, text)
