"""Pruning, the slow and obvious way: take the best span left, drop what overlaps."""

from collections.abc import Sequence

from lrlm.text.document import LinkableRelation, Mention


def is_better(one: Mention, other: Mention, relations: Sequence[LinkableRelation]) -> bool:
    """Say which of two spans the paper's appendix D looks at first, criterion by criterion."""
    length_of_one, length_of_other = one.end - one.start, other.end - other.start
    if length_of_one != length_of_other:  # prefer longer spans
        return length_of_one > length_of_other
    if one.start != other.start:  # prefer spans appearing earlier
        return one.start < other.start
    if (one.form == 0) != (other.form == 0):  # prefer spans matching canonical forms
        return one.form == 0
    type_of_one, type_of_other = relations[one.relation].type, relations[other.relation].type
    if type_of_one != type_of_other:  # ties are broken by relation type
        return type_of_one < type_of_other
    if one.form != other.form:  # and index of matched surface form
        return one.form < other.form
    return one.relation < other.relation  # two facts of one type: the paper leaves this open


def overlap(one: Mention, other: Mention) -> bool:
    """Say whether two half-open spans share a token."""
    return bool(set(range(one.start, one.end)) & set(range(other.start, other.end)))


def prune(mentions: Sequence[Mention], relations: Sequence[LinkableRelation]) -> list[Mention]:
    """Choose greedily, looking at every pair each time."""
    left, chosen = list(mentions), []
    while left:
        best = left[0]
        for mention in left:
            if is_better(mention, best, relations):
                best = mention
        chosen.append(best)
        left = [mention for mention in left if not overlap(mention, best)]
    return sorted(chosen)
