"""The tables of facts and names in; for each domain its relations and its topics out.

`facts/<domain>.tsv` has one topic a line: its id, then one column a relation, headed `type:kind`.
Objects of an entity cell stand between ` | `; an empty cell is no fact. `facts/<domain>.names.tsv`
gives the names of topics and objects, the canonical one first; a thing without a line there is
called by its id (see `names`).
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from lrlm.corpora.miniworld import names as naming
from lrlm.corpora.miniworld.names import ENTITY, Names
from lrlm.corpora.miniworld.tables import rows
from lrlm.errors import FormatError
from lrlm.knowledge.literals import literal_forms
from lrlm.knowledge.topic import Relation, Topic

KINDS = ("entity", "date", "year", "quantity", "text")
_LITERAL = {
    "date": re.compile(r"-?\d{4}(-\d\d(-\d\d)?)?"),
    "year": re.compile(r"-?\d{1,4}"),
    "quantity": re.compile(r"-?\d+(\.\d+)?( \S+)?"),
    "text": re.compile(r"\S(.*\S)?"),
}


@dataclass(frozen=True, slots=True)
class Domain:
    """One kind of topics: the kind of each relation's objects, the topics by id, all names."""

    name: str
    kinds: dict[str, str]
    topics: dict[str, Topic]
    names: Names


def domains(folder: Traversable | None = None) -> dict[str, Domain]:
    """Read every domain of a folder, by default of the facts that come with the package."""
    return _packaged() if folder is None else _read(folder)


def topics() -> dict[str, Topic]:
    """Give every topic of the embedded corpus with all its facts, by id."""
    return {id_: topic for domain in domains().values() for id_, topic in domain.topics.items()}


@cache
def _packaged() -> dict[str, Domain]:
    return _read(files("lrlm.corpora.miniworld") / "facts")


def _read(folder: Traversable) -> dict[str, Domain]:
    tables = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".tsv")),
        key=lambda file: file.name,
    )
    names = naming.read(table for table in tables if table.name.endswith(".names.tsv"))
    result: dict[str, Domain] = {}
    home: dict[str, str] = {}
    for table in tables:
        if table.name.endswith(".names.tsv"):
            continue
        domain = _domain(table, names)
        result[domain.name] = domain
        for topic in domain.topics:
            if topic in home:
                raise FormatError(f"{table.name}: {topic} is already a topic of {home[topic]}")
            home[topic] = table.name
    if not result:
        raise FormatError(f"{folder}: no table of facts (<domain>.tsv)")
    return result


def _domain(table: Traversable, names: Names) -> Domain:
    lines = rows(table)
    where, header = next(lines, (table.name, []))
    kinds: dict[str, str] = {}
    for cell in header[1:]:
        type_, _, kind = cell.rpartition(":")
        if not type_ or kind not in KINDS or type_ in kinds:
            raise FormatError(f"{where}: {cell!r} is not a new `type:kind`; kinds are {KINDS}")
        kinds[type_] = kind
    if header[:1] != ["id"] or not kinds:
        raise FormatError(f"{where}: the first line must be `id`, then `type:kind` columns")
    found: dict[str, Topic] = {}
    for where, cells in lines:
        if len(cells) != len(header):
            raise FormatError(f"{where}: {len(cells)} cells where the header has {len(header)}")
        if not ENTITY.fullmatch(cells[0]) or cells[0] in found:
            raise FormatError(f"{where}: {cells[0]!r} is not a new id (no spaces, no '|')")
        relations = [
            Relation(type_, object_, _forms(object_, kind, names))
            for (type_, kind), cell in zip(kinds.items(), cells[1:], strict=True)
            for object_ in _objects(cell, type_, kind, where)
        ]
        found[cells[0]] = Topic(cells[0], _forms(cells[0], "entity", names), relations)
    return Domain(table.name.removesuffix(".tsv"), kinds, found, names)


def _objects(cell: str, type_: str, kind: str, where: str) -> list[str]:
    if not cell.strip():
        return []
    if kind == "entity":
        objects = [part.strip() for part in cell.split("|")]
        if len(set(objects)) < len(objects) or not all(map(ENTITY.fullmatch, objects)):
            raise FormatError(f"{where}: {type_}: {cell!r} is not `id | id | …` without repeats")
        return objects
    if not _LITERAL[kind].fullmatch(cell):
        raise FormatError(f"{where}: {type_}: {cell!r} is not a {kind}")
    return [cell]


def _forms(object_: str, kind: str, names: Names) -> tuple[str, ...]:
    return names.of(object_) if kind == "entity" else literal_forms(object_)
