"""Documents grouped by number of relations."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.errors import InputError
from lrlm.evaluation import Spelling, binned_log_probs, relation_bins
from tests.evaluation.made import document_score


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(1, 12))
def test_bins_are_a_partition_in_order_that_separates_no_equals(
    relations: list[int], bins: int
) -> None:
    scores = [document_score(1.0, relations=number) for number in relations]
    found = relation_bins(scores, bins)
    assert 1 <= len(found) <= bins
    assert sorted(n for each in found for n in each.members) == list(range(len(relations)))
    for each in found:
        inside = [relations[n] for n in each.members]
        assert (each.fewest, each.most) == (min(inside), max(inside))
        assert each.mean_relations == pytest.approx(sum(inside) / len(inside))
        # No bin is larger than its share by more than documents that cannot be separated.
        largest_group = max(Counter(inside).values())
        assert len(inside) <= len(relations) / bins + largest_group
    for one, other in pairwise(found):
        assert one.most < other.fewest


def test_documents_that_all_differ_fill_ten_equal_bins() -> None:
    found = relation_bins([document_score(1.0, relations=(7 * n) % 50) for n in range(50)])
    assert [len(each.members) for each in found] == [5] * 10


def test_means_are_of_words() -> None:
    scores = [
        document_score(10.0, relations=1, words=2, end_nats=2.0),
        document_score(6.0, relations=1, words=6, end_nats=2.0),
        document_score(9.0, relations=5, words=3, end_nats=2.0),
    ]
    bins = relation_bins(scores, 2)
    assert binned_log_probs(scores, bins) == pytest.approx([-16 / 8, -9 / 3])
    assert binned_log_probs(scores, bins, count_end=True) == pytest.approx([-20 / 10, -11 / 4])
    assert binned_log_probs(scores, bins, Spelling.ORACLE) == pytest.approx([-12 / 8, -7 / 3])


def test_no_bins_are_refused() -> None:
    with pytest.raises(InputError, match="bins must be at least 1"):
        relation_bins([document_score(1.0)], 0)
