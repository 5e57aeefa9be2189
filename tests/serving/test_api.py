"""The API gives what the Python API gives, and refuses what it should in words."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import ANY

import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient
from starlette.types import Message

import lrlm
from lrlm.generation.generated_text import Piece
from lrlm.serving import answers, limits
from lrlm.serving.app import create_app
from lrlm.serving.explorer import Explorer
from lrlm.serving.limits import ServerLimits
from tests.serving.served import TEXT, TOPIC, client, error_of, shipped
from tests.toy_run import toy_run


@pytest.fixture(scope="module")
def api() -> Iterator[TestClient]:
    with client() as asking:
        yield asking


@pytest.fixture(scope="module")
def model() -> lrlm.Model:
    return shipped().model(None)


TOPIC_VALUE = lrlm.Topic.from_json(TOPIC)


def asked(api: TestClient, path: str, described: type[BaseModel], **content: Any) -> Any:
    """Ask for something, and hold the answer against its description."""
    answer = api.post(f"/api/v1/{path}", json=content)
    assert answer.status_code == 200, answer.text
    described.model_validate(answer.json())
    return answer.json()


def got(api: TestClient, path: str, described: type[BaseModel]) -> Any:
    answer = api.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    described.model_validate(answer.json())
    return answer.json()


def test_health(api: TestClient) -> None:
    content = got(api, "health", answers.HealthAnswer)
    assert content == {"status": "ok", "version": lrlm.__version__, "waiting": 0}


def test_models(api: TestClient) -> None:
    (only,) = got(api, "models", answers.ModelsAnswer)["models"]
    assert (only["name"], only["kind"], only["annotates"]) == ("miniworld", "lrlm", True)


def test_topics_are_found_by_name(api: TestClient) -> None:
    found = got(api, "topics?query=norwey&limit=3", answers.TopicsAnswer)["topics"]
    assert found[0]["id"] == "Norway"
    assert got(api, "topics?query=zzzzzzzz", answers.TopicsAnswer)["topics"] == []
    assert got(api, "topics?query=%20", answers.TopicsAnswer)["topics"] == []


def test_a_topic_by_its_id_and_an_unknown_one(api: TestClient) -> None:
    content = got(api, "topic?id=Norway", answers.TopicAnswer)
    assert content["relations"][0]["object"] == "Oslo"
    assert content["collection"] == "miniworld"
    answer = api.get("/api/v1/topic?id=Norwey")
    assert answer.status_code == 404
    assert "did you mean 'Norway'?" in error_of(answer)


def test_a_topic_by_hand_comes_back_cleaned(api: TestClient) -> None:
    content = asked(api, "topic", answers.TopicAnswer, id="x", names=["New\u00a0York "])
    assert content["names"] == ["New York"]


def test_the_name_of_a_type_goes_through(api: TestClient) -> None:
    fact = {"type": "P36", "label": "capital", "object": "Q585", "forms": ["Oslo"]}
    given = {"id": "Q20", "names": ["Norway"], "relations": [fact]}
    assert asked(api, "topic", answers.TopicAnswer, **given)["relations"] == [fact]
    text = "The capital of Norway is Oslo."
    found = asked(api, "annotate", answers.AnnotationAnswer, text=text, topic=given)
    (step,) = found["spans"][-1]["explanations"][0]["steps"]
    assert (step["type"], step["label"]) == ("P36", "capital")


def test_the_examples_hold_names_that_are_explained(api: TestClient) -> None:
    examples = got(api, "examples", answers.ExamplesAnswer)["examples"]
    assert len(examples) >= 3
    for example in examples:
        given = {"text": example["text"], "topic": example["topic"]["id"], "threshold": 0.5}
        spans = asked(api, "annotate", answers.AnnotationAnswer, **given)["spans"]
        assert len(spans) >= 6, example["title"]


def test_annotations_are_those_of_python(api: TestClient, model: lrlm.Model) -> None:
    content = asked(api, "annotate", answers.AnnotationAnswer, text=TEXT, topic=TOPIC)
    wanted = model.annotate(TEXT, TOPIC_VALUE).to_dict()
    assert content == json.loads(json.dumps(wanted))


def test_a_batch_is_as_one_by_one(api: TestClient) -> None:
    texts: list[dict[str, Any]] = [
        {"text": TEXT, "topic": TOPIC},
        {"text": "Oslo!", "topic": "Norway"},
    ]
    batch = asked(api, "annotate/batch", answers.AnnotationsAnswer, texts=texts)["annotations"]
    for content, given in zip(batch, texts, strict=True):
        alone = asked(api, "annotate", answers.AnnotationAnswer, **given)
        same_annotation(content, alone)


def same_annotation(content: Any, wanted: Any) -> None:
    """Compare annotations that were made in batches of different sizes."""
    if isinstance(wanted, dict):
        assert content.keys() == wanted.keys()
        for key in wanted:
            same_annotation(content[key], wanted[key])
    elif isinstance(wanted, list):
        assert len(content) == len(wanted)
        for each, other in zip(content, wanted, strict=True):
            same_annotation(each, other)
    elif isinstance(wanted, float):
        assert content == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    else:
        assert content == wanted


def test_a_bad_text_in_a_batch_is_named(api: TestClient) -> None:
    texts = [{"text": TEXT, "topic": "Norway"}, {"text": "\x07", "topic": "Norway"}]
    answer = api.post("/api/v1/annotate/batch", json={"texts": texts})
    assert answer.status_code == 422
    assert error_of(answer).startswith("texts[1]: the text has the control character U+0007")


def test_requests_at_once_are_answered_as_alone(api: TestClient) -> None:
    texts = [f"{TEXT} Number {number} is Oslo." for number in range(12)]

    def ask(text: str) -> Any:
        return asked(api, "annotate", answers.AnnotationAnswer, text=text, topic=TOPIC)

    alone = [ask(text) for text in texts]
    with ThreadPoolExecutor(12) as clients:
        for content, wanted in zip(clients.map(ask, texts), alone, strict=True):
            same_annotation(content, wanted)


def test_an_annotation_as_a_page(api: TestClient) -> None:
    given = {"text": TEXT, "topic": TOPIC, "format": "html", "threshold": 0.5}
    answer = api.post("/api/v1/annotate", json=given)
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.text.startswith("<!doctype html>")


CLAIM = "Norway is a country in Europe. The capital of Norway is Bergen."


def test_checks_are_those_of_python(api: TestClient, model: lrlm.Model) -> None:
    content = asked(api, "check", answers.CheckAnswer, text=CLAIM, topic=TOPIC)
    assert content == model.check(CLAIM, TOPIC_VALUE).to_dict() | {"findings": ANY}
    verdicts = {each["text"]: each["verdict"] for each in content["findings"]}
    assert verdicts == {"Europe": "supported", "Bergen": "contradicted"}
    assert content["findings"][1]["instead"] == [{"object": "Oslo", "name": "Oslo"}]
    assert content["findings"][1]["triple"] == ["Norway", "capital", "Bergen"]
    nothing = asked(api, "check", answers.CheckAnswer, text="no name", topic=TOPIC)
    assert nothing["findings"] == []
    page = api.post("/api/v1/check", json={"text": CLAIM, "topic": TOPIC, "format": "html"})
    assert page.headers["content-type"].startswith("text/html")
    assert "contradicted" in page.text


def test_a_batch_is_checked_as_one_by_one(api: TestClient) -> None:
    texts: list[dict[str, Any]] = [
        {"text": CLAIM, "topic": TOPIC},
        {"text": TEXT, "topic": "Norway"},
    ]
    checks = asked(api, "check/batch", answers.ChecksAnswer, texts=texts)["checks"]
    for made, given in zip(checks, texts, strict=True):
        alone = asked(api, "check", answers.CheckAnswer, **given)
        for found, one in zip(made["findings"], alone["findings"], strict=True):
            assert found["probability"] == pytest.approx(one.pop("probability"), abs=1e-5)
            assert found | one == found
    bad = {"texts": [texts[0], {**texts[1], "text": " "}]}
    answer = api.post("/api/v1/check/batch", json=bad)
    assert answer.status_code == 422
    assert error_of(answer) == "texts[1]: the text is empty: there is nothing to read"


def test_checks_at_once_have_their_own_thresholds(api: TestClient) -> None:
    def findings(threshold: float) -> int:
        given = {"text": CLAIM, "topic": TOPIC, "threshold": threshold}
        return len(asked(api, "check", answers.CheckAnswer, **given)["findings"])

    thresholds = [0.0, 0.5, 1.0] * 4
    with ThreadPoolExecutor(8) as clients:
        found = list(clients.map(findings, thresholds))
    assert found[:3] * 4 == found
    assert found[0] >= found[1] > found[2]


def test_texts_are_those_of_python(api: TestClient, model: lrlm.Model) -> None:
    options = {"samples": 2, "seed": 3, "max_length": 12, "prompt": "Norway", "top_k": 9}
    content = asked(api, "generate", answers.GenerationAnswer, topic=TOPIC, **options)
    wanted = model.generate(TOPIC_VALUE, **options)  # type: ignore[arg-type]
    assert [sample["text"] for sample in content["samples"]] == [each.text for each in wanted]
    assert api.post(
        "/api/v1/generate", json={"topic": TOPIC, "format": "html", "max_length": 5}
    ).text.startswith("<!doctype html>")


def test_a_wish_may_be_a_pair(api: TestClient) -> None:
    given = {"topic": TOPIC, "max_length": 30, "must_use": ["continent", ["capital", "Oslo"]]}
    (sample,) = asked(api, "generate", answers.GenerationAnswer, **given)["samples"]
    used = {piece.get("type") for piece in sample["pieces"]}
    assert {"continent", "capital"} <= used or not sample["ended"]


@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream"])
def test_a_stream_gives_the_same_text(api: TestClient, accept: str) -> None:
    given = {"topic": TOPIC, "seed": 5, "max_length": 15}
    answer = api.post("/api/v1/generate/stream", json=given, headers={"accept": accept})
    assert answer.headers["content-type"].startswith(accept)
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    contents = [json.loads(line) for line in lines]
    for content in contents:
        answers.StreamedLine.model_validate(content)
    assert contents[-1] == {"end": True}
    text = ""
    for content in contents[:-1]:
        piece = content["piece"]
        text = text.ljust(piece["start"]) + piece["text"]
    (sample,) = asked(api, "generate", answers.GenerationAnswer, **given)["samples"]
    assert text == sample["text"]


def test_what_is_wrong_with_a_stream_has_a_status(api: TestClient) -> None:
    given = {"topic": TOPIC, "must_use": ["no such type"]}
    answer = api.post("/api/v1/generate/stream", json=given)
    assert answer.status_code == 422
    assert "no such type" in error_of(answer)


def test_scores_are_those_of_python(api: TestClient, model: lrlm.Model) -> None:
    (content,) = asked(api, "score", answers.ScoresAnswer, text=TEXT, topic=TOPIC)["scores"]
    wanted = json.loads(model.score(TEXT, TOPIC_VALUE).to_json())
    assert content == {"model": "miniworld", **wanted}


def test_the_lattice_of_a_sentence(api: TestClient) -> None:
    start = TEXT.index("The")
    given = {"text": TEXT, "topic": TOPIC, "start": start, "end": len(TEXT)}
    content = asked(api, "lattice", answers.LatticeAnswer, **given)
    assert content["text"] == TEXT[start:]
    copied = [edge for edge in content["edges"] if "type" in edge]
    assert {edge["object"] for edge in copied} == {"Norway", "Oslo"}


def test_models_without_posteriors_score_but_do_not_annotate() -> None:
    models = {"toy": lrlm.Model(toy_run("vanilla"))}
    with client(Explorer(models, shipped().topics)) as api:
        answer = api.post("/api/v1/annotate", json={"text": TEXT, "topic": TOPIC})
        assert answer.status_code == 422
        assert "'toy' is a Vanilla LM" in error_of(answer)
        asked(api, "score", answers.ScoresAnswer, text="a b u", topic=TOPIC)
        answer = api.post("/api/v1/score", json={"text": "impossible", "topic": TOPIC})
        assert answer.status_code == 422
        assert "no finite probability" in error_of(answer)
        assert api.post("/api/v1/lattice", json={"text": TEXT, "topic": TOPIC}).status_code == 422


LONG = "a" * (limits.LONGEST_NAME + 1)


@pytest.mark.parametrize(
    ("path", "content", "told"),
    [
        ("annotate", {"topic": "Norway"}, "text: Field required"),
        ("annotate", {"text": "x", "topic": "Norway", "bogus": 1}, "bogus: Extra inputs"),
        ("annotate", {"text": "", "topic": "Norway"}, "text: String should have at least 1"),
        ("annotate", {"text": " ", "topic": "Norway"}, "the text is empty"),
        ("annotate", {"text": "a" * 20_001, "topic": "Norway"}, "at most 20000 characters"),
        ("annotate", {"text": "x", "topic": LONG}, "topic: String should have at most 500"),
        ("annotate", {"text": "x", "topic": {"id": LONG}}, "topic.id: String should have at most"),
        ("annotate", {"text": "x", "topic": {"id": "a\x00"}}, "'id' holds the control character"),
        (
            "annotate",
            {"text": "x", "topic": {"id": "a", "relations": [{"type": "@title", "object": "b"}]}},
            "'@title' is made from the topic's names",
        ),
        (
            "annotate",
            {"text": "x", "topic": {"id": "a", "relations": [{"type": "a", "object": "b"}] * 2001}},
            "topic.relations: List should have at most 2000 items",
        ),
        ("annotate", {"text": "x", "topic": {"id": "a", "names": ["b"] * 101}}, "topic.names"),
        ("annotate/batch", {"texts": []}, "texts: List should have at least 1"),
        ("annotate/batch", {"texts": [{"text": "a", "topic": "N"}] * 65}, "at most 64"),
        (
            "annotate/batch",
            {"texts": [{"text": "a" * 20_000, "topic": "N"}] * 11},
            "at most 200,000 characters",
        ),
        ("generate", {"topic": "Norway", "samples": 21}, "samples: Input should be less"),
        ("generate", {"topic": "Norway", "samples": 20, "max_length": 201}, "at most 4,000"),
        ("generate", {"topic": "Norway", "min_length": 9, "max_length": 3}, "min_length (9)"),
        ("generate", {"topic": "Norway", "temperature": 0}, "temperature"),
        ("generate", {"topic": "Norway", "seed": -1}, "seed"),
        ("generate", {"topic": "Norway", "prompt": "a" * 2001}, "prompt"),
        ("generate", {"topic": "Norway", "must_use": ["a"] * 21}, "must_use"),
        ("score", {"text": "x", "topic": "Norway", "models": ["m"] * 9}, "models"),
        ("lattice", {"text": "x", "topic": "Norway", "start": 3, "end": 2}, "before it starts"),
        ("lattice", {"text": "a b", "topic": "Norway", "start": 8, "end": 9}, "no words between"),
        ("lattice", {"text": "a " * 300, "topic": "Norway"}, "choose a sentence"),
    ],
)
def test_what_is_too_much_or_wrong_is_told(
    api: TestClient, path: str, content: Any, told: str
) -> None:
    answer = api.post(f"/api/v1/{path}", json=content)
    assert answer.status_code == 422
    assert told in error_of(answer)


@pytest.mark.parametrize("path", ["annotate", "generate", "score", "lattice", "generate/stream"])
def test_unknown_models_and_topics_are_not_found(api: TestClient, path: str) -> None:
    named = {"models": ["other"]} if path == "score" else {"model": "other"}
    text = {} if path.startswith("generate") else {"text": TEXT}
    answer = api.post(f"/api/v1/{path}", json={"topic": "Norway", **text, **named})
    assert (answer.status_code, "there is no model 'other'" in error_of(answer)) == (404, True)
    answer = api.post(f"/api/v1/{path}", json={"topic": "Atlantis", **text})
    assert (answer.status_code, "there is no topic 'Atlantis'" in error_of(answer)) == (404, True)


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"[" * 100_000, b'{"text": NaN}', b"9" * 5000, b'"\\ud800"', b""]
)
def test_what_is_no_json_is_refused(api: TestClient, body: bytes) -> None:
    answer = api.post(
        "/api/v1/annotate", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    error_of(answer)


def test_half_a_character_is_refused(api: TestClient) -> None:
    body = b'{"text": "a\\ud800", "topic": {"id": "\\udfff"}}'
    answer = api.post(
        "/api/v1/annotate", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    error_of(answer)


def test_a_fault_of_the_server_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("lrlm.serving.api.score_under", fail)
    with client() as api:
        answer = api.post("/api/v1/score", json={"text": TEXT, "topic": TOPIC})
        assert answer.status_code == 500
        assert error_of(answer) == "something went wrong here"


def test_more_than_can_wait_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> object:
        begun.set()
        go_on.wait(20)
        return shipped().model(None).score(TEXT, TOPIC_VALUE)

    monkeypatch.setattr("lrlm.serving.api.score_under", slow)
    few = ServerLimits(waiting=1, writers=1)
    given = {"text": TEXT, "topic": TOPIC}
    with client(limits=few) as api, ThreadPoolExecutor(2) as clients:
        waiting = [clients.submit(api.post, "/api/v1/score", json=given) for _ in range(2)]
        begun.wait(20)
        while api.get("/api/v1/health").json()["waiting"] < 2:
            pass
        answer = api.post("/api/v1/score", json=given)
        go_on.set()
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert "too much to do" in error_of(answer)
        assert [each.result().status_code for each in waiting] == [200, 200]


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def endless(*_: object, check: Any, **__: object) -> None:
        try:
            while True:
                check()
        finally:
            ended.set()

    monkeypatch.setattr("lrlm.serving.api.write", endless)
    with client(limits=ServerLimits(seconds=0.2)) as api:
        answer = api.post("/api/v1/generate", json={"topic": TOPIC})
        assert answer.status_code == 504
        assert "longer than 0.2 seconds" in error_of(answer)
        assert ended.wait(10), "the work goes on though nobody waits for it"


@pytest.mark.parametrize("path", ["generate", "generate/stream"])
def test_a_client_that_goes_away_stops_its_work(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(*_: object, check: Any = lambda: None, **__: object) -> Iterator[Piece]:
        try:
            while True:
                check()
                begun.set()
                yield Piece("a", 0, 1, "word", 0.0)
        finally:
            ended.set()

    monkeypatch.setattr("lrlm.serving.api.write", lambda *_, **options: list(endless(**options)))
    monkeypatch.setattr("lrlm.serving.desk.write_piecewise", endless)
    app = create_app(shipped())
    body = json.dumps({"topic": TOPIC}).encode()

    async def story() -> None:
        messages = iter([{"type": "http.request", "body": body}])

        async def receive() -> Message:
            for message in messages:
                return message
            await asyncio.to_thread(begun.wait, 20)
            return {"type": "http.disconnect"}

        async def send(_: Message) -> None:
            await asyncio.sleep(0)

        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/api/v1/{path}",
            "raw_path": f"/api/v1/{path}".encode(),
            "query_string": b"",
            "scheme": "http",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
            "app": app,
        }
        await asyncio.wait_for(app(scope, receive, send), 30)
        assert await asyncio.to_thread(ended.wait, 20), "the work goes on for nobody"

    asyncio.run(story())


def test_a_stream_that_breaks_says_so_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Iterator[Piece]:
        yield Piece("a", 0, 1, "word", 0.0)
        raise RuntimeError("a secret")

    monkeypatch.setattr("lrlm.serving.desk.write_piecewise", broken)
    with client() as api:
        answer = api.post("/api/v1/generate/stream", json={"topic": TOPIC})
        last = json.loads(answer.text.splitlines()[-1])
        assert last == {"error": "something went wrong here"}
