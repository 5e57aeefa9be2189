"""Look up topics and entities in a knowledge graph on disk, by id and by name.

Opening is cheap and reading needs nothing but the standard library, so any number of processes
and threads can each have the same graph open.
"""

import json
import os
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from lrlm.artifacts import MANIFEST, check_files, read_manifest, read_number
from lrlm.characters import LONE_SURROGATE, clean_name
from lrlm.errors import FormatError, InputError
from lrlm.knowledge.index import (
    CHECKS,
    INDEX,
    KEY_LENGTH,
    RowChecks,
    fold,
    keys,
    likeness,
    near_keys,
)
from lrlm.knowledge.paths import group_by_object, path_label, topic_with_paths
from lrlm.knowledge.stars import (
    OBJECTS_AND_UNITS,
    STAR,
    FactOfStar,
    leads_to_an_entity,
    numbers_in,
    relation_of,
    split_names,
)
from lrlm.knowledge.statements import StatementKind
from lrlm.knowledge.topic import Relation, Topic
from lrlm.text_files import reading

if TYPE_CHECKING:
    from lrlm.knowledge.build import Selection
    from lrlm.knowledge.from_values import Names

FORMAT = "lrlm knowledge graph"
VERSION = 2

_HINT = "make one with 'lrlm kg build'"
LARGEST_WHOLE = 64 << 20
"""Bytes of an index that is read whole to be checked: that takes less than a blink."""
FACTS = "facts.parquet"
_CANDIDATES = 200
_TOLD = 5


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a graph: its names, the label first, and how many facts start at it.

    >>> KnowledgeGraph.open("kg").entity("Q20")
    Entity(id='Q20', names=('Norway', 'Kingdom of Norway'), facts=2, titles=())
    """

    id: str
    names: tuple[str, ...]
    facts: int
    titles: tuple[str, ...] = ()
    """Titles of pages about it: it is found by them, but they are not written in text."""

    @property
    def label(self) -> str:
        """The name to show; the id where there is none."""
        return self.names[0] if self.names else self.id


@dataclass(frozen=True, slots=True)
class Match:
    """An entity found by name: which of its names, and how alike it is to what was asked for."""

    entity: Entity
    name: str
    likeness: float


class KnowledgeGraph:
    """A knowledge graph on disk, opened for reading.

    >>> from lrlm import KnowledgeGraph
    >>> graph = KnowledgeGraph.open("kg")
    >>> graph.topic("Q585").names
    ('Oslo', 'Kristiania')
    >>> graph.find("oslo").id
    'Q585'

    A graph has a length and gives its ids, and can be asked whether it has one:

    >>> len(graph), list(graph), "Q585" in graph
    (3, ['Q20', 'Q34', 'Q585'], True)
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder, format=FORMAT, version=VERSION, hint=_HINT)
        tables = self.manifest.get("tables")
        if not isinstance(tables, dict):
            raise FormatError(f"{self.folder / MANIFEST}: 'tables' is missing; {_HINT}")
        self._size = read_number(self.folder, tables, "entities", at_least=0)
        self._is_checked = False
        self._row_checks: RowChecks | None = None
        self._types: dict[str, str] | None = None
        self._process = -1
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open the folder of a graph, as `lrlm kg build` writes it.

        >>> with KnowledgeGraph.open("kg") as graph:
        ...     graph.relation_types()
        {'borders': 'borders', 'capital': 'capital', 'country': 'country', 'founded': 'founded'}
        """
        return cls(folder)

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Any],
        *,
        names: "Names | None" = None,
        out: Path | str | None = None,
        overwrite: bool = False,
    ) -> "KnowledgeGraph":
        """Make a graph of triples: subject, relation, object.

        An object is a text, a number or a date. A text is an entity, unless it is written as a date
        or a number; 'entity' or 'literal' as a fourth part says which. `names` gives the names of
        entities by their ids; one without a name is called by its id. The graph is written to
        `out`, or else to a temporary folder that goes when the graph is no longer used.

        >>> graph = KnowledgeGraph.from_triples([
        ...     ("Everest", "country", "Nepal"),
        ...     ("Everest", "first ascent", "29 May 1953"),
        ... ], names={"Everest": ["Everest", "Mount Everest"]})
        >>> graph.find("mount everest").id
        'Everest'
        >>> graph.topic("Everest").relations[1].forms[:2]
        ('29 May 1953', 'May 29, 1953')
        """
        from lrlm.knowledge.from_values import graph_of_triples

        return graph_of_triples(triples, names=names, out=out, overwrite=overwrite)

    @classmethod
    def from_dataframe(
        cls,
        table: Any,
        *,
        wide: bool = False,
        names: "Names | None" = None,
        out: Path | str | None = None,
        overwrite: bool = False,
    ) -> "KnowledgeGraph":
        """Make a graph of a data frame of pandas, Polars, Arrow or any library that speaks Arrow.

        Columns called subject, relation and object hold triples. Any other table is wide: a row is
        an entity, with its id and its names, and every other column is a relation. `wide` says so
        where a column is called in another way; the first column holds the ids then. `names` and
        `out` are as for `from_triples`.

        >>> import pyarrow
        >>> frame = pyarrow.table({"name": ["Everest"], "country": ["Nepal"], "height": [8849]})
        >>> graph = KnowledgeGraph.from_dataframe(frame)
        >>> [fact.forms[0] for fact in graph.topic("Everest").relations]
        ['Nepal', '8,849']
        """
        from lrlm.knowledge.from_values import graph_of_table

        return graph_of_table(table, wide=wide, names=names, out=out, overwrite=overwrite)

    @classmethod
    def from_networkx(
        cls,
        network: Any,
        *,
        relation: str | None = None,
        out: Path | str | None = None,
        overwrite: bool = False,
    ) -> "KnowledgeGraph":
        """Make a graph of a directed graph of networkx: nodes are entities, edges are facts.

        The relation of an edge is its attribute `relation`, or else the first of relation, label,
        type and predicate that it has, or its key. The attributes name, names, label and aliases of
        a node are its names, and all other texts, numbers and dates are facts about it.

        >>> import networkx
        >>> network = networkx.DiGraph()
        >>> network.add_edge("Everest", "Nepal", relation="country")
        >>> KnowledgeGraph.from_networkx(network).topic("Everest").relations
        (Relation(type='country', object='Nepal', forms=('Nepal',)),)
        """
        from lrlm.knowledge.from_values import graph_of_networkx

        return graph_of_networkx(network, relation=relation, out=out, overwrite=overwrite)

    @classmethod
    def from_rdf(
        cls,
        files: Sequence[Path | str] | Path | str,
        *,
        out: Path | str | None = None,
        selection: "Selection | None" = None,
        overwrite: bool = False,
    ) -> "KnowledgeGraph":
        """Make a graph of RDF files: Turtle, TriG, N-Triples, N-Quads, RDF/XML, JSON-LD.

        Entities and relation types go by their addresses; `selection` says in which language
        names are taken, and from which predicates (see `lrlm.knowledge.build.Selection`). The
        graph is written to `out`, or else to a temporary folder that goes when the graph is no
        longer used.

        >>> written = Path("oslo.ttl").write_text("@prefix : <http://example.org/> . :Oslo "
        ...     ":country :Norway .", encoding="utf-8")
        >>> graph = KnowledgeGraph.from_rdf("oslo.ttl")
        >>> [(fact.type, fact.forms) for fact in graph.topic("http://example.org/Oslo").relations]
        [('http://example.org/country', ('Norway',))]
        >>> graph.find("oslo").id
        'http://example.org/Oslo'
        """
        from lrlm.knowledge.build import graph_in_a_folder

        return graph_in_a_folder(out, files, selection=selection, overwrite=overwrite)

    def close(self) -> None:
        """Close the file; a closed graph opens again when it is used."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Self], tuple[Path]]:
        """Travel to another process as a path."""
        return type(self), (self.folder,)

    def __len__(self) -> int:
        """Count the entities."""
        return self._size

    def __iter__(self) -> Iterator[str]:
        """Give the ids of all entities, sorted."""
        for row in self._in_order():
            yield row[1]

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return isinstance(id, str) and self._find(id) is not None

    def entity(self, id: str) -> Entity:  # noqa: A002
        """Find an entity by its id.

        >>> KnowledgeGraph.open("kg").entity("Q34").label
        'Sweden'
        """
        return _entity(self._require(id))

    def topic(
        self,
        id: str,  # noqa: A002
        *,
        hops: int = 1,
        limit: int | None = None,
        inverse: bool = False,
    ) -> Topic:
        """Give an entity with every relation that starts at it, objects with all their names.

        >>> for relation in KnowledgeGraph.open("kg").topic("Q585").relations:
        ...     print(relation.type, relation.object, relation.forms)
        country Q20 ('Norway', 'Kingdom of Norway')
        founded 1040 ('1040',)

        With more `hops`, the facts of its objects are its relations, too, and their types are the
        paths to them. With `inverse`, so are facts that lead to it. `limit` keeps the nearest
        relations, a thousand where facts are followed further and nothing else is said.

        >>> for relation in KnowledgeGraph.open("kg").topic("Q585", hops=2, inverse=True).relations:
        ...     print(relation.type, "→", relation.forms[0])
        country → Norway
        founded → 1040
        inverse of capital → Norway
        country / borders → Sweden
        inverse of capital / borders → Sweden
        """
        topic = self._topic(self._require(id))
        if hops == 1 and limit is None and not inverse:
            return topic
        return topic_with_paths(self, topic, hops=hops, limit=limit, inverse=inverse)

    def topics(self) -> Iterator[Topic]:
        """Give every entity at which relations start, as a topic, in the order of ids.

        >>> [topic.id for topic in KnowledgeGraph.open("kg").topics()]
        ['Q20', 'Q585']
        """
        for row in self._in_order():
            if row[4] > 0:
                yield self._topic(row)

    def steps(self, id: str) -> list[tuple[Relation, bool]]:  # noqa: A002
        """Give the relations of an entity, each with whether its object is an entity as well.

        >>> [leads_on for _, leads_on in KnowledgeGraph.open("kg").steps("Q585")]
        [True, False]
        """
        facts = self._star(self._require(id)[0])
        return [(relation_of(fact), leads_to_an_entity(fact)) for fact in facts]

    def facts_leading_to(
        self, ids: Collection[str], *, most: int
    ) -> dict[str, list[tuple[str, str]]]:
        """Give, by object, the types and subjects of facts that lead to entities.

        No index has them: the table of facts is read, which takes long in a large graph.

        >>> KnowledgeGraph.open("kg").facts_leading_to(["Q34"], most=10)
        {'Q34': [('borders', 'Q20')]}
        """
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        path = self.folder / FACTS
        if path.is_file() and path.stat().st_size <= LARGEST_WHOLE:
            check_files(self.folder, self.manifest, (FACTS,))
        wanted = pc.field("object").isin(list(ids)) & (pc.field("kind") == StatementKind.ENTITY)
        with reading(path, "a table of facts"):
            facts = ds.dataset(path).scanner(["subject", "type", "object"], filter=wanted)
            columns = facts.head(most).to_pydict()
        return group_by_object(zip(*columns.values(), strict=True))

    def relation_label(self, type: str) -> str:  # noqa: A002
        """Give the name of a relation type; one that the graph does not have is its own name.

        >>> KnowledgeGraph.open("kg").relation_label("country / capital")
        'country / capital'
        """
        known = self._known_types()
        return known[type] if type in known else path_label(type, known)

    def relation_types(self) -> dict[str, str]:
        """Give the ids of all relation types, sorted, each with its name.

        >>> list(KnowledgeGraph.open("kg").relation_types())
        ['borders', 'capital', 'country', 'founded']
        """
        return dict(self._known_types())

    def search(self, name: str, *, limit: int = 10) -> list[Match]:
        """Find entities by name: the same, beginning alike, or one letter away; best first.

        Letter case, accents and punctuation do not count. Of equally good ones the entity with
        most facts comes first.

        >>> [(match.entity.id, match.name) for match in KnowledgeGraph.open("kg").search("norwey")]
        [('Q20', 'Norway')]
        """
        if limit < 1:
            raise InputError(f"the limit must be at least 1, not {limit}")
        name = clean_name(name)
        key = fold(name)[:KEY_LENGTH]
        if not key:
            return []
        numbers = dict(self._rows(_SAME, key, _CANDIDATES))
        if len(numbers) < _CANDIDATES:
            numbers |= dict(self._rows(_BEGINNING, key, f"{key}\U0010ffff", _CANDIDATES))
        if len(numbers) < limit:
            near = json.dumps(sorted(near_keys(key)), ensure_ascii=False)
            numbers |= dict(self._rows(_NEAR, near, _CANDIDATES))
        rows = list(self._entities(_NUMBERED, json.dumps(sorted(numbers))))
        if self._row_checks is not None:
            found = {row[0]: row for row in rows}
            for number, its_key in numbers.items():
                self._check_key(found.get(number), its_key)
        matches = [_match(name, _entity(row)) for row in rows]
        matches.sort(key=lambda each: (-each.likeness, -each.entity.facts, each.entity.id))
        return matches[:limit]

    def find(self, id_or_name: str) -> Entity:
        """Find an entity by its id, or else by a name that only it has.

        An equal name counts before one in other letter case, and that before one with other
        accents or punctuation: "C" is neither "C++" nor "c" where there is a "C".

        >>> KnowledgeGraph.open("kg").find("kingdom of norway").id
        'Q20'
        """
        if row := self._find(id_or_name):
            return _entity(row)
        named = self._named(id_or_name)
        if not named:
            raise InputError(self._unknown(id_or_name, self.search(id_or_name)))
        if len(named) > 1:
            some = [f"{each.id} ({each.label})" for each in named[:_TOLD]]
            more = ", …" * (len(named) > _TOLD)
            raise InputError(
                f"{self.folder} has {len(named)} entities called {id_or_name!r}:"
                f" {', '.join(some)}{more}; give the id of one"
            )
        return named[0]

    def _named(self, name: str) -> list[Entity]:
        """Give the entities that have a name, or else nearly that name; most facts first."""
        name = clean_name(name)
        key = fold(name)[:KEY_LENGTH]
        rows = list(self._entities(_NAMED, key))
        for row in rows:
            self._check_key(row, key)
        candidates = [_entity(row) for row in rows]
        for written in (str, str.casefold, fold):
            asked = written(name)
            named = [
                each
                for each in candidates
                if any(written(its) == asked for its in (*each.names, *each.titles))
            ]
            if named:
                return named
        return []

    def _topic(self, row: tuple[Any, ...]) -> Topic:
        number, id_, names, *_ = row
        return Topic(id_, split_names(names), map(relation_of, self._star(number)))

    def _star(self, number: int) -> list[FactOfStar]:
        """Read the facts of an entity; those of a large index are checked."""
        if self._row_checks is None:
            return list(self._rows(STAR, number))
        written = next(self._rows("SELECT facts FROM stars WHERE number = ?", number), (None,))
        self._row_checks.check_star(number, *written)
        stated = json.loads(written[0] or "[]")
        facts = list(self._rows(STAR, number))
        found = {entity[0] for entity in self._entities(OBJECTS_AND_UNITS, number)}
        if len(facts) != len(stated) or not numbers_in(stated) <= found:
            raise self._row_checks.damage()
        return facts

    def _known_types(self) -> dict[str, str]:
        """Read the table of relation types once: it is small."""
        if self._types is None:
            self._types = dict(self._rows("SELECT id, label FROM types ORDER BY number"))
        return self._types

    def _in_order(self) -> Iterator[tuple[Any, ...]]:
        """Read the rows of all entities; of a large index, make sure that none is missing."""
        count = 0
        for row in self._entities("SELECT * FROM entities ORDER BY number"):
            if self._row_checks is not None and row[0] != count:
                raise self._row_checks.damage()
            count += 1
            yield row
        if self._row_checks is not None and count != len(self):
            raise self._row_checks.damage()

    def _find(self, id: str) -> tuple[Any, ...] | None:  # noqa: A002
        row = next(self._entities("SELECT * FROM entities WHERE id = ?", id), None)
        if self._row_checks is not None and (self._has(id) if row is None else row[1] != id):
            raise self._row_checks.damage()
        return row

    def _has(self, id: str) -> bool:  # noqa: A002
        """Look for an id without the index of ids, for entities are numbered in their order."""
        places = range(len(self))
        place = bisect_left(places, id, key=self._id_at)
        return place in places and self._id_at(place) == id

    def _id_at(self, number: int) -> str:
        row = next(self._entities("SELECT * FROM entities WHERE number = ?", number), None)
        if row is None:
            raise FormatError(f"{self.folder / INDEX}: entity {number} is missing; {_HINT}")
        return str(row[1])

    def _check_key(self, row: tuple[Any, ...] | None, key: str) -> None:
        """Refuse an entity of a large index that was found by a key that it does not have."""
        if self._row_checks is None:
            return
        names = () if row is None else (*split_names(row[2]), *split_names(row[3]))
        if not any(key in keys(name) for name in names):
            raise self._row_checks.damage()

    def _require(self, id: str) -> tuple[Any, ...]:  # noqa: A002
        row = self._find(id)
        if row is None:
            raise InputError(self._unknown(id, self.search(id)))
        return row

    def _unknown(self, what: str, matches: list[Match]) -> str:
        message = f"{self.folder} has no entity {what!r}"
        if matches:
            near = ", ".join(f"{each.entity.id} ({each.name})" for each in matches[:3])
            message += f"; did you mean {near}?"
        return message

    def _entities(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Read rows of the table of entities; those of a large index are checked one by one."""
        for row in self._rows(query, *values):
            if self._row_checks is not None:
                self._row_checks.check_entity(row)
            yield row

    def _rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        if any(isinstance(each, str) and LONE_SURROGATE.search(each) for each in values):
            return  # no table can hold what was asked for
        try:
            # Not `yield from`, which would close a cursor of a graph that was closed meanwhile.
            for row in self._open_here().execute(query, values):  # noqa: UP028
                yield row
        except (sqlite3.DatabaseError, UnicodeError) as error:
            raise FormatError(
                f"{self.folder / INDEX}: cannot be read ({error}); build the graph again"
            ) from None

    def _open_here(self) -> sqlite3.Connection:
        """Give this process's own connection: one must not be carried over a fork."""
        if self._connection is None or self._process != os.getpid():
            path = quote(str((self.folder / INDEX).absolute()))
            self._connection = sqlite3.connect(
                f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            self._process = os.getpid()
        if not self._is_checked:
            self._check(self._connection)
        return self._connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Compare the index with the manifest before it is first used.

        One that is too large to be read whole is checked row by row when it is used.
        """
        path = self.folder / INDEX
        if not path.is_file() or path.stat().st_size <= LARGEST_WHOLE:
            try:
                check_files(self.folder, self.manifest, (INDEX,))
            except FormatError as error:
                raise FormatError(f"{error}; build the graph again") from None
        elif any(entry["name"] == CHECKS for entry in self.manifest.get("files", ())):
            checks = RowChecks(self.folder, len(self))
            query = "SELECT number, id, label FROM types ORDER BY number"
            types = list(connection.execute(query))
            checks.check_types(types)
            self._row_checks = checks
            self._types = {id_: label for _, id_, label in types}
        self._is_checked = True


# Keys at the same place belong to entities with most facts first, so that a limit keeps those.
_SAME = """
    SELECT entity, key FROM keys JOIN entities ON number = entity WHERE key = ?
    ORDER BY facts DESC, entity LIMIT ?
"""
_NAMED = """
    SELECT entities.* FROM keys JOIN entities ON number = entity WHERE key = ?
    ORDER BY facts DESC, entity
"""
_BEGINNING = "SELECT entity, key FROM keys WHERE key > ? AND key < ? LIMIT ?"
_NEAR = """
    SELECT entity, keys.key FROM json_each(?) AS near JOIN keys ON keys.key = near.value LIMIT ?
"""
_NUMBERED = "SELECT entities.* FROM json_each(?) JOIN entities ON number = value"


def _entity(row: tuple[Any, ...]) -> Entity:
    _, id_, names, titles, facts = row
    return Entity(id_, split_names(names), facts, split_names(titles))


def _match(asked: str, entity: Entity) -> Match:
    names = (*entity.names, *entity.titles) or (entity.id,)
    best = max(names, key=lambda name: likeness(asked, name))
    return Match(entity, best, likeness(asked, best))
