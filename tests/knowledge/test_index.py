"""How names are folded into keys, and which keys are near."""

from difflib import SequenceMatcher

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.knowledge.index import (
    IS_PLAIN,
    KEY_LENGTH,
    PLAIN_KEYS,
    PLAIN_WORDS,
    fold,
    keys,
    likeness,
    near_keys,
)

words = st.text("abcdé XY-'", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Beyoncé  Knowles-Carter", "beyonce knowles carter"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("!!!", "!!!"),
        ("  Łódź ", "łodz"),
        ("東京", "東京"),
    ],
)
def test_folding(name: str, folded: str) -> None:
    assert fold(name) == folded


@given(words)
def test_folding_twice_is_folding_once(name: str) -> None:
    assert fold(fold(name)) == fold(name)


def test_keys_begin_at_every_word_of_a_short_name() -> None:
    assert keys("Ada King of Lovelace") == [
        "ada king of lovelace",
        "king of lovelace",
        "of lovelace",
        "lovelace",
    ]
    assert keys("One two three four five") == ["one two three four five"]
    assert keys("x" * 100) == ["x" * KEY_LENGTH]


@given(st.lists(st.text(st.characters(max_codepoint=0x180), max_size=60), max_size=30))
def test_the_database_makes_the_same_keys_of_plain_names(names: list[str]) -> None:
    asked = [*names, "!!!", "O'Neil, 3rd_of -- it", " a  b ", "one two three four five", "x" * 99]
    query = f"""
        SELECT name, {IS_PLAIN.format("name")}, {PLAIN_KEYS.format("words")}
        FROM (SELECT name, {PLAIN_WORDS.format("name")} AS words FROM (SELECT unnest(?) AS name))
    """
    for name, is_plain, its_keys in duckdb.execute(query, [asked]).fetchall():
        assert its_keys == keys(name) or not is_plain
        is_printable = name.isascii() and name.isprintable()
        assert is_plain == (is_printable and any(each.isalnum() for each in name))


def test_near_keys_are_one_letter_away() -> None:
    near = near_keys("paris")
    assert {"pari", "aris", "pars", "pparis", "parish", "baris", "apris", "pari s"} <= near
    assert "paris" not in near
    assert "london" not in near
    assert all(abs(len(each) - 5) <= 1 for each in near)
    for each in near:
        same = sum(
            block.size for block in SequenceMatcher(None, "paris", each).get_matching_blocks()
        )
        assert same >= 4


@given(st.text("abc", min_size=1, max_size=5), st.text("abc", min_size=1, max_size=5))
def test_nearness_goes_both_ways(one: str, other: str) -> None:
    assert (one in near_keys(other)) == (other in near_keys(one))


def test_likeness() -> None:
    assert likeness("paris", "PARIS") == 1.0
    assert 1.0 > likeness("einstein", "Albert Einstein") > likeness("einstein", "Eisenstadt")
    assert likeness("paris", "Paris Hilton") < 1.0
