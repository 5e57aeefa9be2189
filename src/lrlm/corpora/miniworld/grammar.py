r"""The grammar of the embedded corpus: sentence plans, and how sentences are drawn from them.

A plan is an English sentence with holes and choices:

    {capital}              a mention of an object of that relation (see `Slot` for the marks)
    (a|b|c)  (3: a|b)      one of several; a leading number is the weight of an alternative
    [ ... ]                left out half of the time, and always when a slot in it cannot be filled
    <stone>                one entry of a named list
    \( \)                  real brackets

`plans/<domain>.toml` has the plans of a domain:

    openings = [ … ]       a first sentence, with the title
    fillers = [ … ]        sentences that state no fact
    lookalikes = [ … ]     fillers with words that elsewhere are objects ("a French film")
    [lists]                `stone = "granite, basalt"` or a list of plans; used as <stone>
    [plans]                relation = [ plans ], in the order in which articles like to tell
    [everyday]             relation = [ plans ], how people say the same in passing

The grammar knows nothing of topics: whether a slot can be filled, it asks.
"""

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import fsum
from typing import TypeVar

from lrlm.errors import FormatError

_T = TypeVar("_T")

_SLOT = re.compile(
    r"(?P<the>the )?(?P<name>[@#]?[^@#:+!]+)(?P<count>[+!])?"
    r"(?::(?P<hint>\w+))?"
)
_WEIGHT = re.compile(r"(\d+(?:\.\d+)?): ")
_TOKEN = re.compile(r"\{[^{}]*\}|<[^<>]*>|\\.|[\[\]()|]|[^\[\](){}<>|\\]+|.")
_CLOSING = {"(": ")", "[": "]"}


