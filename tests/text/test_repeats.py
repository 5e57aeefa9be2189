"""Unknown words that a text has had before are expected again; all that may come sum to one."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.text.repeats import UnknownSoFar, with_repeats
from lrlm.text.word_space import SpellingPool, WordSpace
from tests.toy import SPELLINGS, VOCABULARY, ToySpeller, link

LOGS = {word: math.log(chance) for word, chance in SPELLINGS.items()}


@given(st.lists(st.sampled_from(list(SPELLINGS)), max_size=12))
def test_what_may_come_next_sums_to_one(before: list[str]) -> None:
    so_far = UnknownSoFar(before)
    assert math.fsum(
        math.exp(so_far.log_prob(word, LOGS[word])) for word in SPELLINGS
    ) == pytest.approx(1, abs=1e-12)


def test_all_texts_of_a_length_sum_to_one() -> None:
    total = 0.0
    for words in product(SPELLINGS, repeat=5):
        spelled = np.array([LOGS[word] for word in words], dtype=np.float32)
        total += math.exp(float(with_repeats(words, spelled).sum(dtype=np.float64)))
    assert total == pytest.approx(1, abs=1e-5)


def test_the_first_word_is_spelled_and_its_second_costs_little() -> None:
    costs = -with_repeats(["Aneto", "Posets", "Aneto"], np.full(3, -20.0, dtype=np.float32))
    assert costs[0] == 20
    assert 20 < costs[1] < 20.3
    assert costs[2] < 3


def test_a_space_expects_words_again_in_the_direction_of_reading() -> None:
    space = WordSpace(VOCABULARY, ToySpeller(), repeats=True)
    forward = space.encode(link("v a u b v"))
    backward = space.encode_backward(link("v a u b v"))
    plain = WordSpace(VOCABULARY, ToySpeller()).encode(link("v a u b v"))
    assert forward.tokens_N.tolist() == backward.tokens_N.tolist() == plain.tokens_N.tolist()
    assert forward.spelling_N[0] == plain.spelling_N[0] < forward.spelling_N[4]
    assert backward.spelling_N.tolist() == pytest.approx(forward.spelling_N[::-1].tolist())
    assert plain.spelling_N[[1, 3]].tolist() == forward.spelling_N[[1, 3]].tolist() == [0, 0]


def test_prepared_and_changed_spaces_still_expect_words_again() -> None:
    space = WordSpace(VOCABULARY, ToySpeller(), repeats=True)
    wanted = space.encode(link("v a v")).spelling_N.tolist()
    assert space.prepared_for({"v", "a"}).encode(link("v a v")).spelling_N.tolist() == wanted
    same = space.with_speller(lambda speller: speller)
    assert same.encode(link("v a v")).spelling_N.tolist() == wanted


def test_words_are_drawn_as_often_as_they_are_probable() -> None:
    pool = SpellingPool(ToySpeller(), seed=1, repeats=True)
    before = ["u", "name", "u"]
    drawn = [pool.take(before) for _ in range(4000)]
    so_far = UnknownSoFar(before)
    for word, log_spelling in {**LOGS, "name": -math.inf}.items():
        chance = math.exp(so_far.log_prob(word, log_spelling))
        share = sum(each == word for each, _ in drawn) / len(drawn)
        assert share == pytest.approx(chance, abs=4 * math.sqrt(chance / len(drawn)))
        assert {round(log_prob, 5) for each, log_prob in drawn if each == word} == {
            round(math.log(chance), 5)
        }


def test_without_capitals_no_name_is_drawn_again() -> None:
    pool = SpellingPool(ToySpeller(), seed=1, capitals=False, repeats=True)
    assert {pool.take(["Name"] * 50)[0] for _ in range(200)} == set(SPELLINGS)
