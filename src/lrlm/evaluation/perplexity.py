"""Scores of documents in, perplexities out: exp(summed nats / summed tokens), under one mask."""

import math
from collections.abc import Sequence

from lrlm.evaluation.scoring import DocumentScore
from lrlm.evaluation.spelling import Spelling
from lrlm.models.perplexity import perplexity_of


def perplexity(
    scores: Sequence[DocumentScore],
    spelling: Spelling = Spelling.OPEN,
    *,
    count_end: bool = False,
) -> float | None:
    """Give the perplexity of documents; `</s>` is either both paid for and counted, or neither."""
    return _perplexity(
        math.fsum(score.nats(spelling, count_end=count_end) for score in scores),
        sum(score.units(count_end=count_end) for score in scores),
    )


def inside_perplexity(
    scores: Sequence[DocumentScore], spelling: Spelling = Spelling.OPEN
) -> float | None:
    """Give the perplexity of the tokens that some candidate span covers."""
    return _perplexity(
        math.fsum(score.inside_nats[spelling] for score in scores),
        sum(score.inside_tokens for score in scores),
    )


def outside_perplexity(
    scores: Sequence[DocumentScore], spelling: Spelling = Spelling.OPEN
) -> float | None:
    """Give the perplexity of the tokens that no candidate span covers; `</s>` is none of them."""
    return _perplexity(
        math.fsum(score.outside_nats[spelling] for score in scores),
        sum(score.outside_tokens for score in scores),
    )


def _perplexity(nats: float, tokens: int) -> float | None:
    return perplexity_of(nats, tokens) if tokens else None
