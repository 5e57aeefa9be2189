"""The options of generation, checked before any work is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from lrlm.errors import InputError
from lrlm.knowledge.topic import near_matches

COLDEST = 1e-6
"""Below, log-probabilities become numbers that are too large."""

RelationWish = str | tuple[str, str]
"""A relation type, or a type with an object."""


class OptionArguments(TypedDict, total=False):
    """The names of the options below, any of them."""

    temperature: float
    top_k: int | None
    top_p: float | None
    greedy: bool
    min_length: int
    max_length: int
    prompt: str
    max_uses: int | None
    only_known_names: bool
    known_facts_only: bool
    repetition_cost: float | None
    must_use: Sequence[RelationWish]


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """How text is written; the defaults draw from the model itself. Lengths are in tokens.

    The prompt counts for none of the limits: they are about what is written after it.
    """

    temperature: float = 1.0
    """Below 1 the probable becomes more probable, above 1 less."""
    top_k: int | None = None
    """Choose only among this many of the most probable choices."""
    top_p: float | None = None
    """Choose only among the most probable choices that together have this probability."""
    greedy: bool = False
    """Always take the most probable choice."""
    min_length: int = 1
    """The text does not end before."""
    max_length: int = 200
    """The text stops here at the latest; a form that does not fit is not begun."""
    prompt: str = ""
    """A text to go on from."""
    max_uses: int | None = None
    """How often a relation may be used."""
    only_known_names: bool = False
    """Whether spelled words have no capital letter, so that all new names come from the graph."""
    known_facts_only: bool = True
    """Whether texts that would name a fact of a type that the topic does not have are written
    again (LRLM, where the run has kept which types its topics have)."""
    repetition_cost: float | None = None
    """What a sentence pays for each object that it names and the text has named before, in nats: it
    is e^-cost times as probable, and sentences are written again accordingly. None for what was
    fitted for the run, 0 for the model as it is."""
    must_use: Sequence[RelationWish] = ()
    """Relation types, or types with an object, that must be used before the text ends."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if not _is_number(self.temperature) or not COLDEST <= self.temperature < float("inf"):
            raise InputError(
                f"the temperature must be a number above 0, not {self.temperature!r} (at least"
                f" {COLDEST:f});"
                " 'greedy' takes the most probable choice each time"
            )
        _at_least("top_k", self.top_k, 1)
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise InputError(f"top_p must be above 0 and at most 1, not {self.top_p!r}")
        _at_least("min_length", self.min_length, 0)
        _at_least("max_length", self.max_length, 1)
        _at_least("max_uses", self.max_uses, 1)
        cost = self.repetition_cost
        if cost is not None and not (_is_number(cost) and 0 <= cost < float("inf")):
            raise InputError(f"repetition_cost must be a number from 0 on, not {cost!r}")
        if self.min_length > self.max_length:
            raise InputError(
                f"min_length ({self.min_length}) is more than max_length ({self.max_length})"
            )
        if not isinstance(self.prompt, str):
            raise InputError(f"the prompt must be a text, not {self.prompt!r}")
        for name in ("greedy", "only_known_names", "known_facts_only"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if isinstance(self.must_use, str) or not all(map(_is_wish, self.must_use)):
            raise InputError(
                "must_use is a list of relation types, or of pairs of a type and an object, not"
                f" {self.must_use!r}"
            )
        object.__setattr__(self, "must_use", tuple(self.must_use))

    @property
    def spelling_temperature(self) -> float:
        """At what temperature characters are chosen; 0 stands for the most probable ones."""
        return 0.0 if self.greedy else self.temperature


def _at_least(name: str, value: int | None, minimum: int) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and (not is_whole or value < minimum):
        raise InputError(f"{name} must be a whole number from {minimum} on, not {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def options_of(wishes: Mapping[str, Any]) -> GenerationOptions:
    """Make options of arguments by name; one that does not exist is refused with the nearest."""
    known = {option.name for option in fields(GenerationOptions)}
    for name in wishes:
        if name not in known:
            raise InputError(f"there is no option {name!r}{near_matches(name, known)}")
    return GenerationOptions(**wishes)


def _is_wish(wish: object) -> bool:
    if isinstance(wish, str):
        return True
    return isinstance(wish, Sequence) and len(wish) == 2 and all(isinstance(w, str) for w in wish)
