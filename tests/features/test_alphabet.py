"""Characters as symbols: nothing is lost, nothing is counted twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.errors import InputError
from lrlm.features.alphabet import ESCAPE, Alphabet


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
