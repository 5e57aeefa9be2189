"""Texts as people write them: linked as the run's corpus was, refused where they are no text."""

from dataclasses import replace

import pytest

from lrlm.errors import InputError, TextTooLongError
from lrlm.knowledge import Relation, Topic
from lrlm.runs.run import Run
from tests.toy_run import toy_run

TOPIC = Topic("t", ["Oslo"], [Relation("country", "Q20", ["Norway"])])


@pytest.fixture(scope="module")
def run() -> Run:
    return toy_run("lrlm")


def test_offsets_are_into_exactly_the_given_text(run: Run) -> None:
    text = "\r\n  Oslo, capital of\tNorway.\n\nNorway! 🎉 é"
    document = run.link(text, TOPIC)
    found = [
        text[document.tokens.starts[m.start] : document.tokens.ends[m.end - 1]]
        for m in document.mentions
    ]
    assert found == ["Oslo", "Norway", "Norway"]
    assert document.text is text
    assert (document.id, run.link(text, TOPIC, id="mine").id) == ("t", "mine")


def test_a_model_of_tokenised_text_reads_raw_text(run: Run) -> None:
    options = {**run.setup.manifest["link_options"], "profile": "spaces"}
    manifest = {**run.setup.manifest, "link_options": options}
    other = replace(run, setup=replace(run.setup, manifest=manifest))
    assert other.link("Oslo, Norway.", TOPIC).tokens.words == ["Oslo", ",", "Norway", "."]


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_an_empty_text(run: Run, text: str) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        run.link(text, TOPIC)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\ud800"])
def test_control_characters_are_named_with_their_place(run: Run, character: str) -> None:
    code = f"U\\+{ord(character):04X}"
    with pytest.raises(InputError, match=rf"{code}.* at character 7 \(line 2\)"):
        run.link(f"Oslo\nab{character}", TOPIC)


def test_a_text_that_is_too_long(run: Run) -> None:
    with pytest.raises(TextTooLongError, match="more than the 3"):
        run.link("Oslo", TOPIC, longest=3)


def test_what_is_no_text_and_no_topic(run: Run) -> None:
    with pytest.raises(InputError, match="a text must be a string, not int"):
        run.link(7, TOPIC)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"must be an lrlm\.Topic, not 'Oslo'"):
        run.link("Oslo", "Oslo")  # type: ignore[arg-type]
