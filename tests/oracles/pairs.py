"""The posterior of two readings, slowly: every segmentation by itself, its scores added up."""

import itertools
import math
from collections.abc import Sequence

from lrlm.models import ScoredDocument

Segment = tuple[int, int, int | None]
"""Tokens `[start, end)`, and the number of the candidate that covers them; None is a WORD."""


def segmentations(document: ScoredDocument) -> list[tuple[Segment, ...]]:
    """List all ways to cut a document into words and candidates."""
    tokens = document.encoded.tokens
    spans = list(zip(document.start_E.tolist(), document.end_E.tolist(), strict=True))

    def ways(place: int) -> list[tuple[Segment, ...]]:
        if place == tokens:
            return [()]
        steps: list[Segment] = [(place, place + 1, None)]
        steps += [(start, end, edge) for edge, (start, end) in enumerate(spans) if start == place]
        return [(step, *rest) for step in steps for rest in ways(step[1])]

    return ways(0)


def score(document: ScoredDocument, segments: Sequence[Segment]) -> float:
    """Add up the log scores of segments."""
    words = document.words_N().tolist()
    return math.fsum(
        words[start] if edge is None else float(document.score_E[edge])
        for start, _, edge in segments
    )


def pair_posterior(
    forward: ScoredDocument, backward: ScoredDocument, weight: float
) -> dict[tuple[Segment, ...], float]:
    """Give P(segmentation | text) of both readings together: a product, divided by its sum."""
    ways = segmentations(forward)
    products = [
        math.exp(score(forward, way)) * math.exp(score(backward, way)) ** weight for way in ways
    ]
    total = math.fsum(products)
    return {way: product / total for way, product in zip(ways, products, strict=True)}


def log_sum(document: ScoredDocument) -> float:
    """Give the log of the summed probability of all segmentations."""
    return math.log(math.fsum(math.exp(score(document, way)) for way in segmentations(document)))


def shares(
    posterior: dict[tuple[Segment, ...], float], tokens: int, edges: int
) -> tuple[list[float], list[float]]:
    """Give the probability of every WORD and of every candidate."""
    words, copied = [0.0] * tokens, [0.0] * edges
    for way, probability in posterior.items():
        for start, _, edge in way:
            if edge is None:
                words[start] += probability
            else:
                copied[edge] += probability
    return words, copied


def all_texts(words: Sequence[str], longest: int) -> list[str]:
    """List every text of at most so many of these words."""
    return [
        " ".join(text)
        for length in range(1, longest + 1)
        for text in itertools.product(words, repeat=length)
    ]
