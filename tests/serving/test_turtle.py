"""Topics in Turtle are read as a graph of a file reads them, and what is no Turtle is told."""

import sys
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from lrlm.serving import answers, limits
from lrlm.serving.turtle import read_turtle
from tests.serving.served import client, error_of
from tests.serving.test_api import asked

pytest.importorskip("pyoxigraph", reason="Turtle needs the extra rdf")


@pytest.fixture(scope="module")
def api() -> Iterator[TestClient]:
    with client() as asking:
        yield asking


TURTLE = """@prefix : <http://example.org/> .
:Norway :capital :Oslo ; :populationDensity 14 . :Oslo :country :Norway ."""


def test_topics_in_turtle(api: TestClient) -> None:
    content = asked(api, "topic/turtle", answers.TurtleAnswer, turtle=TURTLE)
    assert [each["name"] for each in content["topics"]] == ["Norway", "Oslo"]
    norway = content["topic"]
    assert norway["id"] == "http://example.org/Norway"
    facts = {each["type"]: each["forms"][0] for each in norway["relations"]}
    assert facts == {"capital": "Oslo", "population density": "14"}
    annotation = asked(
        api, "annotate", answers.AnnotationAnswer, text="Its capital is Oslo.", topic=norway
    )
    assert annotation["best"][0]["type"] == "capital"
    other = asked(
        api, "topic/turtle", answers.TurtleAnswer, turtle=TURTLE, id="http://example.org/Oslo"
    )
    assert other["topic"]["relations"][0]["forms"] == ["Norway"]


def test_a_type_that_a_model_has_learned_keeps_its_address() -> None:
    read = read_turtle(TURTLE, None, {"http://example.org/capital"})
    types = {each["label"]: each["type"] for each in read.topic["relations"]}
    assert types["capital"] == "http://example.org/capital"
    assert types["population density"] == "population density"


@pytest.mark.parametrize(
    ("turtle", "told"),
    [
        (":Norway :capital", "this does not look like Turtle"),
        ("a,b,c\nd,e,f\n", "this does not look like Turtle"),
        ("@prefix : <http://e.org/> .\n:a :b", "the Turtle cannot be read: line 2: not Turtle"),
        ("# nothing", "the Turtle cannot be read: "),
        ("x" * (limits.LONGEST_TURTLE + 1), "turtle: String should have at most 200000"),
    ],
)
def test_what_is_no_turtle_is_told(api: TestClient, turtle: str, told: str) -> None:
    answer = api.post("/api/v1/topic/turtle", json={"turtle": turtle})
    assert answer.status_code == 422
    error = error_of(answer)
    assert error.startswith(told)
    assert "/tmp" not in error
    assert ".ttl" not in error


def test_turtle_without_its_library_is_told(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    answer = api.post("/api/v1/topic/turtle", json={"turtle": TURTLE})
    assert answer.status_code == 501
    assert "pip install 'lrlm[rdf]'" in error_of(answer)
