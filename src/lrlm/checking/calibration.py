"""What it takes to believe a text that states a fact which the graph does not have."""

import math
from dataclasses import asdict, dataclass, fields

from lrlm.errors import FormatError, InputError
from lrlm.plain_data import json_text, read_json
from lrlm.runs.run import Run

CALIBRATION = "calibration.json"
"""A file in the folder of a run; without it the defaults hold."""

_LARGEST_FILE = 1 << 12


@dataclass(frozen=True, slots=True)
class Calibration:
    """How names of objects that are not known are weighed against words and known facts.

    A model says how probable it is that a fact of some type is told at a place. If its object is
    not known, its name is as probable as it is among the objects of that type elsewhere. A name
    that none of them has is one of very many that could be: it has the probability e^−log_odds,
    times the share of new objects and of names of its kind in the type.
    """

    log_odds: float = 5.0
    """Against a hypothesis, in nats: the larger, the fewer statements are found."""
    doubt: float = 12.0
    """Against a name that may be none: a word that has its capital because it begins a sentence,
    and that nothing is known by."""
    spelling: float = 0.0
    """How much of the log-probability of their spelling new names cost that are no words of the
    vocabulary: 0 if most such words are names, 1 if they are as often plain words."""

    def __post_init__(self) -> None:
        """Refuse what is no number."""
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{name} must be a number, not {value!r}")
            if not math.isfinite(value):
                raise InputError(f"{name} must be finite, not {value}")


def calibration_of(run: Run) -> Calibration:
    """Give what was fitted for a run, or the defaults."""
    path = run.folder / CALIBRATION
    if not path.is_file():
        return Calibration()
    content = read_json(path, largest=_LARGEST_FILE)
    try:
        return Calibration(*(float(content[each.name]) for each in fields(Calibration)))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise FormatError(f"{path}: not a calibration, or damaged ({error})") from None


def calibration_text(calibration: Calibration) -> str:
    """Write a calibration as the file of a run has it."""
    return json_text(asdict(calibration)) + "\n"
