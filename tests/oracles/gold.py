"""Claims and gold mentions of one document in; what is right, by comparing each with each, out."""

from collections.abc import Sequence
from typing import NamedTuple

from lrlm.corpora import GoldMention


class Said(NamedTuple):
    """A claim with its probability."""

    start: int
    end: int
    type: str
    object: str
    probability: float


def counts(
    said: Sequence[Said], golds: Sequence[GoldMention], level: str, threshold: float
) -> tuple[int, int, int]:
    """Give (claimed, right, gold) of one document at a level."""
    fields = {
        "span": ("start", "end"),
        "object": ("start", "end", "object"),
        "relation": ("start", "end", "object", "type"),
    }[level]

    def same(one: Said | GoldMention, other: Said | GoldMention) -> bool:
        return all(getattr(one, field) == getattr(other, field) for field in fields)

    def could_be(claim: Said, gold: GoldMention) -> bool:
        return all(
            getattr(gold, field) is None or getattr(gold, field) == getattr(claim, field)
            for field in fields
        )

    distinct_golds: list[GoldMention] = []
    for gold in golds:
        if not any(same(gold, other) for other in distinct_golds):
            distinct_golds.append(gold)
    known = [g for g in distinct_golds if all(getattr(g, field) is not None for field in fields)]
    unsure = [g for g in distinct_golds if g not in known]
    claims: list[Said] = []
    for claim in said:
        if not any(same(claim, other) for other in claims):
            total = sum(other.probability for other in said if same(claim, other))
            claims.append(claim._replace(probability=total))
    made = [claim for claim in claims if claim.probability >= threshold]
    right = [claim for claim in made if any(same(claim, gold) for gold in known)]
    undecided = [
        claim
        for claim in made
        if claim not in right and any(could_be(claim, gold) for gold in unsure)
    ]
    return len(made) - len(undecided), len(right), len(known)
