"""Where the server listens, and whom it answers there."""

import ipaddress
import socket

from lrlm.errors import InputError, TokenWantedError
from lrlm.serving.guard import LOOPBACK_NAMES, Doorkeeper

SHORTEST_TOKEN = 16
"""Characters; less can be guessed."""


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
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen on {host}, port {port}: {reason}") from None
    # Connections inherit it. Without, the second half of an answer waits 40 ms for the client.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address(listening: socket.socket) -> str:
    """Give the address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
