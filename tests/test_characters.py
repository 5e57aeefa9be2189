"""Names are cleaned, texts keep their places, and what is refused is named."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.characters import (
    LONE_SURROGATE,
    NOT_IN_A_TEXT,
    NOT_ON_A_LINE,
    check_characters,
    clean_name,
    describe,
    page_text,
    printable,
    refused_in,
)
from lrlm.errors import InputError
from lrlm.plain_data import json_text

odd_texts = st.text(
    "ab \t\n\x00\x1b\x7f\x85\x9b\xa0\xad\u200b\u200d\u2028\u202e\u2066\ufeffé\ud800\U0001f600"
)


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("sub\u00addivisions", "subdivisions"),
        ("New\u00a0York", "New York"),
        (" Nexus \u00a0 Q\t", "Nexus Q"),
        ("7.\n100 years", "7. 100 years"),
        ("N Q \u200b \u200b", "N Q"),
        ("Paoli/\u200bThorndale Line", "Paoli/Thorndale Line"),
        ("\ufeffOslo\u200e", "Oslo"),
        ("\u202bOslo\u202c", "Oslo"),
        ("a\x1b[31m  b\x00\x9b c\x7f", "a [31m b c"),
        ("half \ud800 a character", "half a character"),
        ("\u200b\u00ad", ""),
        ("\x1b\x07", ""),
        ("", ""),
    ],
)
def test_names_are_cleaned(name: str, clean: str) -> None:
    assert clean_name(name) == clean


@pytest.mark.parametrize(
    "name",
    [
        "Oslo",
        "naïve 東京 😀",
        "ශ්\u200dරී",  # a joined letter of Sinhala
        "نمی\u200cخواهم",  # two parts of a word of Persian
        "👨\u200d👩\u200d👧",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "❤\ufe0f",
        "e\u0301",
        "$&%|·–'",
    ],
)
def test_names_that_are_clean_stay_as_they_are(name: str) -> None:
    assert clean_name(name) == name


@given(odd_texts)
def test_a_clean_name_is_one_line_with_single_spaces(text: str) -> None:
    name = clean_name(text)
    assert not NOT_ON_A_LINE.search(name)
    assert name == " ".join(name.split())
    assert set(name) - {" "} <= set(text)
    assert clean_name(name) == name


def test_every_character_keeps_its_place() -> None:
    text = "a\r\nb\x1b]0;title\x07\tc\x9b\x85d"
    assert printable(text) == "a \nb ]0;title \tc  d"


@given(odd_texts)
def test_what_is_shown_has_the_same_length(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode()  # a terminal can be given it


def test_white_space_stays_on_a_page() -> None:
    assert page_text("\t\n\v\f\r\x85\x00\x1b\x1f\x7f\x9b") == "\t\n\v\f\r\x85     "


def test_nothing_that_is_shown_changes_the_direction_of_writing() -> None:
    assert printable("a\u202etxt.exe\u202c b\u2067c\u2069") == "a\ufffdtxt.exe\ufffd b\ufffdc\ufffd"
    assert page_text("a\u202etxt") == "a\ufffdtxt"
    assert printable("\u200fשלום\u200e") == "\u200fשלום\u200e"  # marks that turn nothing around


def test_a_refused_character_is_named_with_its_field() -> None:
    half = r"^Topic.id holds the lone surrogate U\+D800 \(half a character\): 'Q1\\ud800'$"
    with pytest.raises(InputError, match=half):
        check_characters("Q1\ud800", "Topic.id")
    control = r"^'id' holds the control character U\+001B: '\\x1b\[2J'$"
    with pytest.raises(InputError, match=control):
        check_characters("\x1b[2J", "'id'", refused=NOT_ON_A_LINE)
    with pytest.raises(InputError, match=r"^'names' holds .*: '\.{30}\\x00,{30}'$"):
        check_characters("." * 99 + "\0" + "," * 99, "'names'", refused=NOT_IN_A_TEXT)
    assert describe("\x9b") == "the control character U+009B"


def test_what_may_stand_where() -> None:
    white_space = "\t\n\v\f\r\x85"
    check_characters(f"a{white_space}\xa0\xad\u200bé😀", "text", refused=NOT_IN_A_TEXT)
    assert all(NOT_ON_A_LINE.search(each) for each in white_space)
    check_characters("\x00\x1b\n", "id", refused=LONE_SURROGATE)
    for character in "\x00\x08\x0e\x1f\x7f\x84\x86\x9f\ud800\udfff":
        assert NOT_IN_A_TEXT.search(character)
        assert NOT_ON_A_LINE.search(character)


def test_a_refused_character_is_found_where_there_is_one() -> None:
    assert refused_in("Oslo \xa0 \u202e", NOT_IN_A_TEXT) is None
    assert refused_in("Os\tlo", NOT_IN_A_TEXT) is None
    assert refused_in("Os\tlo", NOT_ON_A_LINE) == "the control character U+0009"
    assert refused_in("Os\ud800", NOT_IN_A_TEXT) == "the lone surrogate U+D800 (half a character)"


@given(st.text())
def test_json_is_shown_without_what_a_terminal_obeys(text: str) -> None:
    shown = json_text({text: [text]}, indent=1)
    assert json.loads(shown) == {text: [text]}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert shown.encode()


def test_json_keeps_letters_of_all_languages() -> None:
    assert json_text(["Zürich 東京 \U0001f600"]) == '["Zürich 東京 \U0001f600"]'
    assert json_text(["\u202eoslO", "\ud800"]) == r'["\u202eoslO","\ud800"]'
