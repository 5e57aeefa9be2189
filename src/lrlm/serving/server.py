"""Run the explorer on an address of this machine until it is told to stop."""

import ipaddress
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from lrlm.errors import InputError
from lrlm.serving.app import create_app
from lrlm.serving.explorer import Explorer
from lrlm.serving.guard import LOOPBACK_NAMES, Doorkeeper
from lrlm.serving.limits import ServerLimits

SHORTEST_TOKEN = 16
"""Characters; less can be guessed."""

_LARGEST_HEADERS = 32 << 10
_TURN_SECONDS = 0.002
"""How long a thread computes before another gets its turn, as the event loop often has to."""


class TokenWantedError(InputError):
    """An address that others can reach wants a token."""


def doorkeeper_for(host: str, token: str | None, names: tuple[str, ...] = ()) -> Doorkeeper:
    """Say whom a server on this address answers; where others can reach it, they need a token.

    `names` are further names by which it may be called.
    """
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii()):
        raise InputError(f"a token has at least {SHORTEST_TOKEN} ASCII characters")
    if is_loopback(host):
        return Doorkeeper(LOOPBACK_NAMES | {host.lower(), *names}, token=token)
    if token is None:
        raise TokenWantedError(
            f"others can reach {host}: they need a token of at least {SHORTEST_TOKEN} characters"
        )
    own = {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    return Doorkeeper(LOOPBACK_NAMES | own | {*names}, any_address=True, token=token)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Open the port; 0 takes one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen on {host}, port {port}: {reason}") from None


def address(listening: socket.socket) -> str:
    """Give the address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Server(uvicorn.Server):
    """A server for which being told to stop is no error: it ends what it has begun."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGTERM and Ctrl-C as the wish to stop; a second Ctrl-C stops at once."""
        wishes = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in wishes}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    explorer: Explorer,
    listening: socket.socket,
    doorkeeper: Doorkeeper,
    *,
    limits: ServerLimits | None = None,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Answer on an open port until SIGTERM or Ctrl-C; begun requests are ended first."""
    limits = limits or ServerLimits()
    app = create_app(explorer, limits=limits, doorkeeper=doorkeeper)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        lifespan="on",
        h11_max_incomplete_event_size=_LARGEST_HEADERS,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=int(limits.drain_seconds),
    )
    sys.setswitchinterval(_TURN_SECONDS)
    started()
    _Server(config).run(sockets=[listening])
