"""Who is let in, and what a browser may do with the answers."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message

from lrlm.errors import InputError, TokenWantedError
from lrlm.serving.addresses import doorkeeper_for
from lrlm.serving.guard import HEADERS, Doorkeeper, Guard, host_name
from lrlm.serving.limits import ServerLimits
from tests.serving.served import client, error_of

TOKEN = "a secret of 24 characters"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:8000", "localhost"),
        ("LOCALHOST", "localhost"),
        ("[::1]:8000", "::1"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("", ""),
    ],
)
def test_the_name_of_a_host(host: str, name: str) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "192.168.0.7"])
@pytest.mark.parametrize("path", ["/", "/api/v1/health"])
def test_foreign_hosts_are_refused(host: str, path: str) -> None:
    with client() as api:
        answer = api.get(path, headers={"host": host})
        assert answer.status_code == 421
        assert "does not go by that name" in error_of(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9000"},
        {"origin": "https://localhost:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused(headers: dict[str, str]) -> None:
    with client() as api:
        answer = api.get("/api/v1/models", headers=headers)
        assert answer.status_code == 403
        error_of(answer)


def test_our_own_page_is_answered_and_may_be_linked_to() -> None:
    with client() as api:
        own = {"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}
        assert api.get("/api/v1/models", headers=own).status_code == 200
        assert api.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_a_token_is_wanted_by_all_but_the_page_and_the_health_check() -> None:
    keeper = Doorkeeper(frozenset({"localhost"}), token=TOKEN)
    with client(doorkeeper=keeper) as api:
        assert api.get("/").status_code == 200
        assert api.get("/api/v1/health").status_code == 200
        for given in (None, f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer é", TOKEN):
            headers = {} if given is None else {"authorization": given.encode()}
            answer = api.get("/api/v1/models", headers=headers)  # type: ignore[arg-type]
            assert answer.status_code == 401
            assert "wants a token" in error_of(answer)
        knowing = {"authorization": f"Bearer {TOKEN}"}
        assert api.get("/api/v1/models", headers=knowing).status_code == 200


@pytest.mark.parametrize("path", ["/", "/script.js", "/api/v1/health", "/nothing", "/api/v1/x"])
def test_every_answer_has_the_headers(path: str) -> None:
    with client() as api:
        answer = api.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_a_refusal_has_the_headers_too() -> None:
    with client() as api:
        answer = api.get("/", headers={"host": "evil.example"})
        assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_large_bodies_are_refused() -> None:
    with client(limits=ServerLimits(body=1000)) as api:
        answer = api.post("/api/v1/annotate", content=b"a" * 1001)
        assert answer.status_code == 413
        assert error_of(answer) == "a request has at most 1,000 bytes"
        answer = api.post("/api/v1/annotate", content=iter([b"a" * 600, b"a" * 600]))
        assert answer.status_code == 413


def guarded(receive: Any, *, headers: list[tuple[bytes, bytes]], limits: ServerLimits) -> int:
    """Let a guard read a request that arrives as told; give the status of the answer."""
    sent: list[Message] = []

    async def app(*_: object) -> None:
        raise AssertionError("nothing should come this far")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/api/v1/annotate", "scheme": "http", "headers": headers}
    asyncio.run(Guard(app, doorkeeper=Doorkeeper(), limits=limits)(scope, receive, send))
    return int(sent[0]["status"]) if sent else 0


def test_a_request_that_does_not_arrive_is_given_up() -> None:
    async def never() -> Message:
        await asyncio.sleep(60)
        return {}

    headers = [(b"host", b"localhost")]
    assert guarded(never, headers=headers, limits=ServerLimits(body_seconds=0.05)) == 408


@pytest.mark.parametrize("length", [b"-1", b"9999999999999999999999999", b"\xb2", b"x"])
def test_a_strange_length_is_refused(length: bytes) -> None:
    async def never() -> Message:
        raise AssertionError("it is not read")

    headers = [(b"host", b"localhost"), (b"content-length", length)]
    assert guarded(never, headers=headers, limits=ServerLimits()) == 413


def test_a_client_that_leaves_while_it_sends_is_let_go() -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    assert guarded(gone, headers=[(b"host", b"localhost")], limits=ServerLimits()) == 0


def test_an_address_that_others_reach_wants_a_token() -> None:
    with pytest.raises(TokenWantedError, match=r"others can reach 0\.0\.0\.0: they need a token"):
        doorkeeper_for("0.0.0.0", None)
    with pytest.raises(InputError, match="at least 16"):
        doorkeeper_for("0.0.0.0", "short")
    keeper = doorkeeper_for("0.0.0.0", TOKEN, ("lrlm.example",))
    assert keeper.knows_host("192.168.0.7:8000")
    assert keeper.knows_host("lrlm.example")
    assert not keeper.knows_host("evil.example")
    assert not keeper.knows_token("")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_this_machine_alone_needs_none(host: str) -> None:
    assert doorkeeper_for(host, None).knows_token("")
