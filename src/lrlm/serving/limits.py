"""How much one request may ask for, and how much the server does at a time.

Whatever is more is refused at once, with a sentence that says what the bound is.
"""

from dataclasses import dataclass, fields

from lrlm.errors import InputError

LONGEST_TEXT = 20_000
"""Characters of a text."""
MOST_TEXTS = 64
"""Texts that are annotated in one request."""
MOST_CHARACTERS = 200_000
"""Characters of all these texts together."""
MOST_FACTS = 2_000
"""Facts of a topic."""
MOST_NAMES = 100
"""Names of a topic, or of the object of a fact."""
MOST_FORMS = 20_000
"""Names of a topic and of all objects of its facts together."""
LONGEST_NAME = 500
"""Characters of a name, an id or a relation type."""
LONGEST_TURTLE = 200_000
"""Characters of a topic in Turtle."""
MOST_SAMPLES = 20
"""Texts that are generated in one request."""
MOST_TOKENS = 1_000
"""Length of a generated text, in tokens."""
MOST_TOKENS_IN_ALL = 4_000
"""Tokens of all texts that are generated in one request."""
LONGEST_PROMPT = 2_000
"""Characters of a prompt."""
MOST_MODELS = 8
"""Models that score a text in one request."""
LONGEST_LATTICE = 200
"""Tokens of a lattice that is drawn."""
MOST_FOUND = 50
"""Topics that a search gives."""
LARGEST_SEED = 2**53 - 1
"""The largest whole number that every program reads as it was written."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of what the server does at a time."""

    body: int = 2 << 20
    """Bytes of a request."""
    body_seconds: float = 10.0
    """Seconds in which a request has to arrive."""
    waiting: int = 256
    """Requests of each kind that wait for a model."""
    together: int = 32
    """Texts of different requests that a model reads side by side."""
    writers: int = 2
    """Requests that generate, score or draw at the same time."""
    seconds: float = 60.0
    """Seconds that a request may take in all, waiting included."""
    drain_seconds: float = 30.0
    """Seconds that are left to begun requests when the server is told to stop."""
    connections: int = 1_000
    """Connections that are open at the same time."""

    def __post_init__(self) -> None:
        """Refuse bounds that leave nothing to do."""
        for each in fields(self):
            if getattr(self, each.name) <= 0:
                raise InputError(f"the limit {each.name!r} must be above 0")
