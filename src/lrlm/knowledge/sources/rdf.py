"""Read RDF of any vocabulary: lines of N-Triples or N-Quads, whoever wrote them.

Entities and relation types go by their whole address. What they are called is said by the
predicates that give names; what has no label is called as its address suggests, which counts as a
title: it is found by it, and text uses it only where there is no other name.

A blank node goes by its label and the number of its file, for the same label in another file is
another node.
"""

from collections.abc import Sequence
from functools import partial

from lrlm.characters import clean_name
from lrlm.errors import MissingExtraError
from lrlm.knowledge.sources.addresses import (
    PREFIXES,
    NamePredicates,
    entity_names,
    relation_label,
)
from lrlm.knowledge.sources.ntriples import QUAD, unescape
from lrlm.knowledge.sources.rdf_values import UNKNOWN, ValueReader, reader_of, unit_name
from lrlm.knowledge.statements import (
    ALL_LANGUAGES,
    StatementKind,
    Statements,
    checked_id,
    checked_name,
)
from lrlm.text_files import BadLineError

RDF_TYPE = f"{PREFIXES['rdf']}type"
RDF_VALUE = f"{PREFIXES['rdf']}value"
LONGEST_TEXT = 200
"""Characters; a longer text is a description of the topic, not something that one would copy."""

_LONGEST_ADDRESS = 2000
_VOCABULARIES = tuple(PREFIXES[each] for each in ("rdf", "rdfs", "owl"))
"""Their predicates describe vocabularies, and their classes say nothing about a thing."""
_CLASSES = tuple(f"<{each}".encode() for each in (*_VOCABULARIES, PREFIXES["skos"]))
_LINKS = frozenset({f"{PREFIXES['owl']}sameAs", f"{PREFIXES['rdfs']}seeAlso"})
_TEXTS_ABOUT = frozenset({f"{PREFIXES['rdfs']}comment"})
_MOST_KNOWN = 100_000
_ENTITY, _TITLE = int(StatementKind.ENTITY), int(StatementKind.TITLE)  # faster than their names


class _Use:
    """What the triples of a predicate are used for."""

    __slots__ = ("id", "is_alias", "is_type", "rank", "reason")

    def __init__(self, address: str, names: dict[str, tuple[bool, int]]) -> None:
        self.id = clean_name(checked_id("relation type", address))
        self.is_type = address == RDF_TYPE
        self.is_alias, rank = names.get(address, (False, -1))
        self.rank = f"{rank:03d}" if rank >= 0 else None
        """The place among predicates that give names; None for those that state facts."""
        self.reason = None if self.rank or self.is_type else _left_out(address)
        """Why the triples are left out, if they are."""


def _left_out(address: str) -> str | None:
    if address in _LINKS:
        return "links to other data sets (owl:sameAs, rdfs:seeAlso)"
    if address in _TEXTS_ABOUT:
        return "descriptions (rdfs:comment)"
    if address.startswith(_VOCABULARIES) and address != RDF_VALUE:
        is_list = address.endswith(("#first", "#rest"))
        return "items of lists" if is_list else "statements about vocabularies (RDFS, OWL)"
    return None


class Rdf:
    """Turns lines of RDF into statements."""

    def __init__(self, language: str, names: NamePredicates) -> None:
        self._names = names.ranks()
        self._language = language.lower()
        self._uses: dict[bytes, _Use] = {}
        self._readers: dict[bytes, tuple[str, ValueReader | None]] = {}
        self._languages: dict[bytes, int | None] = {}

    def __call__(self, lines: Sequence[bytes], out: Statements) -> None:
        """Add what lines say; what is not used is counted."""
        for known in (self._uses, self._readers, self._languages):
            if len(known) > _MOST_KNOWN:
                known.clear()
        part, rows = _Part(self, out), out.rows
        whole, add = QUAD.fullmatch, part.add
        for number, line in enumerate(lines):
            before = len(rows)
            try:
                match = whole(line)
                if match is not None:
                    add(number, match.groups())
                    continue
                text = line.strip()
                if not text or text.startswith(b"#"):
                    continue
                for other in _rewritten(text):
                    match = whole(other)
                    if match is None:
                        out.counts["statements about statements"] += 1
                    else:
                        add(number, match.groups())
            except BadLineError as error:
                part.forget(before)
                out.add_bad(number, str(error))
            except ValueError as error:  # bytes or escapes that are no characters
                part.forget(before)
                out.add_bad(number, f"not a text ({error})")

    def use(self, predicate: bytes) -> _Use:
        """Find out what the triples of a predicate are used for."""
        if predicate not in self._uses:
            self._uses[predicate] = _Use(_address(predicate), self._names)
        return self._uses[predicate]

    def reader(self, datatype: bytes) -> tuple[str, ValueReader | None]:
        """Give the address of a data type, and what reads its values."""
        if datatype not in self._readers:
            address = _address(datatype)
            self._readers[datatype] = address, reader_of(address)
        return self._readers[datatype]

    def language_rank(self, tag: bytes | None) -> int | None:
        """Say whether a text is in the language (0), in any or a variety of it (1), or neither."""
        if tag is None:
            return 1
        if tag not in self._languages:
            found = tag.decode().lower().partition("--")[0]  # behind it, the direction of writing
            is_variety = found == ALL_LANGUAGES or found.startswith(f"{self._language}-")
            self._languages[tag] = 0 if found == self._language else 1 if is_variety else None
        return self._languages[tag]