class Dice:
    """Choices that depend on the seed alone, the same on every machine and version of Python.

    Only `random.Random.random` promises to give the same numbers in every version; every choice is
    therefore built on it here.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # noqa: S311  (no secrets are made here)

    def chance(self, probability: float) -> bool:
        """Say yes with this probability."""
        return self._random() < probability

    def between(self, low: float, high: float) -> float:
        """Draw a number from `[low, high)`, all equally likely."""
        return low + (high - low) * self._random()

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, choices: Sequence[_T], weights: Sequence[float] | None = None) -> _T:
        """Draw one choice, each as likely as its weight."""
        if weights is None:
            return choices[int(self._random() * len(choices))]
        left = self._random() * fsum(weights)  # sum() of floats differs between versions
        for choice, weight in zip(choices, weights, strict=True):
            left -= weight
            if left < 0:
                return choice
        return choices[-1]

    def shuffled(self, choices: Sequence[_T]) -> list[_T]:
        """Give the choices in a random order."""
        order = list(choices)
        for last in range(len(order) - 1, 0, -1):
            other = self.integer(0, last)
            order[last], order[other] = order[other], order[last]
        return order


@dataclass(frozen=True, slots=True)
class Slot:
    """A hole in a plan: `{the mouth}`, `{tributary+}`, `{launch date:day}`.

    `the` puts the article before a form that takes one. `+` asks for a list of several objects
    ("A, B and C"), `!` for the relation's only object, nothing for any one of them. A hint narrows
    the form (`day`, `plural`, …). Names with `@` speak of the topic, `#1-99` is a number.
    """

    name: str
    with_the: bool = False
    count: str | None = None
    hint: str | None = None

    @property
    def is_relation(self) -> bool:
        """Tell the slots that stand for a fact from those for the topic and for numbers."""
        return self.name[0] not in "@#"


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Parts one after another: plain texts, slots and choices."""

    parts: tuple["str | Slot | Choice", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives with weights, and the list's name if they are a list.

    An optional part is a choice between itself and nothing.
    """

    alternatives: tuple[Phrasing, ...]
    weights: tuple[float, ...]
    name: str | None = None
    has_slots: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note once whether anything here has to be filled; most lists are plain words."""
        filled = any(next(slots(way), None) is not None for way in self.alternatives)
        object.__setattr__(self, "has_slots", filled)


PlanPart = str | Slot | Choice
NamedLists = Mapping[str, Choice]
CanFill = Callable[[Slot], bool]


def parse(text: str, lists: NamedLists, where: str) -> tuple[float, Phrasing]:
    """Read one plan and its weight; `where` names it in an error."""
    tokens = _TOKEN.findall(text)
    try:
        choice, end = _alternatives(tokens, 0, lists)
    except FormatError as error:
        raise FormatError(f"{where}: {error} in the plan {text!r}") from None
    if end != len(tokens) or len(choice.alternatives) != 1:
        raise FormatError(f"{where}: a stray ')', ']' or '|' in the plan {text!r}")
    return choice.weights[0], choice.alternatives[0]


def parse_list(name: str, entries: list[str] | str, lists: NamedLists, where: str) -> Choice:
    """Read a list: plans with weights, or words between commas, the earlier ones likelier."""
    if isinstance(entries, str):
        words = [word.strip() for word in entries.split(",")]
        weights = tuple(1 / (rank + 1) for rank in range(len(words)))
        return Choice(tuple(Phrasing((word,)) for word in words), weights, name)
    parsed = [parse(entry, lists, where) for entry in entries]
    return Choice(tuple(plan for _, plan in parsed), tuple(weight for weight, _ in parsed), name)


def _alternatives(tokens: list[str], start: int, lists: NamedLists) -> tuple[Choice, int]:
    """Read `a|b|c` up to the closing bracket or the end; give the place where it stopped."""
    alternatives: list[Phrasing] = []
    weights: list[float] = []
    parts: list[PlanPart] = []
    weight = 1.0
    position = start
    while position < len(tokens) and tokens[position] not in _CLOSING.values():
        token = tokens[position]
        position += 1
        if token in _CLOSING:
            choice, position = _alternatives(tokens, position, lists)
            if position == len(tokens) or tokens[position] != _CLOSING[token]:
                raise FormatError(f"{token!r} is not closed")
            position += 1
            parts.append(choice if token == "(" else _optional(choice))
        elif token == "|":
            alternatives.append(Phrasing(tuple(parts)))
            weights.append(weight)
            parts, weight = [], 1.0
        elif not parts and (match := _WEIGHT.match(token)):
            weight = float(match[1])
            parts.append(token[match.end() :])
        else:
            parts.append(_part(token, lists))
    return Choice((*alternatives, Phrasing(tuple(parts))), (*weights, weight)), position


def _part(token: str, lists: NamedLists) -> PlanPart:
    if token in ("{", "}", "<", ">", "\\"):
        raise FormatError(f"a stray {token!r}")
    if token[0] == "{":
        match = _SLOT.fullmatch(token[1:-1])
        if match is None:
            raise FormatError(f"{token} is not a slot such as {{the mouth}}")
        return Slot(match["name"], bool(match["the"]), match["count"], match["hint"])
    if token[0] == "<":
        if token[1:-1] not in lists:
            raise FormatError(f"there is no list {token} (a list comes before its use)")
        return lists[token[1:-1]]
    return token[1:] if token[0] == "\\" else token


def _optional(choice: Choice) -> Choice:
    return Choice((*choice.alternatives, Phrasing(())), (*choice.weights, fsum(choice.weights)))


def applicable(plan: Phrasing, can_fill: CanFill) -> bool:
    """Tell whether some expansion of the plan has only slots that can be filled."""
    for part in plan.parts:
        if isinstance(part, Slot):
            if not can_fill(part):
                return False
        elif (
            isinstance(part, Choice)
            and part.has_slots
            and not any(applicable(way, can_fill) for way in part.alternatives)
        ):
            return False
    return True


def expand(
    plan: Phrasing, dice: Dice, can_fill: CanFill, drawn: set[tuple[str, int]] | None = None
) -> Iterator[str | Slot]:
    """Choose among the alternatives that can be filled: texts and slots in reading order.

    What has been `drawn` from a list in this sentence is not drawn from it again.
    """
    drawn = set() if drawn is None else drawn
    for part in plan.parts:
        if not isinstance(part, Choice):
            yield part
            continue
        ways = part.alternatives
        possible = [
            n for n, way in enumerate(ways) if not part.has_slots or applicable(way, can_fill)
        ]
        if part.name:
            possible = [n for n in possible if (part.name, n) not in drawn] or possible
        chosen = dice.pick(possible, [part.weights[n] for n in possible])
        if part.name:
            drawn.add((part.name, chosen))
        yield from expand(ways[chosen], dice, can_fill, drawn)


def slots(plan: Phrasing) -> Iterator[Slot]:
    """Give every slot of the plan, whatever is chosen."""
    for part in plan.parts:
        if isinstance(part, Slot):
            yield part
        elif isinstance(part, Choice):
            for alternative in part.alternatives:
                yield from slots(alternative)


@dataclass(frozen=True, slots=True)
class SentencePlan:
    """A sentence with holes, and how often it is taken."""

    sentence: Phrasing
    weight: float


@dataclass(frozen=True, slots=True)
class DomainPlans:
    """Everything that the grammar can say about the topics of one domain."""

    openings: tuple[SentencePlan, ...]
    fillers: tuple[SentencePlan, ...]
    lookalikes: tuple[SentencePlan, ...]
    relations: dict[str, tuple[SentencePlan, ...]]
    """How articles tell a fact: the words before a mention tell its relation."""
    everyday: dict[str, tuple[SentencePlan, ...]]
    """How notes tell it: names in any place, also before the words that tell their relation."""


@cache
def load_plans(domain: str) -> DomainPlans:
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
    def plans(texts: object, part: str) -> tuple[SentencePlan, ...]:
        if not isinstance(texts, list) or not texts:
            raise FormatError(f"{where}: {part} must be a list of plans")
        parsed = [parse(text, lists, f"{where}, {part}") for text in texts]
        return tuple(SentencePlan(sentence, weight) for weight, sentence in parsed)

    def by_relation(part: str) -> dict[str, tuple[SentencePlan, ...]]:
        relations = table.get(part, {})
        assert isinstance(relations, dict)
        return {type_: plans(texts, type_) for type_, texts in relations.items()}

    return DomainPlans(
        plans(table.get("openings"), "openings"),
        plans(table.get("fillers"), "fillers"),
        plans(table.get("lookalikes"), "lookalikes"),
        by_relation("plans"),
        by_relation("everyday"),
    )
