"""Written texts as values: where every piece came from, and how probable it was."""

import math
from dataclasses import dataclass
from typing import Literal

from lrlm.models.perplexity import perplexity_of

Source = Literal["word", "spelled", "relation", "prompt"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that came from one source; characters `[start, end)` of the text.

    `text` holds exactly those characters: the space between two pieces belongs to neither.
    """

    text: str
    start: int
    end: int
    source: Source
    """A word of the vocabulary, one that was spelled, a copied form, or what the user gave."""
    log_prob: float
    """Under the model itself, whatever was asked of the text."""
    type: str | None = None
    """The relation's type, where the piece was copied."""
    object: str | None = None
    form: str | None = None
    """The whole form."""
    is_partial: bool = False
    """Whether only a part of the form was copied, which NKLM may do."""


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """One written text; the probabilities are of what was written, given the prompt.

    The end of the text is in none of them, as it is in no perplexity.
    """

    text: str
    pieces: tuple[Piece, ...]
    """In the order of the text."""
    tokens: tuple[str, ...]
    """The tokens of the whole text, those of the prompt included."""
    written_tokens: int
    """How many of them were written."""
    log_prob: float
    """Of the choices that were made, one after the other."""
    marginal_log_prob: float
    """Of the text, however it may have been made."""
    is_joint: bool
    """Whether `marginal_log_prob` is that of the text and one annotation of it, as for NKLM."""
    ended: bool
    """Whether it came to an end; if not, it was stopped at its greatest length."""

    @property
    def perplexity(self) -> float:
        """exp(−marginal log-probability / tokens written); infinite where nothing was written."""
        if not self.written_tokens or not math.isfinite(self.marginal_log_prob):
            return math.inf
        return perplexity_of(-self.marginal_log_prob, self.written_tokens)
