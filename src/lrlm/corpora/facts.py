"""A graph on disk, or tables of triples and of forms in; what a corpus needs of them out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lrlm.artifacts import MANIFEST
from lrlm.corpora.inputs import FactRow, FormRow, parse_fact, parse_form
from lrlm.corpora.joining import Join
from lrlm.errors import InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.text_files import BadLines, read_records


class TopicFacts(Protocol):
    """Puts what is known about topics into a join."""

    left_out: Counter[str]
    """How much could not be given, by the reason."""

    def add(self, topic: str) -> None:
        """Say that there is an article about a topic."""
        ...


@dataclass(frozen=True)
class FactFiles:
    """Where facts and names are: in the folder of a graph, or in two tables."""

    triples: Path | None = None
    forms: Path | None = None
    graph: Path | None = None

    def __post_init__(self) -> None:
        has_tables = self.triples is not None and self.forms is not None
        has_one = self.triples is not None or self.forms is not None
        if (self.graph is not None) == has_tables or has_one != has_tables:
            raise InputError("a graph is needed: give either its folder, or triples and forms")
        for path in (self.triples, self.forms):
            if path is not None and not path.is_file():
                raise InputError(f"{path}: there is no such file")
        if self.graph is not None:
            KnowledgeGraph.open(self.graph)  # refuses what is none

    @property
    def files(self) -> Sequence[Path]:
        """The files by which the knowledge is told from other knowledge."""
        if self.graph is not None:
            return [self.graph / MANIFEST]
        return [path for path in (self.triples, self.forms) if path is not None]

    def read(self, join: Join, bad_lines: BadLines) -> TopicFacts:
        """Put facts into a join: tables at once, a graph topic by topic as they are added."""
        if self.graph is not None:
            return _FromGraph(self.graph, join)
        if self.triples is not None and self.forms is not None:
            join.add_facts(read_records(self.triples, parse_fact, bad_lines))
            join.add_forms(read_records(self.forms, parse_form, bad_lines))
        return _AllThere()


class _AllThere:
    """Has nothing left to add."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()

    def add(self, topic: str) -> None:
        """Take note of nothing."""


class _FromGraph:
    """Brings the stars of topics from a graph on disk into the join, each once."""

    def __init__(self, folder: Path, join: Join) -> None:
        self._graph = KnowledgeGraph.open(folder)
        self._join = join
        self._topics: set[str] = set()
        self._named: dict[str, set[str]] = {}
        self.left_out: Counter[str] = Counter()

    def add(self, topic: str) -> None:
        """Bring a topic's facts with the names of their objects."""
        if topic in self._topics:
            return
        self._topics.add(topic)
        if topic not in self._graph:
            self.left_out["topics that the graph does not have"] += 1
            return
        self._name(topic, (topic,))
        for relation in self._graph.topic(topic).relations:
            self._join.add_facts([FactRow(topic, relation.type, relation.object, literal=False)])
            self._name(relation.object, relation.forms)

    def _name(self, entity: str, forms: tuple[str, ...]) -> None:
        if forms == (entity,) and entity in self._graph:
            forms = self._graph.entity(entity).names  # one without names is not called by its id
        known = self._named.setdefault(entity, set())  # a number and a year may be written alike
        for form in forms:
            if form not in known:
                known.add(form)
                self._join.add_forms([FormRow(entity, form)])
