"""`plans/<domain>.toml` in, the parsed sentence plans of that domain out.

openings = [ … ]            a first sentence, with the title
fillers = [ … ]             sentences that state no fact
lookalikes = [ … ]          fillers with words that elsewhere are objects ("a French film")
[lists]                     `stone = "granite, basalt"` or a list of plans; used as <stone>
[plans]                     relation = [ plans ], in the order in which articles like to tell
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lrlm.corpora.miniworld.grammar import Choice, Sequence, parse, parse_list, slots
from lrlm.errors import FormatError


@dataclass(frozen=True, slots=True)
class Plan:
    """A sentence with holes, how often it is taken, and the relations its slots may mention."""

    sentence: Sequence
    weight: float
    relations: frozenset[str]


@dataclass(frozen=True, slots=True)
class DomainPlans:
    """Everything that the grammar can say about the topics of one domain."""

    openings: tuple[Plan, ...]
    fillers: tuple[Plan, ...]
    lookalikes: tuple[Plan, ...]
    relations: dict[str, tuple[Plan, ...]]

    def everything(self) -> Iterator[Plan]:
        """Give every plan once."""
        yield from self.openings
        for plans in self.relations.values():
            yield from plans
        yield from self.fillers
        yield from self.lookalikes


@cache
def load(domain: str) -> DomainPlans:
    """Read the plans of a domain that come with the package, after the lists shared by all."""
    lists: dict[str, Choice] = {}
    _add_lists(lists, "shared")
    return _parse(_table(domain), _add_lists(lists, domain), f"plans/{domain}.toml")


def _table(name: str) -> dict[str, object]:
    file = files("lrlm.corpora.miniworld") / "plans" / f"{name}.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"plans/{name}.toml: {error}") from None


def _add_lists(lists: dict[str, Choice], name: str) -> dict[str, Choice]:
    table = _table(name).get("lists", {})
    assert isinstance(table, dict)
    for entry, content in table.items():
        where = f"plans/{name}.toml, list {entry}"
        lists[entry] = parse_list(entry, content, lists, where)
    return lists


def _parse(table: dict[str, object], lists: dict[str, Choice], where: str) -> DomainPlans:
    def plans(texts: object, part: str) -> tuple[Plan, ...]:
        if not isinstance(texts, list) or not texts:
            raise FormatError(f"{where}: {part} must be a list of plans")
        parsed = [parse(text, lists, f"{where}, {part}") for text in texts]
        return tuple(
            Plan(
                sentence,
                weight,
                frozenset(s.name for s in slots(sentence) if s.is_relation),
            )
            for weight, sentence in parsed
        )

    relations = table.get("plans", {})
    assert isinstance(relations, dict)
    return DomainPlans(
        plans(table.get("openings"), "openings"),
        plans(table.get("fillers"), "fillers"),
        plans(table.get("lookalikes"), "lookalikes"),
        {type_: plans(texts, type_) for type_, texts in relations.items()},
    )
