"""Script in texts, names and types stays text: in the API, and in the pages that can be kept."""

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tests.generators.injections import INJECTIONS
from tests.serving.served import client


@pytest.fixture(scope="module")
def api() -> Iterator[TestClient]:
    with client() as asking:
        yield asking


class Tags(HTMLParser):
    """Collects what a browser would see in a page: elements, and attributes that run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.running: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.running += [name for name, _ in attrs if name.startswith("on") or name == "href"]


def test_there_are_enough_of_them() -> None:
    assert len(set(INJECTIONS)) >= 50


def topic_with(string: str) -> dict[str, object]:
    return {
        "id": string,
        "names": [string],
        "relations": [{"type": string, "object": string, "forms": [string, "Oslo"]}],
    }


@pytest.mark.parametrize("path", ["annotate", "generate"])
def test_pages_to_keep_hold_no_element_of_a_user(api: TestClient, path: str) -> None:
    plain = {"id": "a", "names": ["a"], "relations": [{"type": "b", "object": "c"}]}
    more = {"text": "a b c"} if path == "annotate" else {"max_length": 4, "greedy": True}
    wanted = Tags()
    wanted.feed(api.post(f"/api/v1/{path}", json={"topic": plain, "format": "html", **more}).text)
    for string in INJECTIONS:
        if path == "annotate":
            more = {"text": f"{string} Oslo {string}"}
        given = {"topic": topic_with(string), "format": "html", **more}
        answer = api.post(f"/api/v1/{path}", json=given)
        assert answer.status_code == 200, (string, answer.text)
        seen = Tags()
        seen.feed(answer.text)
        assert set(seen.tags) <= set(wanted.tags) | {"b", "li", "i", "small", "tr", "td", "th"}
        assert seen.tags.count("script") == wanted.tags.count("script")
        assert seen.running == []


def test_answers_are_json_and_say_so(api: TestClient) -> None:
    for string in INJECTIONS:
        given = {"text": f"It is {string}.", "topic": topic_with(string)}
        answer = api.post("/api/v1/annotate", json=given)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.json()["text"] == given["text"]
        found = api.get("/api/v1/topics", params={"query": string})
        assert found.status_code == 200
        unknown = api.get("/api/v1/topic", params={"id": string})
        assert unknown.headers["content-type"] == "application/json"
