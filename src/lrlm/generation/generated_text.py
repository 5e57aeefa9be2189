"""A generated text: where every piece of it came from, and how probable it was."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lrlm.generation.options import GenerationOptions
from lrlm.look import clipped, shown_perplexity
from lrlm.plain_data import json_text
from lrlm.text import perplexity_per_word

FORMAT = "lrlm generation"
VERSION = 1

PieceSource = Literal["word", "spelled", "name word", "relation", "prompt"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that came from one source; characters `[start, end)` of the text.

    `text` holds exactly those characters: the space between two pieces belongs to neither.
    """

    text: str
    start: int
    end: int
    source: PieceSource
    """A word of the vocabulary, one that was spelled, a single word of a name, a copied form, or
    what the user gave."""
    log_prob: float
    """Under the model itself, whatever was asked of the text."""
    type: str | None = None
    """The relation's type, where the piece was copied."""
    object: str | None = None
    form: str | None = None
    """The whole form."""
    is_partial: bool = False
    """Whether only a part of the form was copied, which NKLM may do."""
    label: str | None = None
    """What people call the relation's type, where the piece was copied."""


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A generated text; the probabilities are of what was written, given the prompt.

    The end of the text is in none of them, as it is in no perplexity.

    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> prompt = "Norway is a country. Its capital is"
    >>> (text,) = lrlm.load().generate(topic, samples=1, prompt=prompt, greedy=True, max_length=1)
    >>> text.text
    'Norway is a country. Its capital is Oslo'
    >>> [(piece.source, piece.type) for piece in text.pieces]
    [('prompt', None), ('relation', 'capital')]
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
    """Of the text, however it may have been made: the finished text is read once more, in the
    tokens that any text of these characters has."""
    is_joint: bool
    """Whether `marginal_log_prob` is that of the text and one annotation of it, as for NKLM."""
    ended: bool
    """Whether it came to an end; if not, it was stopped at its greatest length."""

    def __repr__(self) -> str:
        copied = sum(piece.source == "relation" for piece in self.pieces)
        perplexity = shown_perplexity(self.perplexity)
        return f"GeneratedText({clipped(self.text)!r}, copied={copied}, perplexity={perplexity})"

    @property
    def perplexity(self) -> float:
        """exp(−marginal log-probability / tokens written); infinite where nothing was written."""
        if not self.written_tokens or not math.isfinite(self.marginal_log_prob):
            return math.inf
        return perplexity_per_word(-self.marginal_log_prob, self.written_tokens)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values; docs/generate.md describes every field.

        >>> text.to_dict()["pieces"][1]["object"]
        'Oslo'
        """
        return {
            "text": self.text,
            "tokens": list(self.tokens),
            "written_tokens": self.written_tokens,
            "log_prob": _number(self.log_prob),
            "marginal_log_prob": _number(self.marginal_log_prob),
            "is_joint": self.is_joint,
            "perplexity": _number(self.perplexity),
            "ended": self.ended,
            "pieces": [piece_to_dict(piece) for piece in self.pieces],
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON.

        >>> text.to_json()
        '{"text":"Norway is a country. Its capital is Oslo","tokens":[...}'
        """
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """Show the text with its copied names marked, in a notebook."""
        from lrlm.generation.views import html_fragment

        return html_fragment(self)


def generated_to_json(
    texts: Sequence[GeneratedText],
    *,
    model: str,
    topic: str,
    seed: int,
    options: GenerationOptions,
) -> dict[str, Any]:
    """Give what was written as plain values, with what is needed to write it again."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": model,
        "topic": topic,
        "seed": seed,
        "options": asdict(options),
        "samples": [text.to_dict() for text in texts],
    }


def piece_to_dict(piece: Piece) -> dict[str, Any]:
    """Write a piece; only a copied one has a relation."""
    content: dict[str, Any] = {
        "start": piece.start,
        "end": piece.end,
        "text": piece.text,
        "source": piece.source,
        "log_prob": _number(piece.log_prob),
    }
    if piece.source == "relation":
        label = {} if piece.label in (None, piece.type) else {"label": piece.label}
        content |= {
            "type": piece.type,
            **label,
            "object": piece.object,
            "form": piece.form,
            "is_partial": piece.is_partial,
        }
    return content


def _number(value: float) -> float | None:
    """JSON knows no infinity: what has none is null."""
    return value if math.isfinite(value) else None
