"""Perplexity is always a number that can be written."""

import math

import pytest

from lrlm.text import perplexity_per_word


def test_it_is_the_exponential_of_the_mean() -> None:
    assert perplexity_per_word(2 * math.log(8), 2) == pytest.approx(8)
    assert perplexity_per_word(0.0, 5) == 1


def test_a_word_that_is_hard_to_spell_does_not_overflow() -> None:
    assert math.isfinite(perplexity_per_word(1e6, 1))
