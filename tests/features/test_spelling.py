"""The spelling model: a distribution over all words, scored in any company, sampled as scored."""

import math
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lrlm.errors import FormatError, LrlmError
from lrlm.features import SpellingModel
from lrlm.features.character_model import END, Alphabet, CharacterModel, FrozenCharacters
from lrlm.features.spelling import Manner
from tests.oracles import spelling as oracle

WORDS = [
    first + middle + last
    for first in ("b", "br", "st", "M", "É")
    for middle in ("a", "ee", "o", "ou")
    for last in ("n", "rd", "st", "-", "ß")
]


def random_model(characters: str, *, end: float = 0.0, seed: int = 0) -> CharacterModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = CharacterModel(2 + len(characters), embedding_size=4, hidden_size=8)
    with torch.no_grad():
        model.output.weight *= 3  # the characters before matter
        model.output.bias[END] += end
    return model


def spelling_model(characters: str = "ab", *, end: float = 0.0) -> SpellingModel:
    model = random_model(characters, end=end)
    return SpellingModel(Alphabet(characters), FrozenCharacters.of(model))


def test_it_is_a_speller() -> None:
    speller = spelling_model()
    scores = speller.log_probs(["ab", "b", "ab"])
    assert scores.dtype == np.float32
    assert scores.shape == (3,)
    assert scores[0] == scores[2] != scores[1]
    assert speller.log_probs([]).shape == (0,)


def test_all_words_together_have_probability_one() -> None:
    """Words up to a length, and the mass of the longer ones, found by following their beginnings.

    `a` and `b` have symbols; an escape stands for each of all the other characters, so the words
    with one are counted by one of them, times how many there are.
    """
    alphabet, length = Alphabet("ab"), 5
    model = random_model("ab", end=1.0)
    speller = SpellingModel(alphabet, FrozenCharacters.of(model))
    enumerated = 0.0
    for size in range(1, length + 1):
        words = ["".join(word) for word in product("ab?", repeat=size)]
        weights = [alphabet.escaped ** word.count("?") for word in words]
        probabilities = np.exp(speller.log_probs(words).astype(float))
        enumerated += float(np.dot(probabilities, weights))
    longer = 0.0
    model = model.double()
    with torch.no_grad():
        for symbols in product(range(1, len(alphabet)), repeat=length):
            log_probs = model(torch.tensor([[END, *symbols]]))[0].log_softmax(-1)
            beginning = sum(float(log_probs[place, s]) for place, s in enumerate(symbols))
            longer += math.exp(beginning) * (1 - math.exp(float(log_probs[length, END])))
    assert 0.01 < longer < 0.9
    assert enumerated + longer == pytest.approx(1, abs=1e-5)


def test_no_word_is_empty() -> None:
    assert spelling_model().log_probs([""])[0] == -math.inf


def test_the_sum_over_characters_not_their_mean() -> None:
    speller = spelling_model()
    scores = speller.log_probs(["ab" * size for size in (1, 5, 25, 125)]).astype(float)
    assert (np.diff(scores) < 0).all()
    assert scores[3] / scores[2] == pytest.approx(5, rel=0.1)


@settings(max_examples=25)
@given(st.lists(st.text(min_size=1, max_size=8) | st.text("ab", max_size=12), max_size=8))
def test_scores_are_those_of_one_character_at_a_time(words: list[str]) -> None:
    alphabet, model = Alphabet("abc"), random_model("abc")
    scores = SpellingModel(alphabet, FrozenCharacters.of(model)).log_probs(words)
    expected = [oracle.log_prob(alphabet, model, word) for word in words]
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


def test_a_word_scores_the_same_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    together = spelling_model("abcn-").log_probs([*WORDS, "a" * 300, "xyz"])
    fresh = spelling_model("abcn-")
    alone = [fresh.log_probs([word])[0] for word in [*WORDS, "a" * 300, "xyz"]]
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    monkeypatch.setattr("lrlm.features.spelling._WORDS_AT_ONCE", 7)
    in_small_parts = spelling_model("abcn-").log_probs([*WORDS, "a" * 300, "xyz"])
    np.testing.assert_allclose(together, in_small_parts, rtol=1e-6)


