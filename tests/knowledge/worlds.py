"""Builds graphs from small generated worlds, and says what they should hold."""

from pathlib import Path

from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.literals import Date, Quantity
from tests.generators.wikidata import UNIT_ALIASES, UNITS, Claim, Item, World, truthy


def expected_topics(world: World) -> dict[str, Topic]:
    """Work out every topic of a world, slowly and obviously."""
    items = {item.id: item for item in world}
    topics = {}
    for item in items.values():
        relations = {
            relation
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
            target = items[redirects.get(value, value)]
            names = target.names()
            return Relation(claim.property, target.id, names) if names else None
        case "time":
            return _time(claim.property, *value)
        case "quantity":
            return _quantity(claim.property, *value)
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
