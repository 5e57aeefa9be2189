"""Say how probable a text is, in all and piece by piece."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from lrlm.errors import LrlmError
from lrlm.lattice import block_sums
from lrlm.look import clipped, shown_perplexity
from lrlm.models import lattice_of
from lrlm.plain_data import json_text
from lrlm.runs.reading import read_linked
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, bits_per_byte, perplexity_per_word

FORMAT = "lrlm score"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """The smallest piece of a text that has a cost of its own; characters `[start, end)`.

    That is one token or, where candidate names cover some, all tokens that they join: a name that
    was copied as a whole has no cost token by token.
    """

    start: int
    end: int
    tokens: int
    nats: float


@dataclass(frozen=True, slots=True)
class Score:
    """−log P of a text; its end is told apart and counts neither as nats nor as a word.

    Perplexity is per word of the text, whatever the model's tokens are.

    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> score = lrlm.load().score("Its capital is Oslo.", topic)
    >>> score.words, score.bytes
    (5, 20)
    >>> round(score.perplexity), round(score.bits_per_byte, 2)
    (2, 0.28)
    >>> [piece.tokens for piece in score.pieces]
    [1, 1, 1, 1, 1]
    """

    nats: float
    tokens: int
    """Tokens of the model; for a model of words, as many as there are words."""
    words: int
    """Words of the text, which perplexity is per."""
    text: str
    """The text that was scored."""
    end_nats: float
    """−log P that the text ends here."""
    is_joint: bool
    """Whether it is the probability of the text together with one annotation of it (NKLM)."""
    pieces: tuple[ScoredPiece, ...]
    """In the order of the text; their nats and tokens add up to those of the whole."""

    def __repr__(self) -> str:
        perplexity = shown_perplexity(self.perplexity)
        return f"Score({clipped(self.text)!r}, words={self.words}, perplexity={perplexity})"

    @property
    def perplexity(self) -> float:
        """exp(nats / words), open-vocabulary: unknown words have paid for their spelling."""
        return perplexity_per_word(self.nats, self.words)

    @property
    def bytes(self) -> int:
        """Bytes of the text in UTF-8."""
        return len(self.text.encode())

    @property
    def bits_per_byte(self) -> float:
        """What a byte of the text costs, in bits."""
        return bits_per_byte(self.nats, self.bytes)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values.

        >>> sorted(score.to_dict())
        ['bits_per_byte', 'bytes', 'end_nats', 'format', 'is_joint', 'nats', 'perplexity',
         'pieces', 'text', 'tokens', 'version', 'words']
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            **asdict(self),
            "bytes": self.bytes,
            "perplexity": self.perplexity,
            "bits_per_byte": self.bits_per_byte,
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON.

        >>> score.to_json()
        '{"format":"lrlm score","version":1,"nats":...}'
        """
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """Show the text in a notebook, the stronger in colour the more a piece costs."""
        from lrlm.annotation.html import score_fragment

        return score_fragment(self)


def score(run: Run, document: LinkedDocument) -> Score:
    """Score one document."""
    (scored,) = read_linked(run, [document])
    blocks = block_sums(lattice_of([scored]))
    places = run.space.places(document)
    pieces = tuple(
        ScoredPiece(places.starts[start], places.ends[end - 1], end - start, -total)
        for start, end, total in zip(
            blocks.start_K.tolist(), blocks.end_K.tolist(), blocks.total_K.tolist(), strict=True
        )
    )
    nats = math.fsum(piece.nats for piece in pieces)
    if not math.isfinite(nats + scored.end_score):
        raise LrlmError("the text has no finite probability under this model")
    return Score(
        nats=nats,
        tokens=scored.encoded.tokens,
        words=scored.encoded.words,
        text=document.text,
        end_nats=-scored.end_score,
        is_joint=run.model.is_joint,
        pieces=pieces,
    )
