"""Get topics from a SPARQL endpoint, one at a time, without building a graph first.

The endpoint is asked for the facts of a topic, and then for the names of what they lead to. The
answers are read by the same parsers as files, so a topic is the one that a graph of the same data
would have; only blank nodes are left out, since an endpoint cannot be asked about them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from lrlm.errors import InputError
from lrlm.knowledge.sources import SourceFormat, parser_of
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, PREFIXES, NamePredicates, is_address
from lrlm.knowledge.sources.wikidata_ntriples import USED_DATATYPES
from lrlm.knowledge.sparql import (
    USER_AGENT,
    Binding,
    SparqlClient,
    address_term,
    default_cache,
    text_term,
    written_term,
)
from lrlm.knowledge.stars import relation_of
from lrlm.knowledge.statements import LAST_FACT, StatementKind, Statements
from lrlm.knowledge.topic import Topic

WIKIDATA = "https://query.wikidata.org/sparql"
"""The endpoint of Wikidata."""

_ENTITY = "http://www.wikidata.org/entity/"
_DIRECT = "http://www.wikidata.org/prop/direct/"
_WIKIDATA_ID = re.compile(r"[QP][1-9][0-9]{0,11}")
_WIKIDATA_NAMES = (
    f"{PREFIXES['rdfs']}label",
    f"{PREFIXES['skos']}altLabel",
    "http://wikiba.se/ontology#propertyType",
)
_ENTITIES_AT_ONCE = 200
_NAMES_OF_EACH = 100
_TOLD = 5
_LANGUAGE = re.compile(r"[A-Za-z]{1,20}(?:-[A-Za-z0-9]{1,20})*")


class EndpointShape(StrEnum):
    """How an endpoint writes its data."""

    RDF = "rdf"
    """Facts are triples whose objects are named by labels; ids are addresses."""
    WIKIDATA = "wikidata"
    """Wikidata's own way: ids are Q42 and P31, and only true statements are taken."""


