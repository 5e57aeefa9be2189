"""Perplexity is always a number that can be written."""

import math

import pytest

from lrlm.models.perplexity import perplexity_of


def test_it_is_the_exponential_of_the_mean() -> None:
    assert perplexity_of(2 * math.log(8), 2) == pytest.approx(8)
    assert perplexity_of(0.0, 5) == 1


def test_a_word_that_is_hard_to_spell_does_not_overflow() -> None:
    assert math.isfinite(perplexity_of(1e6, 1))
