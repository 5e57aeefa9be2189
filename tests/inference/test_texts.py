"""Raw texts: linked as the corpus was, refused where they are no text."""

import pytest

from lrlm.corpora import LinkOptions, link_text
from lrlm.errors import InputError
from lrlm.knowledge import Relation, Topic
from lrlm.text import Profile

TOPIC = Topic("t", ["Oslo"], [Relation("country", "Q20", ["Norway"])])


def test_offsets_are_into_exactly_the_given_text() -> None:
    text = "\r\n  Oslo, capital of\tNorway.\n\nNorway! 🎉 é"
    document = link_text(text, TOPIC, LinkOptions())
    found = [
        text[document.tokens.starts[m.start] : document.tokens.ends[m.end - 1]]
        for m in document.mentions
    ]
    assert found == ["Oslo", "Norway", "Norway"]
    assert document.text is text


def test_a_model_of_tokenised_text_reads_raw_text() -> None:
    document = link_text("Oslo, Norway.", TOPIC, LinkOptions(Profile.SPACES))
    assert document.tokens.words == ["Oslo", ",", "Norway", "."]


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_an_empty_text(text: str) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        link_text(text, TOPIC, LinkOptions())


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\ud800"])
def test_control_characters_are_named_with_their_place(character: str) -> None:
    code = f"U\\+{ord(character):04X}"
    with pytest.raises(InputError, match=rf"{code} at character 7 \(line 2\)"):
        link_text(f"Oslo\nab{character}", TOPIC, LinkOptions())


def test_a_text_beyond_the_limit() -> None:
    with pytest.raises(InputError, match=r"1,048,576 characters, more than the 1,000,000"):
        link_text("word " * 209_715 + "x", TOPIC, LinkOptions())
    assert len(link_text("word " * 30, TOPIC, LinkOptions(), longest=150).tokens) == 30


def test_what_is_no_string() -> None:
    with pytest.raises(InputError, match="must be a string, not bytes"):
        link_text(b"Oslo", TOPIC, LinkOptions())  # type: ignore[arg-type]
