"""The alphabet loses nothing and counts nothing twice; the character model learns, repeatably."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lrlm.errors import InputError
from lrlm.features import SpellingConfig, SpellingModel
from lrlm.features.character_model import ESCAPE, Alphabet, FrozenCharacters, train_characters

WORDS = [
    first + middle + last
    for first in ("b", "br", "st", "M", "É")
    for middle in ("a", "ee", "o", "ou")
    for last in ("n", "rd", "st", "-", "ß")
]
TINY = SpellingConfig(
    embedding_size=8, hidden_size=16, epochs=3, batch_size=16, min_count=2, learning_rate=0.02
)


def test_characters_of_too_few_words_are_escaped() -> None:
    alphabet = Alphabet.of(["aab", "ac", "ba"], min_count=2)
    assert alphabet.characters == "ab"
    symbols, lengths = alphabet.encode(["abc", "", "é𝄞"])
    assert symbols.tolist() == [2, 3, ESCAPE, ESCAPE, ESCAPE]
    assert lengths.tolist() == [3, 0, 2]


def test_an_escape_stands_for_every_other_character_once() -> None:
    alphabet = Alphabet("ba")
    first, last = alphabet.nth_escaped(0), alphabet.nth_escaped(alphabet.escaped - 1)
    assert (first, last) == ("\0", chr(0x10FFFF))
    assert alphabet.escaped == 0x110000 - 0x800 - 2
    assert alphabet.nth_escaped(ord("a")) == "c"


@given(st.lists(st.text(max_size=5), max_size=5), st.text(max_size=4))
def test_symbols_are_those_of_each_character(words: list[str], characters: str) -> None:
    alphabet = Alphabet(characters)
    symbols, lengths = alphabet.encode(words)
    decoded = [
        character if symbol == ESCAPE else alphabet.decode(symbol)
        for character, symbol in zip("".join(words), symbols.tolist(), strict=True)
    ]
    assert "".join(decoded) == "".join(words)
    assert lengths.tolist() == [len(word) for word in words]


def test_half_a_surrogate_pair_is_read_as_the_replacement_character() -> None:
    alphabet = Alphabet("a\ufffd")
    half, _ = alphabet.encode(["\ud800"])
    replacement, _ = alphabet.encode(["\ufffd"])
    assert np.array_equal(half, replacement)
    with pytest.raises(InputError):
        Alphabet("\ud800")
    assert Alphabet.of(["a\ud800"]).characters == "a"


def test_training_learns_counts_every_type_once_and_repeats_itself() -> None:
    first, again = (train_characters(words, TINY) for words in (WORDS, [*reversed(WORDS), "ban"]))
    assert first.alphabet.characters == again.alphabet.characters
    for name, weight in first.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name])
    assert not any(weight.requires_grad for weight in first.model.parameters())
    speller = SpellingModel(first.alphabet, FrozenCharacters.of(first.model))
    assert speller.log_probs(["brand"])[0] > speller.log_probs(["dnarb"])[0]
    chance = first.held_out_symbols * math.log(len(first.alphabet))
    assert first.held_out_nats < chance


def test_training_leaves_the_random_state_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    train_characters(WORDS[:20], TINY)
    assert torch.rand(1) == expected


def test_a_very_long_word_is_learned_from_its_beginning() -> None:
    trained = train_characters([*WORDS, "ab" * 500], TINY)
    speller = SpellingModel(trained.alphabet, FrozenCharacters.of(trained.model))
    assert np.isfinite(speller.log_probs(["ab" * 500])).all()


def test_one_word_is_not_enough() -> None:
    with pytest.raises(InputError, match="at least two"):
        train_characters(["a", "a", ""], TINY)


def test_progress_counts_words_over_all_epochs() -> None:
    told: list[tuple[str, int, int]] = []
    train_characters(WORDS, TINY, progress=lambda *step: told.append(step))
    total = 3 * (len(WORDS) - 5)  # a twentieth is held out
    assert told[0] == ("making the spelling model", 0, total)
    assert told[1][1] <= 16
    assert told[-1] == ("making the spelling model", total, total)


def test_a_loss_that_is_no_number_names_the_learning_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lrlm.features.character_model._evaluate", lambda *_: (math.nan, 1))
    with pytest.raises(InputError, match=r"lower features\.spelling\.learning_rate"):
        train_characters(WORDS, TINY)
