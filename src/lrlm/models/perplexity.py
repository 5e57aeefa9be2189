"""Nats and tokens in, perplexity out."""

import math

_LARGEST_EXPONENT = 700.0
"""Beyond lies what a number cannot hold; one long word that has to be spelled may cost as much."""


def perplexity_of(nats: float, tokens: int) -> float:
    """Give exp(nats / tokens), or the largest that can be told."""
    return math.exp(min(nats / tokens, _LARGEST_EXPONENT))
