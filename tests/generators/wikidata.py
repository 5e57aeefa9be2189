"""Makes worlds in the shape of Wikidata's dumps, of any length, the same on every run.

`World(items).write_json(path)` streams the JSON dump, `write_ntriples` the truthy N-Triples dump of
the same world; the file's suffix (.gz, .bz2) chooses the compression. `World.item` gives what was
written as plain values, and `truthy` what a reader should make of it: the oracle of the tests.

As in the real dumps: names in many languages, descriptions, sitelinks; ranks, qualifiers and
references; every snak type and the common data types; empty maps written as `[]`; redirects;
properties; one entity a line between brackets, with commas.
"""

import bz2
import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import IO, Any

LANGUAGES = (
    "en", "de", "fr", "es", "it", "nl", "pl", "pt", "ru", "sv", "uk", "vi", "ja", "zh", "ar",
    "fa", "fi", "no", "cs", "hu", "ko", "tr", "ro", "da", "ca", "he", "id", "bg", "el", "sr",
    "hr", "sk", "lt", "sl", "et", "eo", "gl", "eu", "lv", "ast",
)  # fmt: skip
FIRST_ID = 10_000_000
REDIRECT_IDS = 90_000_000
CLASSES = {"Q5": "human", "Q515": "city", "Q6256": "country", "Q7889": "video game"}
UNITS = {"Q712226": "square kilometre", "Q11573": "metre", "Q4916": "euro"}
UNIT_ALIASES = {"Q712226": ["km²", "km2"], "Q11573": ["m", "metres"]}
PROPERTIES = {
    "P31": ("instance of", "wikibase-item", "WikibaseItem"),
    "P17": ("country", "wikibase-item", "WikibaseItem"),
    "P19": ("place of birth", "wikibase-item", "WikibaseItem"),
    "P50": ("author", "wikibase-item", "WikibaseItem"),
    "P106": ("occupation", "wikibase-item", "WikibaseItem"),
    "P527": ("has part", "wikibase-item", "WikibaseItem"),
    "P569": ("date of birth", "time", "Time"),
    "P571": ("inception", "time", "Time"),
    "P2046": ("area", "quantity", "Quantity"),
    "P1082": ("population", "quantity", "Quantity"),
    "P1476": ("title", "monolingualtext", "Monolingualtext"),
    "P1705": ("native label", "monolingualtext", "Monolingualtext"),
    "P281": ("postal code", "string", "String"),
    "P214": ("VIAF ID", "external-id", "ExternalId"),
    "P646": ("Freebase ID", "external-id", "ExternalId"),
    "P856": ("official website", "url", "Url"),
    "P18": ("image", "commonsMedia", "CommonsMedia"),
    "P625": ("coordinate location", "globe-coordinate", "GlobeCoordinate"),
}
SYLLABLES = "ka mo ri tan sel ver du lis ona bru eth gal win por zed ami".split()  # noqa: SIM905
ENTITY = "http://www.wikidata.org/entity/"


@dataclass(frozen=True)
class Claim:
    """One statement; `value` is what the data type needs, None where there is no value."""

    property: str
    value: Any = None
    rank: str = "normal"
    snaktype: str = "value"

    @cached_property
    def datatype(self) -> str:
        return PROPERTIES[self.property][1]


@dataclass(frozen=True)
class Item:
    """An entity as it is, before it is written in some format."""

    id: str
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)

    def names(self, language: str = "en") -> list[str]:
        """Give the names a reader should find, in their order."""
        label, default = self.labels.get(language), self.labels.get("mul")
        found = [label, default, *self.aliases.get(language, []), *self.aliases.get("mul", [])]
        return list(dict.fromkeys(name for name in found if name))


def truthy(claims: list[Claim]) -> list[Claim]:
    """Keep the claims of the best rank of each property that have a value."""
    kept = []
    for claim in claims:
        ranks = {other.rank for other in claims if other.property == claim.property}
        best = "preferred" if "preferred" in ranks else "normal"
        if claim.rank == best and claim.snaktype == "value":
            kept.append(claim)
    return kept


