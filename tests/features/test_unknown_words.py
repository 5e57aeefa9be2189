"""Spellings of words outside a vocabulary: what is left for them sums to one."""

import itertools
import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from lrlm.arrays import Floats
from lrlm.errors import InputError, LrlmError
from lrlm.features import SpellingModel, UnknownWordSpeller
from lrlm.features.character_model import Alphabet, CharacterModel, FrozenCharacters
from lrlm.features.spelling import Manner, has_capital, log_unknown_mass
from lrlm.text import Vocabulary

WORDS = ["".join(letters) for n in (1, 2, 3) for letters in itertools.product("ab", repeat=n)]
PROBABILITIES = dict(zip(WORDS, np.linspace(1, 3, len(WORDS)), strict=True))
TOTAL = sum(PROBABILITIES.values())

VOCABULARY = Vocabulary.from_counts({"a": 5, "ba": 3, "bbb": 2, "zzz": 1}, documents=4)


class AllShortWords:
    """Spells the words of up to three of two letters, and nothing else."""

    characters = "ab"

    def log_probs(self, words: Sequence[str]) -> Floats:
        with np.errstate(divide="ignore"):
            found = np.array([PROBABILITIES.get(word, 0.0) / TOTAL for word in words])
            logs: Floats = np.log(found).astype(np.float32)
        return logs

    def sample(
        self, count: int, *, generator: torch.Generator, manner: Manner | None = None
    ) -> list[str]:
        assert manner is None
        weights = torch.tensor(list(PROBABILITIES.values()))
        return [
            WORDS[index] for index in torch.multinomial(weights, count, True, generator=generator)
        ]


@pytest.fixture
def speller() -> UnknownWordSpeller:
    inner = AllShortWords()
    return UnknownWordSpeller(inner, VOCABULARY, log_unknown=log_unknown_mass(inner, VOCABULARY))


def test_unknown_words_share_all_probability(speller: UnknownWordSpeller) -> None:
    unknown = [word for word in WORDS if word not in VOCABULARY]
    assert len(unknown) == len(WORDS) - 3
    assert np.exp(speller.log_probs(unknown)).sum() == pytest.approx(1.0, rel=1e-5)


def test_samples_are_unknown_and_as_probable_as_they_score(speller: UnknownWordSpeller) -> None:
    drawn = speller.sample(20_000, generator=torch.Generator().manual_seed(1))
    assert len(drawn) == 20_000
    assert not {"a", "ba", "bbb"} & set(drawn)
    for word in ("b", "ab", "aaa"):
        expected = float(np.exp(speller.log_probs([word])[0]))
        assert drawn.count(word) / len(drawn) == pytest.approx(expected, abs=0.01)


def test_the_signs_of_a_vocabulary_are_no_words() -> None:
    class OnlySigns(AllShortWords):
        def log_probs(self, words: Sequence[str]) -> Floats:
            assert not {"<unk>", "</s>"} & set(words)
            return super().log_probs(words)

    assert log_unknown_mass(OnlySigns(), VOCABULARY) < 0


def test_a_speller_that_knows_only_the_vocabulary_is_refused() -> None:
    everything = Vocabulary.from_counts(dict.fromkeys(WORDS, 1), documents=1)
    with pytest.raises(InputError, match="no probability to words outside"):
        log_unknown_mass(AllShortWords(), everything)
    speller = UnknownWordSpeller(AllShortWords(), everything, log_unknown=-1.0)
    with pytest.raises(LrlmError, match="hardly ever"):
        speller.sample(1, generator=torch.Generator())


def test_words_can_be_without_capitals_and_colder_than_drawn() -> None:
    torch.manual_seed(0)
    characters = FrozenCharacters.of(CharacterModel(6, embedding_size=3, hidden_size=4))
    vocabulary = Vocabulary.from_counts({"a": 5, "b": 3, "ab": 2}, documents=4)
    speller = UnknownWordSpeller(
        SpellingModel(Alphabet("abXY"), characters), vocabulary, log_unknown=-0.5
    )
    for temperature in (0.0, 0.1, 0.7, 1.0, 1.5):
        words = speller.sample(
            50, generator=torch.Generator().manual_seed(1), temperature=temperature, capitals=False
        )
        assert len(words) == 50
        assert not any(word in vocabulary or has_capital(word) for word in words)
        assert (len(set(words)) == 1) == (temperature == 0)
    assert any(map(has_capital, speller.sample(50, generator=torch.Generator())))


def test_only_characters_that_can_be_read_are_spelled() -> None:
    torch.manual_seed(0)
    alphabet = Alphabet("ab\x07\u200b")
    characters = FrozenCharacters.of(CharacterModel(len(alphabet), embedding_size=3, hidden_size=4))
    vocabulary = Vocabulary.from_counts({"a": 5, "b7": 3}, documents=4)
    speller = UnknownWordSpeller(SpellingModel(alphabet, characters), vocabulary, log_unknown=-0.5)
    for temperature in (0.5, 1.0):
        words = speller.sample(
            200, generator=torch.Generator().manual_seed(1), temperature=temperature
        )
        assert all("LATIN" in unicodedata.name(each) for word in words for each in word)
    assert np.isfinite(speller.log_probs(["ж\x07"])).all()
