"""Takes one row of a lattice and what edges copy; lists how each segmentation explains a span."""

import math

from lrlm.annotation.annotation import Kind
from tests.oracles.lattice import Row, log_sum, segmentations

Piece = tuple[int, int, tuple[str, str] | None]
"""Start, end (tokens) and the type and object that were copied, None for a word."""

Way = tuple[Kind, tuple[Piece, ...]]
"""A kind, and the pieces that fill the span; none where something crosses its border."""


def explanations(
    row: Row, facts: dict[int, tuple[str, str]], start: int, end: int
) -> dict[Way, float]:
    """Sort every segmentation of the row by what it does within `[start, end)`."""
    shares: dict[Way, list[float]] = {}
    total = log_sum([score for score, _ in segmentations(row)])
    for score, path in segmentations(row):
        pieces: tuple[Piece, ...] = tuple(
            (begin, stop, None if edge is None else facts[edge])
            for begin, stop, edge in path
            if begin < end and start < stop
        )
        if any(begin < start or stop > end for begin, stop, _ in pieces):
            way: Way = (Kind.CROSSING, ())
        elif all(fact is None for _, _, fact in pieces):
            way = (Kind.WORDS, pieces)
        elif len(pieces) == 1:
            way = (Kind.RELATION, pieces)
        else:
            way = (Kind.MIXTURE, pieces)
        shares.setdefault(way, []).append(score - total)
    return {way: math.exp(log_sum(values)) for way, values in shares.items()}
