"""Follow facts further than one step: those of a topic's objects, and those that lead to it.

What is found becomes a relation of the topic itself, and its type is the path to it: a book has
`author / place of birth`, and a town to which a fact `capital` leads has `inverse of capital`.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from lrlm.errors import InputError
from lrlm.knowledge.topic import Relation, Topic

if TYPE_CHECKING:
    from lrlm.knowledge.graph import KnowledgeGraph

STEP = " / "
"""Stands between the types of a path."""
INVERSE = "inverse of "
"""Stands before the type of a fact that is followed from its object to its subject."""
MOST_RELATIONS = 1000
"""How many relations a topic has that is followed further, unless it is said."""
MOST_HOPS = 5


class _Reached(NamedTuple):
    """An entity, and the types on the way to it."""

    entity: str
    path: str
    label: str
    """The path in the names of its types."""


def topic_with_paths(
    graph: "KnowledgeGraph", topic: Topic, *, hops: int, limit: int | None, inverse: bool
) -> Topic:
    """Give a topic with what is found in so many steps, the nearest first."""
    if not 1 <= hops <= MOST_HOPS:
        raise InputError(f"the number of hops must be from 1 to {MOST_HOPS}, not {hops}")
    if limit is not None and limit < 1:
        raise InputError(f"the limit must be at least 1, not {limit}")
    most = MOST_RELATIONS if limit is None else limit
    found: dict[tuple[str, str], Relation] = {}
    reached = [_Reached(topic.id, "", "")]
    followed = set(reached)
    for _ in range(hops):
        further: list[_Reached] = []
        for step, is_entity in _steps(graph, reached, most, inverse=inverse):
            if step.object == topic.id:  # a way back tells nothing
                continue
            found.setdefault((step.type, step.object), step)
            there = _Reached(step.object, step.type, step.label)
            if is_entity and there not in followed:
                followed.add(there)
                further.append(there)
            if len(found) >= most:
                return Topic(topic.id, topic.names, found.values())
        reached = further
    return Topic(topic.id, topic.names, found.values())


def _steps(
    graph: "KnowledgeGraph", reached: list[_Reached], most: int, *, inverse: bool
) -> Iterator[tuple[Relation, bool]]:
    """Give what is one step away, with its path as the type; facts before inverse ones."""
    for entity, path, label in reached:
        for relation, is_entity in graph.steps(entity):
            type_, name = _path(path, relation.type), _path(label, relation.label)
            yield Relation(type_, relation.object, relation.forms, label=name), is_entity
    if not inverse:
        return
    leading = graph.facts_leading_to({each.entity for each in reached}, most=most)
    for entity, path, label in reached:
        for type_, subject in leading.get(entity, ()):
            if names := graph.entity(subject).names:
                back = _path(path, f"{INVERSE}{type_}")
                name = _path(label, f"{INVERSE}{graph.relation_label(type_)}")
                yield Relation(back, subject, names, label=name), True


def _path(before: str, type_: str) -> str:
    return f"{before}{STEP}{type_}" if before else type_


def path_label(type_: str, labels: dict[str, str]) -> str:
    """Write a path with the names of its relation types.

    >>> path_label("P50 / inverse of P19", {"P50": "author", "P19": "place of birth"})
    'author / inverse of place of birth'
    """
    return STEP.join(_step_label(step, labels) for step in type_.split(STEP))


def _step_label(step: str, labels: dict[str, str]) -> str:
    if step not in labels and step.startswith(INVERSE):
        bare = step.removeprefix(INVERSE)
        return f"{INVERSE}{labels.get(bare, bare)}"
    return labels.get(step, step)


def group_by_object(facts: Iterable[tuple[str, str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Group subject, type and object by the object: the types and subjects, sorted."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for subject, type_, object_ in sorted(facts):
        grouped.setdefault(object_, []).append((type_, subject))
    return grouped
