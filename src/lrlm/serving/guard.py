"""Stand before the application: who may ask, how much, and what a browser may do with the answer.

- A request must name this server as its host, so that no other name can be made to point here.
- A page of another origin gets nothing, and neither does a stranger where a token is wanted.
- A request has a bounded size, and has to arrive within some seconds.
- Every answer carries the headers that keep a browser from running or framing what it should not.
"""

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lrlm.serving.limits import ServerLimits

API = "/api/"
HEALTH = "/api/v1/health"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Whom the server answers."""

    hosts: Collection[str] = LOOPBACK_NAMES
    """Names by which it may be called, in lower case."""
    any_address: bool = False
    """Whether it may also be called by any number, as in 192.168.0.7."""
    token: str | None = None
    """What every request to the API has to know; None where only this machine can ask."""

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = host_name(host)
        return name in self.hosts or (self.any_address and _is_address(name))

    def knows_token(self, authorization: str) -> bool:
        """Whether an Authorization header has the token, if one is wanted."""
        if self.token is None:
            return True
        kind, _, given = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(), self.token.encode()
        )


def host_name(host: str) -> str:
    """Take the name out of a Host header: without the port, and without the brackets of IPv6.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("lrlm.example")
    ('localhost', '::1', 'lrlm.example')
    """
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _RefusedError(Exception):
    """A request that is not let in: the status and the sentence of the answer."""

    def __init__(self, status: int, told: str, **headers: str) -> None:
        super().__init__(told)
        self.status = status
        self.headers = headers


class Guard:
    """Lets in what may come in, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, *, doorkeeper: Doorkeeper, limits: ServerLimits) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no other protocol is spoken here
        has_begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message = {**message, "headers": _with_headers(scope, message.get("headers", ()))}
            await send(message)

        try:
            self._check(scope)
            body = await self._body(scope, receive)
        except _RefusedError as refused:
            await _refuse(send_guarded, refused)
            return
        if body is None:
            return  # the client has gone
        try:
            await self._app(scope, _replayed(body, receive), send_guarded)
        except Exception:
            if not has_begun:
                await _refuse(send_guarded, _RefusedError(500, "something went wrong here"))
            raise  # for the server's own log

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        host = headers.get("host", "")
        if not self._doorkeeper.knows_host(host):
            raise _RefusedError(421, "this server does not go by that name")
        if not scope["path"].startswith(API):
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{host.lower()}":
            raise _RefusedError(403, "pages of other origins are not answered")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise _RefusedError(403, "pages of other origins are not answered")
        if scope["path"] != HEALTH and not self._doorkeeper.knows_token(
            headers.get("authorization", "")
        ):
            raise _RefusedError(
                401,
                "this server wants a token: send it as 'Authorization: Bearer TOKEN'",
                **{"www-authenticate": "Bearer"},
            )

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Read the whole request, within bounds; None where the client left meanwhile."""
        most = self._limits.body
        too_large = _RefusedError(413, f"a request has at most {most:,} bytes")
        length = _headers(scope).get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
            raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise _RefusedError(408, "the request took too long to arrive") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, and then whatever comes: that the client has gone."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _with_headers(scope: Scope, headers: Any) -> list[tuple[bytes, bytes]]:
    cache = "no-store" if scope["path"].startswith(API) else "no-cache"
    told = {name.lower() for name, _ in headers}
    more = ((name.encode(), value.encode()) for name, value in HEADERS.items())
    missing = [(name, value) for name, value in more if name not in told]
    return [*headers, *missing, (b"cache-control", cache.encode())]


async def _refuse(send: Send, refused: _RefusedError) -> None:
    content = json.dumps({"status": refused.status, "error": str(refused)}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(content)),
        "connection": "close",
        **refused.headers,
    }
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": content})