class SparqlEndpoint:
    """Topics of a SPARQL endpoint, looked up when they are asked for.

        endpoint = SparqlEndpoint.wikidata(user_agent="my project (me@example.org)")
        endpoint.topic("Q585").names

    `timeout` bounds the seconds of each request, `most_facts` the facts of a topic. Answers are
    kept for 30 days in the folder `cache`, by default in the user's own cache; None keeps none.
    """

    def __init__(
        self,
        address: str,
        *,
        shape: EndpointShape | None = None,
        language: str = "en",
        names: NamePredicates = NAME_PREDICATES,
        timeout: float = 60.0,
        most_facts: int = 2000,
        cache: Path | str | None = "default",
        user_agent: str = USER_AGENT,
    ) -> None:
        if not _LANGUAGE.fullmatch(language):
            raise InputError(f"{language!r} is not a language code, such as en or zh-hans")
        if most_facts < 1:
            raise InputError(f"a topic must be allowed at least one fact, not {most_facts}")
        folder = default_cache() if cache == "default" else None if cache is None else Path(cache)
        self._client = SparqlClient(address, timeout=timeout, cache=folder, user_agent=user_agent)
        self.shape = shape or (EndpointShape.WIKIDATA if address == WIKIDATA else EndpointShape.RDF)
        self.language, self.most_facts = language, most_facts
        self._predicates = names.ranks()
        is_wikidata = self.shape is EndpointShape.WIKIDATA
        format_ = SourceFormat.NTRIPLES if is_wikidata else SourceFormat.RDF_LINES
        self._parse = parser_of(format_, language, names)
        self._labels: dict[str, str] = {}

    @classmethod
    def wikidata(cls, *, language: str = "en", user_agent: str = USER_AGENT) -> "SparqlEndpoint":
        """Give the endpoint of Wikidata, which asks users to say who they are in `user_agent`."""
        return cls(WIKIDATA, language=language, user_agent=user_agent)

    @property
    def address(self) -> str:
        """Where the endpoint is."""
        return self._client.address

    def topic(self, id_or_name: str) -> Topic:
        """Give a topic by its id, or by a name that only it has."""
        id_ = id_or_name if self._is_id(id_or_name) else self._find(id_or_name)
        term = self._term(id_)
        found = [f"{term} {line} ." for line in self._facts(term, id_)]
        met = list(dict.fromkeys((term, *_addresses(found, self.shape))))
        for start in range(0, len(met), _ENTITIES_AT_ONCE):
            found += self._names(met[start : start + _ENTITIES_AT_ONCE])
        statements = Statements()
        self._parse([line.encode() for line in sorted(set(found))], statements)
        return self._topic(id_, statements)

    def relation_label(self, type: str) -> str:  # noqa: A002
        """Give the name of a relation type of a topic that was asked for; else the type itself."""
        return self._labels.get(type, type)

    def _is_id(self, given: str) -> bool:
        if self.shape is EndpointShape.WIKIDATA:
            return _WIKIDATA_ID.fullmatch(given) is not None
        return is_address(given)

    def _term(self, id_: str) -> str:
        is_short = self.shape is EndpointShape.WIKIDATA
        return address_term(f"{_ENTITY}{id_}" if is_short else id_)

    def _find(self, name: str) -> str:
        """Find what has a name; say which there are where it is not one."""
        written = (text_term(name, self.language), text_term(name, "mul"), text_term(name))
        rows = self._client.select(
            f"SELECT DISTINCT ?s WHERE {{ VALUES ?o {{ {' '.join(written)} }}"
            f" VALUES ?p {{ {self._name_predicates()} }} ?s ?p ?o }} ORDER BY ?s LIMIT {_TOLD + 1}"
        )
        values = [row["s"].get("value", "") for row in rows if "s" in row]
        if self.shape is EndpointShape.WIKIDATA:
            values = [each.removeprefix(_ENTITY) for each in values]
        ids = [each for each in values if self._is_id(each)]
        if not ids:
            raise InputError(f"{self.address} has nothing called {name!r}")
        if len(ids) > 1:
            more = ", …" * (len(ids) > _TOLD)
            raise InputError(
                f"{self.address} has more than one thing called {name!r}:"
                f" {', '.join(ids[:_TOLD])}{more}; give the id of one"
            )
        return ids[0]

    def _name_predicates(self) -> str:
        is_wikidata = self.shape is EndpointShape.WIKIDATA
        return " ".join(map(address_term, _WIKIDATA_NAMES if is_wikidata else self._predicates))

    def _readable(self) -> str:
        """Write the condition that an object is no text in another language."""
        return (
            '(!isLiteral(?o) || LANG(?o) = "" || LANG(?o) = "mul"'
            f' || LANGMATCHES(LANG(?o), "{self.language}"))'
        )

    def _facts(self, term: str, id_: str) -> Iterator[str]:
        """Ask for the predicates and objects of a topic."""
        condition = self._readable()
        if self.shape is EndpointShape.WIKIDATA:
            condition += f' && STRSTARTS(STR(?p), "{_DIRECT}")'
        rows = self._client.select(
            f"SELECT ?p ?o WHERE {{ {term} ?p ?o FILTER({condition}) }} LIMIT {self.most_facts + 1}"
        )
        if len(rows) > self.most_facts:
            raise InputError(
                f"{self.address} has more than {self.most_facts:,} facts about {id_}; allow more of"
                " them, or build a graph"
            )
        yield from _written(rows, ("p", "o"))

    def _names(self, terms: Sequence[str]) -> Iterator[str]:
        """Ask what entities and relation types are called."""
        rows = self._client.select(
            f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {' '.join(terms)} }}"
            f" VALUES ?p {{ {self._name_predicates()} }} ?s ?p ?o FILTER({self._readable()}) }}"
            f" LIMIT {_NAMES_OF_EACH * len(terms)}"
        )
        for line in _written(rows, ("s", "p", "o")):
            yield f"{line} ."

    def _topic(self, id_: str, statements: Statements) -> Topic:
        """Join facts with names, as a build does for a whole graph."""
        names = _names_by_entity(statements)
        unused = {
            subject
            for kind, subject, _, object_, _ in statements.rows
            if kind == StatementKind.DATATYPE and object_ not in USED_DATATYPES
        }
        facts = {
            (type_ or "", object_ or "", kind, unit or "")
            for kind, subject, type_, object_, unit in statements.rows
            if kind <= LAST_FACT and subject == id_ and type_ not in unused
        }
        for kind, subject, _, label, _ in statements.rows:
            if kind == StatementKind.TYPE_LABEL and label is not None:
                self._labels.setdefault(subject, label)
        for type_, *_ in facts:
            if type_ in names:
                self._labels[type_] = names[type_][0]
        if not facts and id_ not in names:
            raise InputError(f"{self.address} knows nothing about {id_}")
        return Topic(
            id_,
            names.get(id_, ()),
            (
                relation_of(
                    (
                        type_,
                        kind,
                        object_,
                        object_,
                        "\n".join(names.get(object_, ())),
                        "\n".join(names.get(unit, ())),
                        self._labels.get(type_),
                    )
                )
                for type_, object_, kind, unit in sorted(facts)
                if kind != StatementKind.ENTITY or object_ in names
            ),
        )


def _written(rows: Iterable[Binding], variables: tuple[str, ...]) -> Iterator[str]:
    """Write rows as in N-Triples; one with a term that cannot be written is left out."""
    for row in rows:
        terms = [written_term(row.get(each, {})) for each in variables]
        if None not in terms:
            yield " ".join(each for each in terms if each is not None)


_TERM = re.compile(r"<([^<>]*)>")


def _addresses(lines: Iterable[str], shape: EndpointShape) -> Iterator[str]:
    """Give the terms of relation types and objects, whose names are to be asked for."""
    for line in lines:
        _, predicate, object_ = line.removesuffix(" .").split(" ", 2)
        if shape is EndpointShape.WIKIDATA:
            yield predicate.replace(_DIRECT, _ENTITY)
        else:
            yield predicate
        if _TERM.fullmatch(object_) and (shape is EndpointShape.RDF or _ENTITY in object_):
            yield object_


def _names_by_entity(statements: Statements) -> dict[str, list[str]]:
    """Gather the names of each entity in their order; titles where there is no other name."""
    found: dict[str, list[tuple[int, str, int, str]]] = defaultdict(list)
    for place, (kind, subject, rank, name, _) in enumerate(statements.rows):
        if StatementKind.LABEL <= kind <= StatementKind.TITLE and name is not None:
            found[subject].append((kind, rank or "", place, name))
    names = {}
    for entity, each in found.items():
        used = [name for name in sorted(each) if name[0] != StatementKind.TITLE] or sorted(each)
        names[entity] = [*dict.fromkeys(name for *_, name in used)]
    return names
