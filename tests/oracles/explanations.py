"""How each segmentation of a row explains a span, by listing every segmentation."""

import math
from collections.abc import Hashable, Mapping

from tests.oracles.lattice import Row, log_sum, segmentations

Piece = tuple[int, int, Hashable | None]
"""Start, end (tokens) and what was copied, None for a word."""

Way = tuple[str, tuple[Piece, ...]]
"""A kind, and the pieces that fill the span; none where something crosses its border."""


def explanations(
    row: Row, copied: Mapping[int, Hashable], start: int, end: int
) -> dict[Way, float]:
    """Sort every segmentation by what it does within `[start, end)`, given what edges copy."""
    shares: dict[Way, list[float]] = {}
    total = log_sum([score for score, _ in segmentations(row)])
    for score, path in segmentations(row):
        pieces: tuple[Piece, ...] = tuple(
            (begin, stop, None if edge is None else copied[edge])
            for begin, stop, edge in path
            if begin < end and start < stop
        )
        if any(begin < start or stop > end for begin, stop, _ in pieces):
            way: Way = ("crossing", ())
        elif all(label is None for _, _, label in pieces):
            way = ("words", pieces)
        elif len(pieces) == 1:
            way = ("relation", pieces)
        else:
            way = ("mixture", pieces)
        shares.setdefault(way, []).append(score - total)
    return {way: math.exp(log_sum(values)) for way, values in shares.items()}
