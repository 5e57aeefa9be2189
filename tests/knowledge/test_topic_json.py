"""Topics as JSON: the same topic back, and a clear word about what is missing."""

import json
from pathlib import Path

import pytest

from lrlm.errors import FormatError, InputError
from lrlm.knowledge import Relation, Topic, read_topic, topic_from_json, topic_to_json

TOPIC = Topic("Q1", ["Oslo", "Kristiania"], [Relation("country", "Q20", ["Norway"])])


def test_a_topic_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "topic.json"
    path.write_text(json.dumps(topic_to_json(TOPIC)), encoding="utf-8")
    assert read_topic(path) == TOPIC


def test_names_and_forms_may_be_left_out_or_single() -> None:
    content = {"id": "Oslo", "relations": [{"type": "country", "object": "Norway"}]}
    assert topic_from_json(content) == Topic("Oslo", relations=[Relation("country", "Norway")])
    assert topic_from_json({"id": "Q1", "names": "Oslo"}) == Topic("Q1", ["Oslo"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "must be a JSON object"),
        ({}, "lacks the field 'id'"),
        ({"id": 3}, "'id' must be a text, not 3"),
        ({"id": " "}, "not blank"),
        ({"id": "a", "name": "b"}, r"unknown field 'name'; did you mean 'names'\?"),
        (
            {"id": "a", "relations": [{"type": "t", "object": "o", "form": ["f"]}]},
            r"relation 1: unknown field 'form'; did you mean 'forms'\?",
        ),
        ({"id": "a", "names": [1]}, "'names' must be a list of texts"),
        ({"id": "a", "relations": {}}, "'relations' must be a list"),
        ({"id": "a", "relations": ["b"]}, "relation 1: must be a JSON object"),
        ({"id": "a", "relations": [{"type": "t"}]}, "relation 1: lacks the field 'object'"),
        ({"id": "a", "relations": [{"object": "o"}]}, "relation 1: lacks the field 'type'"),
        ({"id": "a", "relations": [{"type": "@title", "object": "o"}]}, "give it as names"),
    ],
)
def test_what_is_missing_is_named(content: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        topic_from_json(content, where="here")


def test_files_that_are_no_topic(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_topic(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(FormatError, match=r"bad\.json: not JSON"):
        read_topic(tmp_path / "bad.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not JSON"):
        read_topic(tmp_path / "bytes.json")
