"""What came of trying a promise many times."""

import sys
from dataclasses import dataclass

MOST_FAILURES = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of the table: how often a promise was tried, and how often it was held."""

    promise: str
    tried: int
    """Zero where it cannot be tried on this machine; the note says why."""
    held: int
    failures: tuple[str, ...]
    """What went wrong, a line each; not more than some twenty."""
    note: str = ""
    """What was measured beside: the slowest, the most memory."""

    @property
    def is_held(self) -> bool:
        """Whether nothing fell short."""
        return self.held == self.tried and not self.failures


class Tally:
    """Counts trials of one promise, and tells how far it is."""

    def __init__(self, promise: str, planned: int) -> None:
        self.promise, self.planned = promise, planned
        self.tried = self.held = 0
        self.failures: list[str] = []

    def add(self, failure: str | None, about: str = "") -> None:
        """Count a trial; `failure` says what was not as promised, `about` what was done."""
        self.tried += 1
        self.held += failure is None
        if failure is not None and len(self.failures) < MOST_FAILURES:
            self.failures.append(" ".join(f"{about}: {failure}".split())[:400])
        verdict = "held" if failure is None else f"NOT HELD: {failure}"
        tell(f"{self.promise}: {self.tried} of {self.planned}: {about}: {verdict}")

    def outcome(self, note: str = "") -> Outcome:
        """Give what came of it."""
        return Outcome(self.promise, self.tried, self.held, tuple(self.failures), note)


def tell(line: str) -> None:
    """Say how far it is."""
    print(f"  {line}", file=sys.stderr, flush=True)
