"""Read the facts of an entity out of the index of a graph, and write them as relations."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from lrlm.knowledge.literals import Date, Quantity, is_number, literal_forms
from lrlm.knowledge.statements import StatementKind
from lrlm.knowledge.topic import Relation

STAR = """
    SELECT types.id, json_extract(fact.value, '$[1]') AS kind, json_extract(fact.value, '$[2]'),
        objects.id, objects.names, units.names, types.label
    FROM stars
    JOIN json_each(stars.facts) AS fact
    JOIN types ON types.number = json_extract(fact.value, '$[0]')
    LEFT JOIN entities AS objects
        ON kind = 0 AND objects.number = json_extract(fact.value, '$[2]')
    LEFT JOIN entities AS units ON units.number = json_extract(fact.value, '$[3]')
    WHERE stars.number = ? ORDER BY fact.key
"""
OBJECTS_AND_UNITS = """
    SELECT entities.* FROM stars
    JOIN json_each(stars.facts) AS fact
    JOIN entities ON entities.number IN (
        json_extract(fact.value, '$[3]'),
        CASE json_extract(fact.value, '$[1]') WHEN 0 THEN json_extract(fact.value, '$[2]') END
    )
    WHERE stars.number = ?
"""

FactOfStar = tuple[Any, ...]
"""A row of `STAR`: type, kind, literal, the object's id and names, the unit's names, and what the
type is called."""


def split_names(names: str) -> tuple[str, ...]:
    """Give the names in a field of the index, which has one on each line."""
    return tuple(names.split("\n")) if names else ()


def numbers_in(facts: list[list[Any]]) -> set[int]:
    """Give the numbers of entities that facts name: objects and units."""
    objects = {fact[2] for fact in facts if fact[1] == StatementKind.ENTITY}
    return objects | {fact[3] for fact in facts if fact[3] is not None}


def leads_to_an_entity(fact: FactOfStar) -> bool:
    """Whether the object of a fact is an entity, and no date, number or text."""
    return bool(fact[1] == StatementKind.ENTITY)


def relation_of(fact: FactOfStar) -> Relation:
    """Make a relation of a fact; a date and a number get the forms in which people write them."""
    type_, kind, literal, object_id, object_names, unit_names, label = fact
    if kind == StatementKind.ENTITY:
        object_ = object_id or ""
        return Relation(type_, object_, split_names(object_names or "") or object_, label=label)
    object_, forms = _value(kind, str(literal), split_names(unit_names or ""))
    return Relation(type_, object_, forms, label=label)


def _value(kind: int, text: str, units: tuple[str, ...]) -> tuple[str, Sequence[str]]:
    """Give the key of an object that is no entity, and its forms."""
    if kind == StatementKind.TEXT:
        return text, [text]
    if kind == StatementKind.DATE and (date := Date.parse(text)):
        return text, date.forms()
    if kind == StatementKind.QUANTITY:
        return _quantity(text, units)
    return text, literal_forms(text)


def _quantity(text: str, units: tuple[str, ...]) -> tuple[str, Sequence[str]]:
    if not is_number(text):
        return text, [text]
    amount = Decimal(text)
    bare = Quantity(amount).forms()
    if not units:
        return text, bare
    with_units = [form for unit in units for form in Quantity(amount, unit).forms()]
    return f"{text} {units[0]}", [*(form for form in with_units if form not in bare), *bare]
