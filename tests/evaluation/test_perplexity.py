"""Perplexities of scores made by hand."""

import math

import pytest

from lrlm.evaluation import Spelling, inside_perplexity, outside_perplexity, perplexity
from tests.evaluation.made import document_score

SCORES = [
    document_score(20.0, words=10, inside_nats=6.0, inside_words=2, end_nats=1.0),
    document_score(5.0, words=2, inside_nats=0.0, inside_words=0, end_nats=3.0),
]


def test_nats_and_tokens_are_summed_before_they_are_divided() -> None:
    assert perplexity(SCORES) == pytest.approx(math.exp(25 / 12))


def test_the_end_is_in_both_or_in_neither() -> None:
    assert perplexity(SCORES, count_end=True) == pytest.approx(math.exp((25 + 4) / (12 + 2)))


def test_each_spelling_has_its_own() -> None:
    assert perplexity(SCORES, Spelling.UPP) == pytest.approx(math.exp(23 / 12))
    assert perplexity(SCORES, Spelling.ORACLE) == pytest.approx(math.exp(21 / 12))


def test_inside_and_outside() -> None:
    inside, outside = inside_perplexity(SCORES), outside_perplexity(SCORES)
    assert inside == pytest.approx(math.exp(6 / 2))
    assert outside == pytest.approx(math.exp((14 + 5) / (8 + 2)))
    assert inside is not None
    assert outside is not None
    assert 2 * math.log(inside) + 10 * math.log(outside) == pytest.approx(25)


def test_of_nothing_there_is_none() -> None:
    assert perplexity([]) is None
    assert inside_perplexity(SCORES[1:]) is None


def test_huge_ones_do_not_overflow() -> None:
    assert math.isfinite(perplexity([document_score(1e6)]) or math.inf)
