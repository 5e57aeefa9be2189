"""Builds graphs from small generated worlds, and says what they should hold."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.build import build_graph
from lrlm.knowledge.literals import Date, Quantity
from tests.generators.wikidata import PROPERTIES, UNIT_ALIASES, UNITS, Claim, Item, World, truthy


@dataclass(frozen=True)
class TangledWorld(World):
    """A world whose old ids lead to other old ids: on a long way, or in a circle."""

    items: int = 0

    def __iter__(self) -> Iterator[Item]:
        """Give the items; every old id is used, and those that lead nowhere are items."""
        yield from super().__iter__()
        yield Item("Q1", {"en": "End"}, claims=[Claim("P31", "Q5"), Claim("P2046", ("7", "Q300"))])
        used = [Claim("P17", old) for old in self.redirects if old != "Q300"]
        yield Item("Q2", {"en": "User of old ids"}, claims=[Claim("P31", "Q5"), *used])
        for id_ in ("Q200", "Q201", "Q202"):
            claims = [Claim("P31", "Q5"), Claim("P281", id_), Claim("P106", "Q201")]
            yield Item(id_, {"en": f"Name of {id_}"}, claims=claims)

    @property
    def redirects(self) -> dict[str, str]:
        """Sixteen steps to Q1, a circle of two, a way into it, and the old id of a unit."""
        way = dict(pairwise([*(f"Q{100 + number}" for number in range(16)), "Q1"]))
        circle = {"Q200": "Q201", "Q201": "Q200", "Q202": "Q200"}
        return {**way, **circle, "Q300": "Q301", "Q301": "Q11573"}


def last_id(id_: str, redirects: dict[str, str]) -> str:
    """Follow an id to where it ends; one that never ends stays what it is."""
    met = [id_]
    while met[-1] in redirects:
        met.append(redirects[met[-1]])
        if met[-1] in met[:-1]:
            return id_
    return met[-1]


def expected_topics(world: World) -> dict[str, Topic]:
    """Work out every topic of a world, slowly and obviously."""
    items = {item.id: item for item in world}
    topics = {}
    for item in items.values():
        relations = {
            replace(relation, label=PROPERTIES[relation.type][0])
            for claim in truthy(item.claims)
            if (relation := _relation(claim, items, world.redirects)) is not None
        }
        ordered = sorted(relations, key=lambda each: (each.type, _sorted_by(each)))
        if item.names() or ordered:
            topics[item.id] = Topic(item.id, item.names(), ordered)
    return topics


def _sorted_by(relation: Relation) -> str:
    return relation.object.split(" ")[0] if relation.type in ("P2046", "P1082") else relation.object


def _relation(claim: Claim, items: dict[str, Item], redirects: dict[str, str]) -> Relation | None:
    value = claim.value
    match claim.datatype:
        case "wikibase-item":
            target = items[last_id(value, redirects)]
            names = target.names()
            return Relation(claim.property, target.id, names) if names else None
        case "time":
            return _time(claim.property, *value)
        case "quantity":
            amount, unit = value
            return _quantity(claim.property, amount, last_id(unit, redirects))
        case "monolingualtext":
            return Relation(claim.property, value[1]) if value[0] == "en" else None
        case "string":
            return Relation(claim.property, value)
    return None


def _time(type_: str, year: int, month: int, day: int, precision: int) -> Relation | None:
    written = f"-{-year:04d}" if year < 0 else f"{year:04d}"
    if precision == 11:
        return Relation(type_, f"{written}-{month:02d}-{day:02d}", Date(year, month, day).forms())
    if precision == 10:
        return Relation(type_, f"{written}-{month:02d}", Date(year, month).forms())
    if precision == 9:
        return Relation(type_, written, Date(year).forms())
    if precision == 8:
        return Relation(type_, f"{year // 10 * 10}s")
    if precision == 7:
        century = (year - 1) // 100 + 1
        ending = {1: "st", 2: "nd", 3: "rd", 21: "st"}.get(century, "th")
        return Relation(type_, f"{century}{ending} century")
    return None


def _quantity(type_: str, amount: str, unit: str) -> Relation:
    from decimal import Decimal

    bare = Quantity(Decimal(amount)).forms()
    if unit == "1":
        return Relation(type_, amount, bare)
    names = [UNITS[unit], *UNIT_ALIASES.get(unit, [])]
    forms = [form for name in names for form in Quantity(Decimal(amount), name).forms()]
    with_unit = [form for form in forms if form not in bare]
    return Relation(type_, f"{amount} {names[0]}", [*with_unit, *bare])


def content(folder: Path) -> dict[str, bytes]:
    """Give the bytes of every file of a graph but its manifest, which names the inputs."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name != "manifest.json"
    }


EXAMPLE_TABLES = {
    "triples.tsv": (
        "Q585\tcountry\tQ20\nQ585\tfounded\t1040\tliteral\nQ20\tcapital\tQ585\nQ20\tborders\tQ34\n"
    ),
    "forms.tsv": (
        "Q585\tOslo\nQ585\tKristiania\nQ20\tNorway\nQ20\tKingdom of Norway\nQ34\tSweden\n"
    ),
}
"""The files in whose folder the examples of the documentation run, beside their graph `kg`."""


def write_example_graph(folder: Path) -> None:
    """Write the tables of the examples and their graph into a folder."""
    for name, text in EXAMPLE_TABLES.items():
        (folder / name).write_text(text, encoding="utf-8")
    build_graph(folder / "kg", [folder / name for name in EXAMPLE_TABLES])
