"""What it takes to believe a text that states a fact which the graph does not have."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal

from lrlm.errors import FormatError, InputError
from lrlm.plain_data import json_text, read_json
from lrlm.runs.run import Run

CALIBRATION = "calibration.json"
"""A file in the folder of a run; without it the defaults hold."""

_LARGEST_FILE = 1 << 14
_WEIGHTS = ("held", "lacked", "held_in_wrong_texts", "held_in_right_texts")
"""Fields that hold weights of circumstances by name."""
_SURE = 1e-6
"""Nothing is more certain than this, either way."""
_LARGEST_ODDS = 700.0
"""Beyond, e to the power of it is no number."""


class NameStanding(StrEnum):
    """What is known of a name that a text gives to the object of a new fact."""

    USUAL = "usual"
    """Facts of this type elsewhere have objects of this name."""
    ELSEWHERE = "elsewhere"
    """Only facts of other types have."""
    UNKNOWN = "unknown"
    """No fact has."""


class TypeStanding(StrEnum):
    """What is known of the topic, as to the type of a hypothesis."""

    HELD = "held"
    """It has objects of this type: the text names another, or swaps one."""
    LACKED = "lacked"
    """It has none: the text tells a fact that the graph lacks."""


class Trust(StrEnum):
    """Which side is taken for right where a text and the graph differ."""

    NEITHER = "neither"
    """A text may be wrong, and the graph may lack a fact."""
    GRAPH = "graph"
    """The graph has everything and is right: errors of the text are looked for."""
    TEXT = "text"
    """The text is right: facts that the graph lacks are looked for."""


TrustName = Literal["neither", "graph", "text"]
"""How a caller names one of them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How names of objects that are not known are weighed against words and known facts.

    A model says how probable it is that a fact of some type is told at a place. If its object is
    not known, its name is as probable as it is among the objects of that type elsewhere. A name
    that none of them has is one of very many that could be: it has the probability e^−log_odds,
    times the share of new objects and of names of its kind in the type.

    What the lattice then says of a hypothesis is too sure of itself: texts also state facts of
    other things than their topic. `held` and `lacked` have weights of the circumstances under which
    a hypothesis stands in its text: their weighted sum is the log-odds of being right, as it is on
    texts where that is known. Where neither has any, slope · log-odds + what the name says is
    taken instead.
    """

    log_odds: float = 5.0
    """Against a hypothesis, in nats: the larger, the fewer statements are found."""
    doubt: float = 12.0
    """Against a name that may be none: a word that has its capital because it begins a sentence,
    and that nothing is known by."""
    spelling: float = 0.0
    """How much of the log-probability of their spelling new names cost that are no words of the
    vocabulary: 0 if most such words are names, 1 if they are as often plain words."""
    slope: float = 1.0
    """How much the log-odds of a hypothesis count."""
    usual: float = 0.0
    """Added to the log-odds where objects of the type have this name elsewhere, in nats."""
    elsewhere: float = 0.0
    """Added where things are known by this name, but as objects of other types."""
    unknown: float = 0.0
    """Added where nothing is known by this name."""
    threshold: float = 0.5
    """From which probability on findings were best (F1) where it was fitted."""
    error_threshold: float = 0.5
    """The same where the graph is trusted, of texts with errors alone."""
    new_threshold: float = 0.5
    """The same where the text is trusted, of texts with hidden facts alone: new facts are harder to
    find than errors."""
    held: Mapping[str, float] = field(default_factory=dict)
    """Weights of circumstances where the topic has objects of the type."""
    lacked: Mapping[str, float] = field(default_factory=dict)
    """Weights of circumstances where it has none."""
    held_in_wrong_texts: Mapping[str, float] = field(default_factory=dict)
    """The weights of `held` for texts with an error and a graph without gaps."""
    held_in_right_texts: Mapping[str, float] = field(default_factory=dict)
    """The weights of `held` for texts without errors and a graph with a gap."""

    @property
    def weighs_circumstances(self) -> bool:
        """Whether it was fitted how much circumstances count."""
        return bool(self.held or self.lacked)

    def weighed(
        self,
        standing: TypeStanding,
        circumstances: Mapping[str, float],
        trust: Trust = Trust.NEITHER,
    ) -> float:
        """Say how often hypotheses under such circumstances are right.

        >>> fitted = Calibration(lacked={"always": -1.0, "log_odds": 0.5})
        >>> round(fitted.weighed(TypeStanding.LACKED, {"always": 1.0, "log_odds": 2.0}), 3)
        0.5
        """
        weights = self.lacked
        if standing is TypeStanding.HELD:
            weights = {
                Trust.NEITHER: self.held,
                Trust.GRAPH: self.held_in_wrong_texts or self.held,
                Trust.TEXT: self.held_in_right_texts or self.held,
            }[trust]
        odds = sum(weights.get(name, 0.0) * value for name, value in circumstances.items())
        return 1.0 / (1.0 + math.exp(-max(odds, -_LARGEST_ODDS)))

    def believed(self, probability: float, standing: NameStanding) -> float:
        """Say how often hypotheses that are so probable, with such names, are right.

        >>> unsure = Calibration(slope=0.5, unknown=-1.0)
        >>> round(unsure.believed(0.9, NameStanding.UNKNOWN), 3)
        0.525
        """
        added = {"usual": self.usual, "elsewhere": self.elsewhere, "unknown": self.unknown}[
            standing
        ]
        if self.slope == 1.0 and added == 0.0:
            return probability  # to the digit
        return 1.0 / (1.0 + math.exp(-(self.slope * log_odds_of(probability) + added)))

    def __post_init__(self) -> None:
        """Refuse what is no number."""
        for name, value in asdict(self).items():
            if isinstance(value, Mapping):
                for inner, weight in value.items():
                    _check_number(f"the weight of {inner!r}", weight)
            else:
                _check_number(name, value)


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value):
        raise InputError(f"{name} must be finite, not {value}")


def log_odds_of(probability: float) -> float:
    """Give log p / (1 − p), finite also for what is certain."""
    bounded = min(max(probability, _SURE), 1.0 - _SURE)
    return math.log(bounded) - math.log1p(-bounded)


def calibration_of(run: Run) -> Calibration:
    """Give what was fitted for a run, or the defaults."""
    path = run.folder / CALIBRATION
    if not path.is_file():
        return Calibration()
    content = read_json(path, largest=_LARGEST_FILE)
    try:
        # What the first versions did not fit, their files lack.
        given: dict[str, Any] = {}
        for each in fields(Calibration):
            if each.name in _WEIGHTS:
                weights = content.get(each.name, {})
                given[each.name] = {str(name): float(weight) for name, weight in weights.items()}
            elif each.name in content:
                given[each.name] = float(content[each.name])
        return Calibration(**given)
    except (AttributeError, TypeError, ValueError, InputError) as error:
        raise FormatError(f"{path}: not a calibration, or damaged ({error})") from None


def calibration_text(calibration: Calibration) -> str:
    """Write a calibration as the file of a run has it."""
    return (
        json_text({name: value for name, value in asdict(calibration).items() if value != {}})
        + "\n"
    )
