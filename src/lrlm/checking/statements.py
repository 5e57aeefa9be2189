"""What a text may state, and how probable each statement is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lrlm.text import LinkedDocument, TokenPlaces


class Statement(NamedTuple):
    """That tokens `[start, end)` state a fact of a type; a known one has an object."""

    start: int
    end: int
    type: str
    object: str | None
    """None where the fact is not known: its object is what the tokens name."""


@dataclass(frozen=True)
class StatedDocument:
    """A text with hypotheses, and how probable it is that it states each fact."""

    document: LinkedDocument
    places: TokenPlaces
    probabilities: Mapping[Statement, float]
    """Of all that are not beyond belief."""
    is_possible: bool
    """Whether a path gets through the text at all."""
