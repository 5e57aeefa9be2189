"""Features that threads share give every thread the numbers that one thread alone gets."""

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from lrlm.features import HASHED, FormVectorConfig, SpellingModel, SubwordFeaturiser
from lrlm.features.character_model import Alphabet, CharacterModel, FrozenCharacters
from lrlm.features.form_vectors import hashed_featuriser

THREADS = 8
ROUNDS = 60


@pytest.fixture
def hurried() -> Iterator[None]:
    """Let threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.fixture
def two_torch_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def at_once(work: Callable[[int], None]) -> None:
    """Do something in several threads that begin together; raise what went wrong in any."""
    barrier = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(begin, range(THREADS)))


def small_featuriser(cache_size: int) -> SubwordFeaturiser:
    whole = hashed_featuriser(FormVectorConfig(source=HASHED, width=8, buckets=64))
    return SubwordFeaturiser(
        (),
        whole.words_VW,
        whole.ngrams_GW,
        shortest_ngram=3,
        longest_ngram=6,
        cache_size=cache_size,
    )


def small_speller(cache_size: int) -> SpellingModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CharacterModel(12, embedding_size=4, hidden_size=16)
    return SpellingModel(Alphabet("0123456789"), FrozenCharacters.of(model), cache_size=cache_size)


def picks(number: int, total: int) -> Iterator[list[int]]:
    """Give each thread different things to ask for, of which some were asked for before."""
    rng = np.random.default_rng(number)
    for _ in range(ROUNDS):
        yield rng.integers(0, total, int(rng.integers(1, 30))).tolist()


@pytest.mark.usefixtures("hurried")
def test_threads_share_a_featuriser() -> None:
    forms = [(f"word{index}", f"of{index % 7}") for index in range(200)]
    expected = small_featuriser(1000).vectors(forms)
    shared = small_featuriser(40)

    def ask(number: int) -> None:
        for rows in picks(number, len(forms)):
            assert np.array_equal(shared.vectors([forms[row] for row in rows]), expected[rows])

    at_once(ask)
    assert len(shared._kept.row_of) <= 40


@pytest.mark.usefixtures("hurried", "two_torch_threads")
def test_threads_share_a_speller() -> None:
    words = [str(7 * index) for index in range(200)]
    alone = small_speller(1000)
    expected = alone.log_probs(words)
    shared = small_speller(40)

    def ask(number: int) -> None:
        for rows in picks(number, len(words)):
            scores = shared.log_probs([words[row] for row in rows])
            np.testing.assert_allclose(scores, expected[rows], rtol=1e-6)
            assert torch.get_num_threads() == 2

    at_once(ask)
    assert len(shared._cache) <= 40


@pytest.mark.usefixtures("two_torch_threads")
def test_scoring_leaves_the_number_of_threads_alone() -> None:
    seen = []
    small_speller(0).log_probs(["1", "23"])
    late = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    late.start()
    late.join()
    assert (torch.get_num_threads(), seen) == (2, [2])


def test_scores_do_not_depend_on_the_number_of_threads() -> None:
    before = torch.get_num_threads()
    words = [str(7 * index) for index in range(9000)]  # more than are scored at once
    speller = small_speller(0)
    try:
        torch.set_num_threads(1)
        first = speller.log_probs(words)
        for threads in (2, 3, 8):
            torch.set_num_threads(threads)
            assert np.array_equal(speller.log_probs(words), first)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_they_can_be_copied(copied: Callable[..., object]) -> None:
    featuriser, speller = small_featuriser(10), small_speller(10)
    vectors, scores = featuriser.vectors([("a", "b")]), speller.log_probs(["12"])
    other_featuriser, other_speller = copied(featuriser), copied(speller)
    assert isinstance(other_featuriser, SubwordFeaturiser)
    assert isinstance(other_speller, SpellingModel)
    assert np.array_equal(other_featuriser.vectors([("a", "b")]), vectors)
    assert np.array_equal(other_speller.log_probs(["12"]), scores)
