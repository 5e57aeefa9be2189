"""Make a knowledge graph of what is there in Python: triples, a data frame, a graph of networkx.

Everything becomes Parquet tables and goes the way of all tables, so that a graph is the same
wherever it comes from, and what looks wrong is told in the same words. Without a folder to write
to, the graph lies in a temporary one that goes when the graph is no longer used.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Self, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.characters import NOT_ON_A_LINE, check_characters
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge.build import graph_in_a_folder
from lrlm.knowledge.data_frames import table_of_frame
from lrlm.knowledge.doubts import MAX_UNKNOWN
from lrlm.knowledge.graph import KnowledgeGraph
from lrlm.knowledge.literals import literal_text, looks_like_a_value

Names: TypeAlias = Mapping[str, Iterable[str] | str]
"""The names of entities by their ids; the first one is canonical."""

_ROWS_AT_ONCE = 65_536
_TRIPLES = pa.schema([(name, pa.string()) for name in ("subject", "relation", "object", "kind")])
_FORMS = pa.schema([(name, pa.string()) for name in ("entity", "form")])
_RELATION_OF_AN_EDGE = ("relation", "label", "type", "predicate", "key")
_NAMES_OF_A_NODE = ("name", "names", "label", "aliases")


def graph_of_triples(
    triples: Iterable[Any],
    *,
    names: Names | None = None,
    out: Path | str | None = None,
    overwrite: bool = False,
    max_unknown: float = MAX_UNKNOWN,
) -> KnowledgeGraph:
    """Make a graph of triples, see `KnowledgeGraph.from_triples`."""
    with _Tables() as tables:
        if not tables.write("triples", _TRIPLES, _rows_of(triples)):
            raise InputError("there are no triples to make a graph of")
        if names:
            tables.write("forms", _FORMS, _forms_of(names))
        return tables.build(out, overwrite=overwrite, max_unknown=max_unknown)


def graph_of_table(
    table: Any,
    *,
    wide: bool = False,
    names: Names | None = None,
    out: Path | str | None = None,
    overwrite: bool = False,
    max_unknown: float = MAX_UNKNOWN,
) -> KnowledgeGraph:
    """Make a graph of a data frame, see `KnowledgeGraph.from_dataframe`."""
    with _Tables() as tables:
        path = tables.folder / "table.parquet"
        pq.write_table(table_of_frame(table), path)
        (tables.wide if wide else tables.sources).append(path)
        if names:
            tables.write("forms", _FORMS, _forms_of(names))
        try:
            return tables.build(out, overwrite=overwrite, max_unknown=max_unknown)
        except LrlmError as error:
            error.args = (str(error).replace(str(path), "the data frame"),)
            raise


def graph_of_networkx(
    network: Any,
    *,
    relation: str | None = None,
    out: Path | str | None = None,
    overwrite: bool = False,
    max_unknown: float = MAX_UNKNOWN,
) -> KnowledgeGraph:
    """Make a graph of nodes and edges, see `KnowledgeGraph.from_networkx`."""
    if not (hasattr(network, "edges") and hasattr(network, "nodes")):
        raise InputError(f"expected a graph of networkx, not a {type(network).__name__}")
    if not network.is_directed():
        raise InputError(
            "a fact leads from a subject to an object, but the graph is not directed; give a"
            " networkx.DiGraph or MultiDiGraph"
        )
    names = {
        str(node): found
        for node, attributes in network.nodes(data=True)
        if (found := _names_of_node(attributes))
    }
    triples = [*_facts_of_edges(network, relation), *_facts_of_nodes(network)]
    return graph_of_triples(
        triples, names=names, out=out, overwrite=overwrite, max_unknown=max_unknown
    )


def _facts_of_edges(network: Any, relation: str | None) -> Iterator[tuple[Any, ...]]:
    with_keys = {"keys": True} if network.is_multigraph() else {}
    for subject, object_, *key, attributes in network.edges(data=True, **with_keys):
        given = attributes if not key else {"key": key[0], **attributes}
        wanted = _RELATION_OF_AN_EDGE if relation is None else (relation,)
        type_ = next((given[name] for name in wanted if isinstance(given.get(name), str)), None)
        if type_ is None:
            raise InputError(
                f"the edge from {subject!r} to {object_!r} does not say which relation it is:"
                f" expected a text as its attribute {' or '.join(map(repr, wanted))}"
            )
        yield str(subject), type_, str(object_), "entity"


def _facts_of_nodes(network: Any) -> Iterator[tuple[Any, ...]]:
    """Take what is said about a node itself: texts, numbers and dates, a fact each."""
    for node, attributes in network.nodes(data=True):
        for name, value in attributes.items():
            if name in _NAMES_OF_A_NODE or isinstance(value, bool):
                continue
            if isinstance(value, str | int | float | Decimal | date):
                yield str(node), str(name), value, "literal"


def _names_of_node(attributes: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for key in _NAMES_OF_A_NODE:
        given = attributes.get(key)
        several = given if isinstance(given, list | tuple) else [given]
        found += [each for each in several if isinstance(each, str) and each.strip()]
    return found


def _rows_of(triples: Iterable[Any]) -> Iterator[tuple[str, str, str, str]]:
    for number, triple in enumerate(triples):
        where = f"triple {number}"
        if isinstance(triple, str) or not isinstance(triple, Iterable):
            raise InputError(f"{where} must be (subject, relation, object), not {triple!r}")
        subject, type_, object_, kind = _four(tuple(triple), where)
        is_text = isinstance(object_, str)
        if not is_text and not _is_value(object_):
            raise InputError(f"{where}: the object must be a text, number or date, not {object_!r}")
        text = object_ if is_text else literal_text(object_)
        if kind is None:
            kind = "literal" if not is_text or looks_like_a_value(text) else "entity"
        for field, value in (("subject", subject), ("relation", type_), ("object", text)):
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{where}: the {field} must be a text, not {value!r}")
            check_characters(value, f"{where}: the {field}", refused=NOT_ON_A_LINE)
        yield subject, type_, text, kind


def _four(triple: tuple[Any, ...], where: str) -> tuple[Any, Any, Any, str | None]:
    if len(triple) == 3:
        return (*triple, None)
    if len(triple) == 4 and triple[3] in ("entity", "literal"):
        return triple
    raise InputError(
        f"{where} must be (subject, relation, object) and optionally 'entity' or 'literal', not"
        f" {triple!r}"
    )


def _is_value(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | date) and not isinstance(value, bool)


def _forms_of(names: Names) -> Iterator[tuple[str, str]]:
    for entity, given in names.items():
        for name in (given,) if isinstance(given, str) else given:
            if not isinstance(name, str) or not isinstance(entity, str):
                raise InputError(f"the names of {entity!r} must be texts, not {name!r}")
            check_characters(entity, "an id in names", refused=NOT_ON_A_LINE)
            yield entity, name


class _Tables:
    """Tables on their way to becoming a graph."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="lrlm-tables-")
        self.folder = Path(self._scratch.name)
        self.sources: list[Path] = []
        self.wide: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def write(self, name: str, schema: pa.Schema, rows: Iterator[tuple[str, ...]]) -> int:
        """Write rows as a source, some at a time; give their number."""
        number = 0
        path = self.folder / f"{name}.parquet"
        with pq.ParquetWriter(path, schema) as writer:
            waiting: list[tuple[str, ...]] = []
            for row in rows:
                number += 1
                waiting.append(row)
                if len(waiting) >= _ROWS_AT_ONCE:
                    writer.write_table(_table(waiting, schema))
                    waiting.clear()
            writer.write_table(_table(waiting, schema))
        self.sources.append(path)
        return number

    def build(
        self, out: Path | str | None, *, overwrite: bool, max_unknown: float
    ) -> KnowledgeGraph:
        """Build the graph in a folder, or in one that goes with it."""
        return graph_in_a_folder(
            out,
            self.sources,
            wide=self.wide,
            ids_as_names=True,
            max_unknown=max_unknown,
            overwrite=overwrite,
        )


def _table(rows: list[tuple[str, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=schema)
