"""Find entities of a graph by name, also by one that is not quite theirs."""

import json
from dataclasses import dataclass

from lrlm.characters import clean_name
from lrlm.errors import InputError
from lrlm.knowledge.index import KEY_LENGTH, fold, likeness, near_keys
from lrlm.knowledge.rows import EntityRow, GraphRows
from lrlm.knowledge.stars import split_names

_CANDIDATES = 200


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


def entities_like(rows: GraphRows, name: str, *, limit: int) -> list[Match]:
    """Find entities by name: the same, beginning alike, or one letter away; best first."""
    if limit < 1:
        raise InputError(f"the limit must be at least 1, not {limit}")
    name = clean_name(name)
    key = fold(name)[:KEY_LENGTH]
    if not key:
        return []
    numbers = dict(rows.rows(_SAME, key, _CANDIDATES))
    if len(numbers) < _CANDIDATES:
        numbers |= dict(rows.rows(_BEGINNING, key, f"{key}\U0010ffff", _CANDIDATES))
    if len(numbers) < limit:
        near = json.dumps(sorted(near_keys(key)), ensure_ascii=False)
        numbers |= dict(rows.rows(_NEAR, near, _CANDIDATES))
    found = list(rows.entities(_NUMBERED, json.dumps(sorted(numbers))))
    by_number = {row[0]: row for row in found}
    for number, its_key in numbers.items():
        rows.check_key(by_number.get(number), its_key)
    matches = [_match(name, entity_of(row)) for row in found]
    matches.sort(key=lambda each: (-each.likeness, -each.entity.facts, each.entity.id))
    return matches[:limit]


def entities_named(rows: GraphRows, name: str) -> list[Entity]:
    """Give the entities that have a name, or else nearly that name; most facts first.

    An equal name counts before one in other letter case, and that before one with other accents or
    punctuation.
    """
    name = clean_name(name)
    key = fold(name)[:KEY_LENGTH]
    found = list(rows.entities(_NAMED, key))
    for row in found:
        rows.check_key(row, key)
    candidates = [entity_of(row) for row in found]
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


def entity_of(row: EntityRow) -> Entity:
    """Make an entity of its row."""
    _, id_, names, titles, facts = row
    return Entity(id_, split_names(names), facts, split_names(titles))


def _match(asked: str, entity: Entity) -> Match:
    names = (*entity.names, *entity.titles) or (entity.id,)
    best = max(names, key=lambda name: likeness(asked, name))
    return Match(entity, best, likeness(asked, best))