class _Part:
    """Adds the triples of one part; what is said of an address is said once for all of it."""

    def __init__(self, rdf: Rdf, out: Statements) -> None:
        self._rdf, self._out = rdf, out
        self._uses: dict[bytes, _Use] = {}
        self._entities: dict[bytes, str] = {}
        self._classes: set[str] = set()
        self._units: set[str] = set()

    def add(self, number: int, terms: Sequence[bytes]) -> None:
        """Add what a triple says; either its object or its literal is there."""
        subject, predicate, object_, literal, language, datatype = terms
        out = self._out
        use = self._uses.get(predicate) or self._use(predicate)
        if use.reason is not None:
            out.counts[use.reason] += 1
            return
        entity = self._entities.get(subject) or self._entity(subject)
        if literal is not None:
            if use.rank is not None:
                self._add_name(entity, use, literal, language)
            else:
                self._add_value(entity, use.id, (literal, language, datatype), number)
        elif use.rank is not None:
            out.counts["names that are no text"] += 1
        else:
            if use.is_type:
                if object_.startswith(_CLASSES):
                    out.counts["classes of vocabularies (owl:Thing and its like)"] += 1
                    return
                self._name_class(object_)
            target = self._entities.get(object_) or self._entity(object_)
            out.rows.append((_ENTITY, entity, use.id, target, None))

    def forget(self, before: int) -> None:
        """Take back what a line that turned out to be a bad one has added: it has said nothing."""
        said = {subject for _, subject, *_ in self._out.rows[before:]}
        del self._out.rows[before:]
        for known in (self._entities, self._uses):
            while known and _id(known[next(reversed(known))]) in said:
                known.popitem()
        self._classes -= said
        self._units -= said

    def _use(self, predicate: bytes) -> _Use:
        use = self._uses[predicate] = self._rdf.use(predicate)
        if use.rank is None and use.reason is None:
            label = relation_label(_address(predicate))
            self._out.rows.append((StatementKind.TYPE_LABEL, use.id, None, label, None))
        return use

    def _entity(self, term: bytes) -> str:
        """Give the id of an address or a blank node, and add what an address suggests as names."""
        if term.startswith(b"_:"):
            id_ = checked_id("blank node", f"_:{self._out.source}/{term[2:].decode()}")
        else:
            id_ = checked_id("address", _address(term))
            rows = self._out.rows
            for name in entity_names(id_):
                rows.append((_TITLE, id_, None, name, None))
        self._entities[term] = id_
        return id_

    def _name_class(self, term: bytes) -> None:
        """Add the name of a class before that of an entity: it is written in small letters."""
        if term.startswith(b"<") and term not in self._entities:
            id_ = checked_id("address", _address(term))
            if id_ not in self._classes and entity_names(id_):
                self._classes.add(id_)
                name = relation_label(id_)
                self._out.rows.append((_TITLE, id_, None, name, None))

    def _add_name(self, entity: str, use: _Use, literal: bytes, language: bytes | None) -> None:
        rank = self._rdf.language_rank(language)
        if rank is None:
            self._out.counts["names in other languages"] += 1
            return
        if name := checked_name("name", unescape(literal)):
            first = StatementKind.ALIAS if use.is_alias else StatementKind.LABEL
            self._out.rows.append((first + rank, entity, use.rank, name, None))

    def _add_value(
        self,
        entity: str,
        type_: str,
        value: tuple[bytes, bytes | None, bytes | None],
        number: int,
    ) -> None:
        literal, language, datatype = value
        out = self._out
        if self._rdf.language_rank(language) is None:
            out.counts["texts in other languages"] += 1
            return
        if len(literal) > 8 * LONGEST_TEXT:  # an escaped character takes up to ten bytes
            out.counts[_TOO_LONG] += 1
            return
        text = unescape(literal)
        address, read = (None, None) if datatype is None else self._rdf.reader(datatype)
        if read is not None:
            found = read(text)
            if isinstance(found, str):
                out.counts[found] += 1
                if found == UNKNOWN:
                    out.add_note(number, f"unknown data type {address} ({type_})")
                return
            if found.unit is not None and found.unit not in self._units:
                self._units.add(found.unit)
                out.add_name(StatementKind.LABEL, found.unit, unit_name(found.unit))
            out.rows.append((found.kind, entity, type_, found.object, found.unit))
        elif len(text) > LONGEST_TEXT:
            out.counts[_TOO_LONG] += 1
        elif not (text := checked_name("literal", text)):
            out.counts["empty texts"] += 1
        else:
            kind = StatementKind.LITERAL if language is None else StatementKind.TEXT
            out.rows.append((kind, entity, type_, text, None))


def _id(known: "str | _Use") -> str:
    return known if isinstance(known, str) else known.id


_TOO_LONG = f"texts of more than {LONGEST_TEXT} characters"


def _address(term: bytes) -> str:
    """Give the address that stands between < and >."""
    if len(term) > _LONGEST_ADDRESS:
        raise BadLineError(f"an address of more than {_LONGEST_ADDRESS:,} characters")
    address = term[1:-1].decode()
    if "\\" in address:
        address = unescape(term[1:-1])
    if ":" not in address:
        raise BadLineError(f"{address[:40]!a} is not a whole address, as http://example.org/x is")
    return address


def _rewritten(line: bytes) -> Sequence[bytes]:
    """Write a line that is laid out in another way as all others are; refuse one that is wrong."""
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError(
            "some lines of this RDF are laid out in a way that needs pyoxigraph to be read;"
            " install it with: pip install 'lrlm[rdf]'"
        ) from None
    written = partial(pyoxigraph.serialize, format=pyoxigraph.RdfFormat.N_QUADS)
    try:
        content = written(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError as error:
        place, _, reason = str(error.msg).partition(": ")
        raise BadLineError(f"not a triple ({reason or place})") from None
    assert content is not None
    return [each for each in content.split(b"\n") if each]
