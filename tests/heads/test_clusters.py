"""Cutoffs: fast ones for the counts and the device, none where they do not pay."""

import time
from itertools import pairwise

import pytest

from lrlm.errors import InputError
from lrlm.heads import SoftmaxCost, choose_cutoffs, measure_softmax_cost


def zipf(words: int) -> list[int]:
    return [10_000_000 // rank for rank in range(1, words + 1)]


def test_many_words_are_clustered_and_few_are_not() -> None:
    cutoffs = choose_cutoffs(zipf(24_000), width=400, divisor=4)
    assert list(cutoffs) == sorted(set(cutoffs))
    assert cutoffs[0] > 0
    assert cutoffs[-1] < 24_000
    for few in (0, 1, 2, 16, 17, 50, 1500):
        assert choose_cutoffs(zipf(few), width=400, divisor=4) == ()


def test_the_same_counts_give_the_same_cutoffs() -> None:
    counts = zipf(5_000)
    assert choose_cutoffs(counts, width=400, divisor=4) == choose_cutoffs(
        counts, width=400, divisor=4
    )


def test_words_that_are_all_as_frequent_are_not_clustered() -> None:
    assert choose_cutoffs([100] * 10_000, width=400, divisor=4) == ()
    assert choose_cutoffs([0] * 10_000, width=400, divisor=4) == ()


@pytest.mark.parametrize("words", [2_000, 24_000, 264_000])
@pytest.mark.parametrize("width", [32, 400, 1000])
def test_most_running_words_keep_their_full_width(words: int, width: int) -> None:
    counts = zipf(words)
    cutoffs = choose_cutoffs(counts, width=width, divisor=4)
    if cutoffs:
        assert sum(counts[: cutoffs[0]]) >= 0.8 * sum(counts)
    assert all(width / 4**tail >= 24 for tail in range(1, len(cutoffs) + 1))


def test_the_device_decides_too() -> None:
    free_products = SoftmaxCost(call=10.0, score=1e-12, product=1e-15)
    assert choose_cutoffs(zipf(24_000), width=400, divisor=4, cost=free_products) == ()


def test_chosen_cutoffs_are_cheaper_than_others() -> None:
    counts, cost = zipf(24_000), SoftmaxCost()
    chosen = choose_cutoffs(counts, width=400, divisor=4, cost=cost)

    def head_only(cutoff: int) -> float:
        share = sum(counts[cutoff:]) / sum(counts)
        return cost.seconds(4500, cutoff + 1, 400) + cost.seconds(
            4500 * share, 24_000 - cutoff, 100
        )

    bounds = (*chosen, 24_000)
    seconds = cost.seconds(4500, chosen[0] + len(chosen), 400)
    for number, (first, last) in enumerate(pairwise(bounds), start=1):
        tokens = 4500 * sum(counts[first:last]) / sum(counts)
        seconds += cost.seconds(tokens, last - first, 400 / 4**number) + cost.seconds(
            tokens, 400 / 4**number, 400
        )
    assert all(seconds < 1.05 * head_only(cutoff) for cutoff in (3500, 5000, 8000, 20_000))


def test_choosing_is_quick() -> None:
    start = time.process_time()
    choose_cutoffs(zipf(264_000), width=500, divisor=4)
    assert time.process_time() - start < 5


def test_counts_must_descend() -> None:
    with pytest.raises(InputError, match="descending"):
        choose_cutoffs([1, 2], width=4, divisor=4)


def test_measured_costs_are_positive() -> None:
    cost = measure_softmax_cost("cpu")
    assert cost.call > 0
    assert cost.score > 0
    assert cost.product > 0
    assert choose_cutoffs(zipf(24_000), width=400, divisor=4, cost=cost)