def test_the_cache_is_bounded_and_changes_nothing() -> None:
    alphabet, characters = Alphabet("ab"), FrozenCharacters.of(random_model("ab"))
    expected = SpellingModel(alphabet, characters).log_probs(WORDS)
    small = SpellingModel(alphabet, characters, cache_size=10)
    for size in (1, 3, 8, 20, len(WORDS), 5):
        np.testing.assert_allclose(small.log_probs(WORDS[:size]), expected[:size], rtol=1e-6)
        assert len(small._cache) <= 10


def test_it_is_frozen() -> None:
    model = random_model("ab")
    speller = SpellingModel(Alphabet("ab"), FrozenCharacters.of(model), cache_size=0)
    before = speller.log_probs(["abba"])
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1)
    assert speller.log_probs(["abba"]) == before
    assert not any(weight.requires_grad for weight in speller._characters.weights.values())


def test_samples_follow_the_distribution() -> None:
    speller = spelling_model("ab", end=2.0)
    count = 4000
    words = speller.sample(count, generator=torch.Generator().manual_seed(1))
    alphabet = set("ab")
    seen = Counter(word if set(word) <= alphabet and len(word) < 4 else "else" for word in words)
    likely = ["".join(word) for size in (1, 2, 3) for word in product("ab", repeat=size)]
    probabilities = np.exp(speller.log_probs(likely).astype(float))
    expected = [*(count * probabilities), count * (1 - probabilities.sum())]
    observed = [*(seen[word] for word in likely), seen["else"]]
    assert min(expected) > 5
    assert stats.chisquare(observed, expected).pvalue > 0.001
    assert "" not in words


def test_samples_can_hold_any_character_and_repeat_with_the_seed() -> None:
    speller = spelling_model("ab", end=1.0)
    first, again = (
        speller.sample(200, generator=torch.Generator().manual_seed(7)) for _ in range(2)
    )
    assert first == again
    escaped = {character for word in first for character in word} - set("ab")
    assert len(escaped) > 50
    "".join(first).encode("utf-8")


def test_a_sample_that_grows_too_long_is_drawn_anew() -> None:
    speller = spelling_model("ab")
    words = speller.sample(300, generator=torch.Generator().manual_seed(1), longest=2)
    assert len(words) == 300
    assert max(map(len, words)) == 2


def test_a_model_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lrlm.features.spelling._ROUNDS", 3)
    with pytest.raises(LrlmError, match="hardly ever ends"):
        spelling_model("ab", end=-100).sample(1, generator=torch.Generator().manual_seed(1))


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    speller = spelling_model("ab\u2028é\0")
    speller.save(tmp_path / "spelling", note="kept")
    loaded = SpellingModel.open(tmp_path / "spelling")
    assert np.array_equal(loaded.log_probs(WORDS), speller.log_probs(WORDS))
    (tmp_path / "spelling" / "weights.safetensors").write_bytes(b"no")
    with pytest.raises(FormatError, match=r"weights\.safetensors"):
        SpellingModel.open(tmp_path / "spelling")


def test_a_manner_steers_what_is_spelled() -> None:
    speller = spelling_model("abX", end=1.0)
    drawn = partial(speller.sample, 200, generator=torch.Generator().manual_seed(1))

    def is_short(word: str) -> bool:
        return len(word) < 3

    words = drawn(manner=Manner(0.7, refuses=is_short, leaves_out=str.isupper))
    assert {character for word in words for character in word} == set("ab")
    assert min(map(len, words)) == 3
    assert len(set(words)) > 10
    (greedy,) = set(drawn(manner=Manner(0.0, refuses=is_short)))
    cold = Counter(drawn(manner=Manner(0.01, refuses=is_short)))
    assert cold.most_common(1)[0][0] == greedy


def test_steered_words_end() -> None:
    words = spelling_model("ab", end=-100).sample(
        5, generator=torch.Generator().manual_seed(1), manner=Manner(0.0, refuses=lambda _: False)
    )
    assert {len(word) for word in words} == {24}


def test_a_manner_must_leave_some_characters() -> None:
    with pytest.raises(LrlmError, match="none of the characters"):
        spelling_model("ab").sample(
            1, generator=torch.Generator(), manner=Manner(1, str.isupper, leaves_out=str.islower)
        )
