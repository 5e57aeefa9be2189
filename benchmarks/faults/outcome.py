"""What a part found out: how often a promise was tried, and how often it held."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """One promise, tried a number of times."""

    promise: str
    """One line."""
    tried: int
    held: int
    failures: tuple[str, ...]
    """What did not hold, a line each; at most some twenty."""
    note: str = ""
