"""Look up topics and entities in a knowledge graph on disk, by id and by name.

Opening is cheap and reading needs nothing but the standard library, so any number of processes
and threads can each have the same graph open.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lrlm.artifacts import MANIFEST, check_files, read_manifest, read_number
from lrlm.errors import FormatError, InputError
from lrlm.knowledge.paths import group_by_object, path_label, topic_with_paths
from lrlm.knowledge.rows import LARGEST_WHOLE, EntityRow, GraphRows
from lrlm.knowledge.search import Entity, Match, entities_like, entities_named, entity_of
from lrlm.knowledge.stars import leads_to_an_entity, relation_of, split_names
from lrlm.knowledge.statements import StatementKind
from lrlm.knowledge.topic import Relation, Topic
from lrlm.text_files import reading

if TYPE_CHECKING:
    from lrlm.knowledge.build import Selection
    from lrlm.knowledge.from_values import Names

FORMAT = "lrlm knowledge graph"
VERSION = 2

_HINT = "make one with 'lrlm kg build'"
FACTS = "facts.parquet"
_TOLD = 5


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
        self._rows = GraphRows(self.folder, self.manifest, self._size)

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
        self._rows.close()

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
        for row in self._rows.in_order():
            yield row[1]

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return isinstance(id, str) and self._rows.find(id) is not None

    def entity(self, id: str) -> Entity:  # noqa: A002
        """Find an entity by its id.

        >>> KnowledgeGraph.open("kg").entity("Q34").label
        'Sweden'
        """
        return entity_of(self._require(id))

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
        for row in self._rows.in_order():
            if row[4] > 0:
                yield self._topic(row)

    def steps(self, id: str) -> list[tuple[Relation, bool]]:  # noqa: A002
        """Give the relations of an entity, each with whether its object is an entity as well.

        >>> [leads_on for _, leads_on in KnowledgeGraph.open("kg").steps("Q585")]
        [True, False]
        """
        facts = self._rows.star(self._require(id)[0])
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
        known = self._rows.types()
        return known[type] if type in known else path_label(type, known)

    def relation_types(self) -> dict[str, str]:
        """Give the ids of all relation types, sorted, each with its name.

        >>> list(KnowledgeGraph.open("kg").relation_types())
        ['borders', 'capital', 'country', 'founded']
        """
        return dict(self._rows.types())

    def search(self, name: str, *, limit: int = 10) -> list[Match]:
        """Find entities by name: the same, beginning alike, or one letter away; best first.

        Letter case, accents and punctuation do not count. Of equally good ones the entity with
        most facts comes first.

        >>> [(match.entity.id, match.name) for match in KnowledgeGraph.open("kg").search("norwey")]
        [('Q20', 'Norway')]
        """
        return entities_like(self._rows, name, limit=limit)

    def find(self, id_or_name: str) -> Entity:
        """Find an entity by its id, or else by a name that only it has.

        An equal name counts before one in other letter case, and that before one with other
        accents or punctuation: "C" is neither "C++" nor "c" where there is a "C".

        >>> KnowledgeGraph.open("kg").find("kingdom of norway").id
        'Q20'
        """
        if row := self._rows.find(id_or_name):
            return entity_of(row)
        named = entities_named(self._rows, id_or_name)
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

    def _topic(self, row: EntityRow) -> Topic:
        number, id_, names, *_ = row
        return Topic(id_, split_names(names), map(relation_of, self._rows.star(number)))

    def _require(self, id: str) -> EntityRow:  # noqa: A002
        row = self._rows.find(id)
        if row is None:
            raise InputError(self._unknown(id, self.search(id)))
        return row

    def _unknown(self, what: str, matches: list[Match]) -> str:
        message = f"{self.folder} has no entity {what!r}"
        if matches:
            near = ", ".join(f"{each.entity.id} ({each.name})" for each in matches[:3])
            message += f"; did you mean {near}?"
        return message