@dataclass(frozen=True)
class World:
    """A world of `items` items, beside its classes, units and properties."""

    items: int
    seed: int = 1
    languages: tuple[str, ...] = LANGUAGES

    def __iter__(self) -> Iterator[Item]:
        for id_, name in {**CLASSES, **UNITS}.items():
            yield Item(id_, {"en": name, "de": name}, {"en": UNIT_ALIASES.get(id_, [])})
        for number in range(self.items):
            yield self.item(number)

    @property
    def redirects(self) -> dict[str, str]:
        """One id in fifty items is an old id of another item."""
        return {
            f"Q{REDIRECT_IDS + number}": f"Q{FIRST_ID + number}"
            for number in range(0, self.items, 50)
        }

    def item(self, number: int) -> Item:
        """Make up an item, the same whatever came before it."""
        dice = Random(f"{self.seed}:{number}")
        labels, aliases = self._names(dice, number)
        return Item(f"Q{FIRST_ID + number}", labels, aliases, self._claims(dice, number))

    def _names(self, dice: Random, number: int) -> tuple[dict[str, str], dict[str, list[str]]]:
        name = " ".join(
            "".join(dice.choices(SYLLABLES, k=dice.randint(2, 3))).capitalize()
            for _ in range(dice.randint(1, 3))
        )
        if number % 7 == 0:
            name += f' “{dice.randint(1, 99)}” é\\"ß'
        labels = {code: name for code in self.languages if dice.random() < 0.6 or code == "de"}
        if number % 10 != 3:
            labels["en"] = name
        else:
            labels.pop("en", None)
        if number % 20 == 3:
            labels["mul"] = name
        aliases = {}
        if count := dice.randint(0, 3):
            aliases["en"] = [f"{name} {mark}" for mark in ("the Great", "II", name[:3])[:count]]
        if dice.random() < 0.3:
            aliases["fr"] = [f"le {name}"]
        return labels, aliases

    def _claims(self, dice: Random, number: int) -> list[Claim]:
        def other() -> str:
            if dice.random() < 0.05:
                return f"Q{REDIRECT_IDS + dice.randrange(0, self.items, 50)}"
            return f"Q{FIRST_ID + dice.randrange(self.items)}"

        if number % 100 == 99:
            return []  # written as an empty list
        claims = [Claim("P31", dice.choice(list(CLASSES)))]
        for property_ in ("P17", "P19", "P50", "P106", "P527"):
            if dice.random() < 0.6:
                ranks = ["normal"] * dice.randint(1, 3)
                if len(ranks) > 1:
                    ranks[dice.randrange(len(ranks))] = dice.choice(["preferred", "deprecated"])
                claims += [Claim(property_, other(), rank) for rank in ranks]
        time = (dice.randint(1, 2020), dice.randint(2, 12), dice.randint(2, 28))
        if dice.random() < 0.7:
            claims.append(Claim("P569", (*time, dice.choice([11, 11, 11, 10, 9, 8, 7, 6]))))
        if dice.random() < 0.1:
            claims.append(Claim("P571", (-time[0], *time[1:], 9)))
        if dice.random() < 0.5:
            amount = f"{dice.randint(1, 10**6)}" + ("" if dice.random() < 0.5 else ".25")
            claims.append(Claim("P2046", (amount, dice.choice([*UNITS, "1"]))))
        if dice.random() < 0.3:
            claims.append(Claim("P1082", (f"{dice.randint(1, 10**7)}", "1")))
        if dice.random() < 0.4:
            claims += [Claim("P1476", ("en", f"Title {number}")), Claim("P1476", ("de", "Titel"))]
        if dice.random() < 0.1:
            claims.append(Claim("P281", f"{number:05d}"))
        for property_ in ("P17", "P569"):
            if dice.random() < 0.05:
                claims = [each for each in claims if each.property != property_]
                claims.append(Claim(property_, snaktype=dice.choice(["somevalue", "novalue"])))
        for property_ in ("P214", "P646", "P856", "P18", "P625"):
            if dice.random() < 0.7:
                claims.append(Claim(property_, f"{property_}-{number}"))
        return claims

    def write_json(self, path: Path) -> Path:
        """Write the JSON dump."""
        with _writer(path) as file:
            file.write(b"[\n")
            for number, line in enumerate(self._json_lines()):
                file.write(b",\n" * (number > 0) + line)
            file.write(b"\n]\n")
        return path

    def _json_lines(self) -> Iterator[bytes]:
        for id_, (name, datatype, _) in PROPERTIES.items():
            labels = _terms({"en": name, "de": f"{name} (de)"})
            yield _dump({"type": "property", "datatype": datatype, "id": id_, "labels": labels})
        for number, item in enumerate(self):
            yield _dump(_as_json(item, number, self.languages))
        for old, new in self.redirects.items():
            yield _dump({"entity": old, "redirect": new})

    def write_ntriples(self, path: Path) -> Path:
        """Write the truthy N-Triples dump."""
        with _writer(path) as file:
            for item in self:
                file.write("".join(_as_ntriples(item, self.languages)).encode())
            for id_, (name, _, datatype) in PROPERTIES.items():
                about = f"<{ENTITY}{id_}>"
                ontology = "http://wikiba.se/ontology#"
                lines = f"{about} <{ontology}propertyType> <{ontology}{datatype}> .\n"
                lines += _triple_label(about, "http://www.w3.org/2000/01/rdf-schema#label", name)
                file.write(lines.encode())
            for old, new in self.redirects.items():
                same = "http://www.w3.org/2002/07/owl#sameAs"
                file.write(f"<{ENTITY}{old}> <{same}> <{ENTITY}{new}> .\n".encode())
        return path


