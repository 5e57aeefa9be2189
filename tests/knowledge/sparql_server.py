"""A SPARQL endpoint on loopback: a small HTTP front for a store of pyoxigraph."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


@dataclass
class Mishap:
    """What the server does instead of answering."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    is_silent: bool = False
    """Says nothing until the test is over."""
    is_cut: bool = False
    """Promises more than it sends."""


class _Handler(BaseHTTPRequestHandler):
    server: "SparqlServer"
    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        query = parse_qs(self.rfile.read(length).decode())["query"][0]
        self.server.queries.append(query)
        self.server.agents.append(self.headers["User-Agent"])
        if self.server.mishaps:
            self._fail(self.server.mishaps.pop(0))
            return
        import pyoxigraph

        try:
            solutions = self.server.store.query(query)
            assert isinstance(solutions, pyoxigraph.QuerySolutions)
            body = solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON) or b""
        except SyntaxError as error:
            self._fail(Mishap(400, str(error).encode()))
            return
        self._fail(Mishap(200, body, {"Content-Type": "application/sparql-results+json"}))

    def _fail(self, mishap: Mishap) -> None:
        if mishap.is_silent:
            self.server.over.wait(30)
            return
        self.send_response(mishap.status)
        for name, value in mishap.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(mishap.body) + 10 * mishap.is_cut))
        self.end_headers()
        self.wfile.write(mishap.body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class SparqlServer(ThreadingHTTPServer):
    """Answers queries to a store, unless the next mishap is due."""

    daemon_threads = True

    def __init__(self, turtle: str) -> None:
        import pyoxigraph

        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = pyoxigraph.Store()
        self.store.load(turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)
        self.queries: list[str] = []
        self.agents: list[str] = []
        self.mishaps: list[Mishap] = []
        self.over = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/sparql"


@contextmanager
def sparql_server(turtle: str) -> Iterator[SparqlServer]:
    """Serve the statements of a Turtle text while the block runs."""
    with SparqlServer(turtle) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
