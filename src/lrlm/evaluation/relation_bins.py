"""Log-probability by number of relations: the paper's figure."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.checks import check_at_least
from lrlm.evaluation.document_scores import DocumentScore, Spelling


@dataclass(frozen=True, slots=True)
class RelationBin:
    """Documents whose topics have about the same number of relations."""

    fewest: int
    most: int
    """Relations of the topics, the title not counted; both ends are in the bin."""
    members: tuple[int, ...]
    """The documents, by their place among all."""
    mean_relations: float


def relation_bins(scores: Sequence[DocumentScore], bins: int = 10) -> list[RelationBin]:
    """Group documents into at most `bins` bins with about the same number of documents.

    Documents with the same number of relations are never separated, so there are fewer bins where
    many have the same number. The grouping depends on the documents alone, not on the model.
    """
    check_at_least("bins", bins, 1)
    counts = Counter(score.relations for score in scores)
    bin_of: dict[int, int] = {}
    before = 0
    for relations in sorted(counts):
        middle = before + counts[relations] / 2
        bin_of[relations] = int(bins * middle / len(scores))
        before += counts[relations]
    members: dict[int, list[int]] = {}
    for number, score in enumerate(scores):
        members.setdefault(bin_of[score.relations], []).append(number)
    return [_bin(scores, members[key]) for key in sorted(members)]


def binned_log_probs(
    scores: Sequence[DocumentScore],
    bins: Sequence[RelationBin],
    spelling: Spelling = Spelling.OPEN,
    *,
    count_end: bool = False,
) -> list[float]:
    """Give the mean log-probability of a word in each bin."""
    means = []
    for each in bins:
        members = [scores[number] for number in each.members]
        nats = math.fsum(score.nats(spelling, count_end=count_end) for score in members)
        means.append(-nats / max(sum(score.units(count_end=count_end) for score in members), 1))
    return means


def _bin(scores: Sequence[DocumentScore], members: list[int]) -> RelationBin:
    relations = [scores[number].relations for number in members]
    return RelationBin(
        min(relations), max(relations), tuple(members), sum(relations) / len(relations)
    )