@contextmanager
def _writer(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix == ".gz":
        with path.open("wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as file:
            yield file  # type: ignore[misc]
    elif path.suffix == ".bz2":
        with bz2.open(path, "wb") as bz2_file:
            yield bz2_file
    else:
        with path.open("wb") as plain:
            yield plain


def _dump(entity: dict[str, Any]) -> bytes:
    return json.dumps(entity, ensure_ascii=True, separators=(",", ":")).encode()


def _terms(names: dict[str, str]) -> Any:
    terms = {code: {"language": code, "value": name} for code, name in names.items()}
    return terms or []


def _as_json(item: Item, number: int, languages: tuple[str, ...]) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for place, claim in enumerate(item.claims):
        claims.setdefault(claim.property, []).append(_statement(item.id, place, claim, number))
    return {
        "type": "item",
        "id": item.id,
        "labels": _terms(item.labels),
        "descriptions": _terms(dict.fromkeys(languages[:20], f"a thing, number {number}")),
        "aliases": {
            code: [{"language": code, "value": name} for name in names]
            for code, names in item.aliases.items()
            if names
        }
        or [],
        "claims": claims or [],
        "sitelinks": {
            f"{code}wiki": {"site": f"{code}wiki", "title": name, "badges": []}
            for code, name in list(item.labels.items())[:5]
        }
        or [],
        "lastrevid": 1_000_000 + number,
    }


def _statement(entity: str, place: int, claim: Claim, number: int) -> dict[str, Any]:
    snak: dict[str, Any] = {
        "snaktype": claim.snaktype,
        "property": claim.property,
        "hash": f"{number:040x}",
        "datatype": claim.datatype,
    }
    if claim.snaktype == "value":
        snak["datavalue"] = _datavalue(claim)
    quoted = {"snaktype": "value", "property": "P585", "hash": "0" * 40, "datatype": "time"}
    quoted["datavalue"] = _time((2019, 5, 7, 11))  # type: ignore[assignment]
    statement: dict[str, Any] = {"mainsnak": snak, "type": "statement"}
    if place % 3 == 0:
        statement |= {"qualifiers": {"P585": [quoted]}, "qualifiers-order": ["P585"]}
    statement |= {"id": f"{entity}${place:08x}-0000-0000-0000-{number:012x}", "rank": claim.rank}
    if place % 2 == 0:
        reference = {"hash": "f" * 40, "snaks": {"P813": [quoted]}, "snaks-order": ["P813"]}
        statement["references"] = [reference]
    return statement


def _datavalue(claim: Claim) -> dict[str, Any]:
    value: Any = claim.value
    match claim.datatype:
        case "wikibase-item":
            entity = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
            return {"value": entity, "type": "wikibase-entityid"}
        case "time":
            return _time(value)
        case "quantity":
            amount, unit = value
            unit = unit if unit == "1" else f"{ENTITY}{unit}"
            return {"value": {"amount": f"+{amount}", "unit": unit}, "type": "quantity"}
        case "monolingualtext":
            return {"value": {"text": value[1], "language": value[0]}, "type": "monolingualtext"}
        case "globe-coordinate":
            globe = f"{ENTITY}Q2"
            point = {"latitude": 1.5, "longitude": 2.5, "altitude": None, "precision": 0.01}
            return {"value": point | {"globe": globe}, "type": "globecoordinate"}
        case _:
            return {"value": value, "type": "string"}


def _time(value: tuple[int, int, int, int]) -> dict[str, Any]:
    year, month, day, precision = value
    if precision < 11:
        day = 0
    if precision < 10:
        month = 0
    written = f"{'-' if year < 0 else '+'}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z"
    return {
        "value": {
            "time": written,
            "timezone": 0,
            "before": 0,
            "after": 0,
            "precision": precision,
            "calendarmodel": f"{ENTITY}Q1985727",
        },
        "type": "time",
    }


def _as_ntriples(item: Item, languages: tuple[str, ...]) -> Iterator[str]:
    about = f"<{ENTITY}{item.id}>"
    page = f"<https://www.wikidata.org/wiki/Special:EntityData/{item.id}>"
    yield f"{page} <http://schema.org/about> {about} .\n"
    yield (
        f"{about} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
        " <http://wikiba.se/ontology#Item> .\n"
    )
    for code, name in item.labels.items():
        for predicate in (
            "http://www.w3.org/2000/01/rdf-schema#label",
            "http://www.w3.org/2004/02/skos/core#prefLabel",
            "http://schema.org/name",
        ):
            yield _triple_label(about, predicate, name, code)
    for code in languages[:20]:
        yield _triple_label(about, "http://schema.org/description", "a thing", code)
    for code, names in item.aliases.items():
        for name in names:
            yield _triple_label(about, "http://www.w3.org/2004/02/skos/core#altLabel", name, code)
    for claim in truthy(item.claims):
        predicate = f"<http://www.wikidata.org/prop/direct/{claim.property}>"
        yield f"{about} {predicate} {_ntriples_value(claim)} .\n"


def _triple_label(about: str, predicate: str, name: str, code: str = "en") -> str:
    return f"{about} <{predicate}> {_quoted(name)}@{code} .\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("é", "\\u00E9")
    return f'"{escaped}"'


def _ntriples_value(claim: Claim) -> str:
    value: Any = claim.value
    schema = "http://www.w3.org/2001/XMLSchema#"
    match claim.datatype:
        case "wikibase-item":
            return f"<{ENTITY}{value}>"
        case "time":
            year, month, day, precision = value
            day = day if precision >= 11 else 1
            month = month if precision >= 10 else 1
            year = year if year > 0 else year + 1  # this format has a year 0
            sign = "-" if year < 0 else ""
            return f'"{sign}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z"^^<{schema}dateTime>'
        case "quantity":
            return f'"+{value[0]}"^^<{schema}decimal>'
        case "monolingualtext":
            return f"{_quoted(value[1])}@{value[0]}"
        case "globe-coordinate":
            wkt = "http://www.opengis.net/ont/geosparql#wktLiteral"
            return f'"Point(2.5 1.5)"^^<{wkt}>'
        case "url":
            return f"<https://example.org/{value}>"
        case "commonsMedia":
            return f"<http://commons.wikimedia.org/wiki/Special:FilePath/{value}>"
        case _:
            return _quoted(value)
