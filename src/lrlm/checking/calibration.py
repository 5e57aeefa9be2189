"""What it takes to believe a text that states a fact which the graph does not have."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """How names of objects that are not known are weighed against words and known facts."""

    log_odds: float = 4.0
    """Against a hypothesis: how much less probable, in nats, an object is that is not known."""
    word_share: float = 0.25
    """How much of the log-probability of the words of a name it costs to name an object by it."""


DEFAULT_CALIBRATION = Calibration()
