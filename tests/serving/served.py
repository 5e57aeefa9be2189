"""The explorer with the model that comes with the package, as tests ask it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from starlette.testclient import TestClient

from lrlm.serving.app import create_app
from lrlm.serving.explorer import Explorer
from lrlm.serving.guard import Doorkeeper
from lrlm.serving.limits import ServerLimits

ADDRESS = "http://localhost:8000"
TEXT = "Norway is a country in Europe. The capital of Norway is Oslo."
TOPIC = {
    "id": "Norway",
    "names": ["Norway"],
    "relations": [
        {"type": "capital", "object": "Oslo", "forms": ["Oslo", "Kristiania"]},
        {"type": "continent", "object": "Europe", "forms": []},
    ],
}


@cache
def shipped() -> Explorer:
    """Load the model once for all tests."""
    return Explorer.open()


@contextmanager
def client(
    explorer: Explorer | None = None,
    *,
    limits: ServerLimits | None = None,
    doorkeeper: Doorkeeper | None = None,
) -> Iterator[TestClient]:
    """Give a client of a server that runs in this process."""
    app = create_app(explorer or shipped(), limits=limits, doorkeeper=doorkeeper)
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as asking:
        yield asking


def error_of(answer: Any) -> str:
    """Give the sentence of a refusal, which has nothing else in it."""
    content = answer.json()
    assert content.keys() == {"status", "error"}
    assert content["status"] == answer.status_code
    assert "Traceback" not in content["error"]
    return str(content["error"])
