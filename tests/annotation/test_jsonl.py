"""Texts as lines of JSON, and annotations as lines."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lrlm.annotation.jsonl import LineLinker, TextLine, annotate_lines, parse_line
from lrlm.errors import FormatError
from lrlm.knowledge import Topic
from lrlm.runs.run import Run
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import topics_for
from lrlm.text_files import BadLineError, BadLines
from tests.annotation.made import annotation
from tests.annotation.test_annotate import toy_run
from tests.toy import TOPIC

WHOLE = TOPIC.to_dict()


def line(**content: Any) -> str:
    return json.dumps(content)


def test_a_line_is_a_text_and_its_topic() -> None:
    assert parse_line(line(id="x", text="a b", topic="Q1")) == TextLine("x", "a b", "Q1")
    assert parse_line(line(id=7, text="a b", topic=WHOLE)) == TextLine("7", "a b", TOPIC)
    assert parse_line(line(text="a b", topic="Q1")).id == ""
    assert parse_line(line(text="a b")).topic is None  # to be found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not a JSON object"),
        (line(topic="a"), "lacks the field 'text'"),
        (line(text=1, topic="a"), "'text' must be a text"),
        (line(text="a", topic="a", id=[1]), "'id' must be"),
        (line(text="a", topic={"names": ["x"]}), "lacks the field 'id'"),
        (line(text="a", topic=3), "must be a JSON object"),
        ('{"text": "a", "topic": "a", "id": ' + "1" * 5000 + "}", "not JSON"),
        (line(text="a", topic="a", id="\ud800"), "'id' holds characters"),
        (line(text="a", topic={"id": "\x1b[2J"}), r"'id' holds the control character U\+001B"),
        (line(text="a", topic={"id": "a", "names": ["\ud800"]}), r"'names' holds .* U\+D800"),
    ],
)
def test_bad_lines_say_what_is_wrong(given: str, message: str) -> None:
    with pytest.raises(BadLineError, match=message):
        parse_line(given)


def test_a_collection_that_cannot_be_read_is_not_the_fault_of_a_line() -> None:
    class Damaged:
        def topic(self, name: str) -> Topic:
            raise FormatError("damaged")

    with pytest.raises(FormatError, match="damaged"):
        LineLinker(toy_run(), Damaged())(line(text="Norway.", topic="Norway"))


def test_topics_are_looked_up() -> None:
    linker = LineLinker(toy_run(), topics_for(Run.open(SHIPPED)))
    document = linker(line(text="Norway is in Europe.", topic="Norway", id="n"))
    assert (document.id, document.topic) == ("n", "Norway")
    assert document.mentions
    assert linker(line(text="Norway.", topic="Norway")).id == "Norway"
    with pytest.raises(BadLineError, match="no topic 'Norwey'; did you mean 'Norway'"):
        linker(line(text="Norway.", topic="Norwey"))
    with pytest.raises(BadLineError, match="the text is empty"):
        linker(line(text=" ", topic="Norway"))
    with pytest.raises(
        BadLineError,
        match="neither a graph nor a corpus was named to look the topic 'Norway' up in",
    ):
        LineLinker(toy_run())(line(text="a", topic="Norway"))
    with pytest.raises(BadLineError, match="more than the 3"):
        LineLinker(toy_run(), longest=3)(line(text="four", topic=WHOLE))


class Counting:
    """Counts how often a topic is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def topic(self, name: str) -> Topic:
        self.asked += 1
        return TOPIC


def test_a_topic_is_looked_up_once() -> None:
    topics = Counting()
    linker = LineLinker(toy_run(), topics)
    for _ in range(3):
        linker(line(text="a b", topic="t"))
    assert topics.asked == 1


def test_annotations_can_be_sent_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(annotation())) == annotation()


def test_lines_come_out_in_order_without_the_bad_ones() -> None:
    texts = ["a b u a b", "a", "u u a b b", "b a b"]
    raw = [line(id=str(n), text=text, topic=WHOLE).encode() for n, text in enumerate(texts)]
    raw.insert(2, b"{}")
    raw.insert(1, b"\xff")
    raw.insert(0, b"")
    bad = BadLines(max_share=0.5)
    found = [
        json.loads(each)
        for each in annotate_lines(raw, LineLinker(toy_run()), bad, where=Path("in.jsonl"))
    ]
    assert [each["id"] for each in found] == ["0", "1", "2", "3"]
    assert [each["text"] for each in found] == texts
    assert bad.count == 2
    assert bad.examples == [
        "in.jsonl:3: not UTF-8 at byte 1 of the line",
        "in.jsonl:5: lacks the field 'text'",
    ]
    with pytest.raises(FormatError, match=r"2 of 6 lines are bad"):
        list(annotate_lines(raw, LineLinker(toy_run()), BadLines(), where=Path("in.jsonl")))


def test_a_line_has_no_line_end_within() -> None:
    written = annotation("The United States\r\nof Bo\u0308b\n\u2028end").to_json()
    assert "\n" not in written
    assert json.loads(written)["text"].endswith("\n\u2028end")
