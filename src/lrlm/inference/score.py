"""A run and a linked document in, what the text costs out: in all, and piece by piece.

Shapes: B rows, T tokens, E edges, K pieces.
"""

import math
from dataclasses import dataclass

import torch

from lrlm.corpora import LinkedDocument
from lrlm.errors import LrlmError
from lrlm.evaluation.reading import Reading, read
from lrlm.lattice import Lattice, log_marginal
from lrlm.models.perplexity import perplexity_of
from lrlm.training.run import Run


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
    """−log P of a text; its end is told apart and counts neither as nats nor as a token."""

    nats: float
    tokens: int
    end_nats: float
    """−log P that the text ends here."""
    is_joint: bool
    """Whether it is the probability of the text together with one annotation of it (NKLM)."""
    pieces: tuple[ScoredPiece, ...]
    """In the order of the text; their nats and tokens add up to those of the whole."""

    @property
    def perplexity(self) -> float:
        """exp(nats / tokens), open-vocabulary: unknown words have paid for their spelling."""
        return perplexity_of(self.nats, self.tokens)


def score(run: Run, document: LinkedDocument) -> Score:
    """Score one document."""
    encoded = list(run.encoder.encode([document]))
    pieces: list[ScoredPiece] = []
    end_nats, is_joint = 0.0, False
    for reading in read(run.model, run.collator.windows(encoded)):
        is_joint = reading.is_joint
        found, end = _window(reading, document)
        pieces += found
        end_nats += end
    nats = math.fsum(piece.nats for piece in pieces)
    if not math.isfinite(nats + end_nats):
        raise LrlmError("the text has no finite probability under this model")
    return Score(nats, len(document.tokens), end_nats, is_joint, tuple(pieces))


def _window(reading: Reading, document: LinkedDocument) -> tuple[list[ScoredPiece], float]:
    """Score the pieces of a window with one row, and the end if it is there."""
    lattice = reading.spelled(reading.window.spelling_BT)
    text_tokens = int(reading.text_BT.sum())
    word_nats: list[float] = (-lattice.words_BT[0]).tolist()
    bounds = _bounds(text_tokens, lattice)
    offset = int(reading.offset_B[0])
    starts, ends = document.tokens.starts, document.tokens.ends
    pieces = [
        ScoredPiece(starts[offset + start], ends[offset + end - 1], end - start, nats)
        for (start, end), nats in zip(bounds, _nats(lattice, bounds), strict=True)
    ]
    return pieces, sum(word_nats[text_tokens : int(lattice.lengths_B[0])])


def _bounds(tokens: int, lattice: Lattice) -> list[tuple[int, int]]:
    """Cut a window wherever no edge crosses."""
    reach = list(range(1, tokens + 1))
    for start, end in zip(lattice.start_E.tolist(), lattice.end_E.tolist(), strict=True):
        reach[start] = max(reach[start], end)
    bounds, start, furthest = [], 0, 0
    for place, end in enumerate(reach):
        furthest = max(furthest, end)
        if furthest == place + 1:
            bounds.append((start, furthest))
            start = furthest
    return bounds


def _nats(lattice: Lattice, bounds: list[tuple[int, int]]) -> list[float]:
    """Sum over the segmentations of each piece of a row, as a batch with one row a piece."""
    start_K, end_K = torch.tensor(bounds, dtype=torch.long).reshape(-1, 2).T.contiguous()
    length_K = end_K - start_K
    longest = max((end - start for start, end in bounds), default=0)
    place_KT = start_K[:, None] + torch.arange(longest)
    words_KT = lattice.words_BT[0, place_KT.clamp(max=lattice.words_BT.shape[1] - 1)]
    row_E = torch.searchsorted(end_K, lattice.start_E, right=True)
    alone = Lattice(
        torch.where(place_KT < end_K[:, None], words_KT, 0.0),
        length_K,
        row_E,
        lattice.start_E - start_K[row_E],
        lattice.end_E - start_K[row_E],
        lattice.score_E,
        checked=False,
    )
    nats: list[float] = (-log_marginal(alone)).tolist()
    return nats
