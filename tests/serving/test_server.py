"""The server as a process: it says where it is, drains and stops; strangers need a token."""

import json
import os
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import lrlm
from lrlm.errors import InputError
from lrlm.serving.addresses import address, listen
from tests.processes import Started, lrlm_command

TOKEN = "a secret of 24 characters"


def place_of(server: Started) -> str:
    """Wait until the server says where it is."""

    def is_told() -> bool:
        return "http://" in server.output

    assert server.wait_until(is_told, seconds=300), server.errors
    found = re.search(r"http://\S+/", server.output)
    assert found is not None
    return found[0]


def asked(place: str, path: str, content: object = None, token: str | None = None) -> object:
    body = None if content is None else json.dumps(content).encode()
    headers = {"content-type": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"{place}api/v1/{path}", body, headers)
    for _ in range(100):  # it says where it is a moment before it listens there
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def test_sigterm_ends_what_was_begun(tmp_path: Path) -> None:
    with Started(lrlm_command("serve", "--port", "0"), tmp_path) as server:
        place = place_of(server)
        assert asked(place, "health") == {
            "status": "ok",
            "version": lrlm.__version__,
            "waiting": 0,
        }
        answers: list[object] = []
        given = {"topic": "Norway", "samples": 20, "max_length": 200, "min_length": 200}
        asking = threading.Thread(target=lambda: answers.append(asked(place, "generate", given)))
        asking.start()
        while not isinstance(told := asked(place, "health"), dict) or not told["waiting"]:
            assert asking.is_alive(), "it was too fast to be caught"
        os.kill(server.process.pid, signal.SIGTERM)
        asking.join(120)
        (answer,) = answers
        assert isinstance(answer, dict)
        assert len(answer["samples"]) == 20
        assert server.process.wait(60) == 0
        assert server.output.endswith("Stopped.\n")
        assert server.errors == ""


@pytest.mark.parametrize("ends", [True, False])
def test_a_head_without_end_is_refused(tmp_path: Path, ends: bool) -> None:
    with Started(lrlm_command("serve", "--port", "0"), tmp_path) as server:
        place = place_of(server)
        assert isinstance(asked(place, "health"), dict)
        port = int(place.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n")
            answer = b""
            try:
                for number in range(2_000):
                    line = f"x-{number}: " if ends else ""
                    connection.sendall(f"{line}{'a' * 1_000}".encode() + b"\r\n" * ends)
            except OSError:
                pass  # it has closed the connection
            while part := _received(connection):
                answer += part
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
        assert isinstance(asked(place, "health"), dict)


@pytest.mark.parametrize("ends", [True, False])
def test_trailers_without_end_are_refused(tmp_path: Path, ends: bool) -> None:
    with Started(lrlm_command("serve", "--port", "0"), tmp_path) as server:
        place = place_of(server)
        assert isinstance(asked(place, "health"), dict)
        port = int(place.rstrip("/").rpartition(":")[2])
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            head = b"POST /api/v1/topic HTTP/1.1\r\nhost: localhost\r\n"
            connection.sendall(head + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n")
            try:
                for number in range(2_000):
                    line = f"x-{number}: " if ends or not number else ""
                    connection.sendall(f"{line}{'a' * 1_000}".encode() + b"\r\n" * ends)
            except OSError:
                pass  # it has closed the connection
            answer = b""
            while part := _received(connection):
                answer += part
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
        assert time.monotonic() - begin < 8  # before the time of a request is over
        assert isinstance(asked(place, "health"), dict)


def test_many_requests_on_one_connection_have_long_heads_each(tmp_path: Path) -> None:
    with Started(lrlm_command("serve", "--port", "0"), tmp_path) as server:
        place = place_of(server)
        assert isinstance(asked(place, "health"), dict)
        port = int(place.rstrip("/").rpartition(":")[2])
        long = b"x-long: " + b"a" * 10_000
        request = b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n" + long + b"\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            for _ in range(10):
                connection.sendall(request)
                answer = b""
                while not answer.endswith(b"}"):
                    answer += connection.recv(4096)
                assert answer.startswith(b"HTTP/1.1 200 ")


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(4096)
    except ConnectionError:
        return b""


def test_another_address_wants_a_token_and_then_asks_for_it(tmp_path: Path) -> None:
    command = lrlm_command("serve", "--port", "0", "--host", "0.0.0.0", "--token", TOKEN)
    with Started(command, tmp_path) as server:
        place = place_of(server).replace("0.0.0.0", "127.0.0.1")
        assert TOKEN not in server.output
        assert asked(place, "models") == 401
        assert isinstance(asked(place, "models", token=TOKEN), dict)
        os.kill(server.process.pid, signal.SIGINT)
        assert server.process.wait(60) == 0


def test_a_port_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert address(first) == f"http://127.0.0.1:{port}/"
        with pytest.raises(InputError, match=rf"cannot listen on 127\.0\.0\.1, port {port}: "):
            listen("127.0.0.1", port)


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(InputError, match=r"cannot listen on 203\.0\.113\.1"):
        listen("203.0.113.1", 0)
    with pytest.raises(InputError, match="cannot listen on no such host"):
        listen("no such host", 0)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_the_address_of_ipv6_has_brackets() -> None:
    try:
        listening = listen("::1", 0)
    except InputError:
        pytest.skip("this machine has no IPv6")
    with listening:
        assert address(listening).startswith("http://[::1]:")
