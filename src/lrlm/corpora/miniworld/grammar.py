r"""Sentence plans as text in, sequences of words and slots out, chosen at random.

A plan is an English sentence with holes and choices:

    {capital}              a mention of an object of that relation (see `Slot` for the marks)
    (a|b|c)  (3: a|b)      one of several; a leading number is the weight of an alternative
    [ ... ]                left out half of the time, and always when a slot in it cannot be filled
    <stone>                one entry of a named list
    \( \)                  real brackets

The grammar knows nothing of topics: whether a slot can be filled, it asks.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum

from lrlm.corpora.miniworld.dice import Dice
from lrlm.errors import FormatError

_SLOT = re.compile(
    r"(?P<the>the )?(?P<name>[@#]?[^@#:+!]+)(?P<count>[+!])?"
    r"(?::(?P<hint>\w+))?"
)
_WEIGHT = re.compile(r"(\d+(?:\.\d+)?): ")
_TOKEN = re.compile(r"\{[^{}]*\}|<[^<>]*>|\\.|[\[\]()|]|[^\[\](){}<>|\\]+|.")
_CLOSING = {"(": ")", "[": "]"}


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
class Sequence:
    """Parts one after another: plain texts, slots and choices."""

    parts: tuple["str | Slot | Choice", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives with weights, and the list's name if they are a list.

    An optional part is a choice between itself and nothing.
    """

    alternatives: tuple[Sequence, ...]
    weights: tuple[float, ...]
    name: str | None = None
    has_slots: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note once whether anything here has to be filled; most lists are plain words."""
        filled = any(next(slots(way), None) is not None for way in self.alternatives)
        object.__setattr__(self, "has_slots", filled)


Part = str | Slot | Choice
Lists = Mapping[str, Choice]
CanFill = Callable[[Slot], bool]


def parse(text: str, lists: Lists, where: str) -> tuple[float, Sequence]:
    """Read one plan and its weight; `where` names it in an error."""
    tokens = _TOKEN.findall(text)
    try:
        choice, end = _alternatives(tokens, 0, lists)
    except FormatError as error:
        raise FormatError(f"{where}: {error} in the plan {text!r}") from None
    if end != len(tokens) or len(choice.alternatives) != 1:
        raise FormatError(f"{where}: a stray ')', ']' or '|' in the plan {text!r}")
    return choice.weights[0], choice.alternatives[0]


def parse_list(name: str, entries: list[str] | str, lists: Lists, where: str) -> Choice:
    """Read a list: plans with weights, or words between commas, the earlier ones likelier."""
    if isinstance(entries, str):
        words = [word.strip() for word in entries.split(",")]
        weights = tuple(1 / (rank + 1) for rank in range(len(words)))
        return Choice(tuple(Sequence((word,)) for word in words), weights, name)
    parsed = [parse(entry, lists, where) for entry in entries]
    return Choice(tuple(plan for _, plan in parsed), tuple(weight for weight, _ in parsed), name)


def _alternatives(tokens: list[str], start: int, lists: Lists) -> tuple[Choice, int]:
    """Read `a|b|c` up to the closing bracket or the end; give the place where it stopped."""
    alternatives: list[Sequence] = []
    weights: list[float] = []
    parts: list[Part] = []
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
            alternatives.append(Sequence(tuple(parts)))
            weights.append(weight)
            parts, weight = [], 1.0
        elif not parts and (match := _WEIGHT.match(token)):
            weight = float(match[1])
            parts.append(token[match.end() :])
        else:
            parts.append(_part(token, lists))
    return Choice((*alternatives, Sequence(tuple(parts))), (*weights, weight)), position


def _part(token: str, lists: Lists) -> Part:
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
    return Choice((*choice.alternatives, Sequence(())), (*choice.weights, fsum(choice.weights)))


def applicable(plan: Sequence, can_fill: CanFill) -> bool:
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
    plan: Sequence, dice: Dice, can_fill: CanFill, drawn: set[tuple[str, int]] | None = None
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


def slots(plan: Sequence) -> Iterator[Slot]:
    """Give every slot of the plan, whatever is chosen."""
    for part in plan.parts:
        if isinstance(part, Slot):
            yield part
        elif isinstance(part, Choice):
            for alternative in part.alternatives:
                yield from slots(alternative)


def left_contexts(plan: Sequence, width: int) -> set[tuple[str, tuple[str, ...]]]:
    """Give every slot and every list with each sequence of words that can stand before it.

    Slots are named as in `{capital}`, lists as in `<stone>`, here and in the contexts. A context
    has at most `width` words; an empty word is the start of the sentence.
    """
    found: set[tuple[str, tuple[str, ...]]] = set()
    _contexts(plan, {("",)}, width, found)
    return found


def _contexts(
    plan: Sequence,
    before: set[tuple[str, ...]],
    width: int,
    found: set[tuple[str, tuple[str, ...]]],
) -> set[tuple[str, ...]]:
    """Add the contexts within the plan to `found`; give those after it."""
    for part in plan.parts:
        if isinstance(part, Choice) and part.name is None:
            ways = [_contexts(way, before, width, found) for way in part.alternatives]
            before = set().union(*ways)
            continue
        if isinstance(part, str):
            words = re.findall(r"\w+|[^\w\s]", part.lower())
        else:
            words = [f"{{{part.name}}}" if isinstance(part, Slot) else f"<{part.name}>"]
            found |= {(words[0], context) for context in before}
        before = {(*context, *words)[-width:] for context in before}
    return before
