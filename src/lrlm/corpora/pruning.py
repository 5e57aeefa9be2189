"""Choose mentions that do not overlap from all candidates: the annotation NKLM is trained on.

The order is that of the paper's appendix on preprocessing for NKLM.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lrlm.text.document import LinkableRelation, Mention


class Copied(NamedTuple):
    """How one token was made: word `position` of a form of a relation."""

    relation: int
    form: int
    position: int


def prune(
    mentions: Iterable[Mention],
    relations: Sequence[LinkableRelation],
    *,
    longest: int | None = None,
) -> list[Mention]:
    """Choose mentions that do not overlap: longer, then earlier, then canonical forms first.

    Ties go by relation type, then by the form's index, then by the relation's place in the star.
    Mentions of more than `longest` tokens are left out.
    """

    def order(mention: Mention) -> tuple[int, int, bool, str, int, int]:
        start, end, relation, form = mention
        return (start - end, start, form != 0, relations[relation].type, form, relation)

    chosen: list[Mention] = []
    taken: set[int] = set()
    for mention in sorted(mentions, key=order):
        span = range(mention.start, mention.end)
        if (longest is None or len(span) <= longest) and taken.isdisjoint(span):
            chosen.append(mention)
            taken.update(span)
    return sorted(chosen)


def copy_positions(mentions: Iterable[Mention], tokens: int) -> list[Copied | None]:
    """Say for each token which word of which form it copies; None for a plain word."""
    copied: list[Copied | None] = [None] * tokens
    for start, end, relation, form in mentions:
        for position in range(end - start):
            copied[start + position] = Copied(relation, form, position)
    return copied
