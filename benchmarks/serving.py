"""Measure the explorer's server: how soon it answers, how fast, and how it holds under load.

    python -m benchmarks.serving [--requests 2000] [--texts 256] [--rounds 5]

A server is started as a process of its own, with the model that comes with the package. Clients
run in this process and share the cores with it, so absolute times depend on what else goes on.
They send requests that were written before, over connections that stay open, and look into answers
only to find their end.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import re
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Self

import httpx

import lrlm
from lrlm.corpora.miniworld.corpus import generate
from lrlm.corpora.miniworld.facts import topics

PAGE = Path(lrlm.__file__).parent / "serving" / "page"


@dataclass
class Times:
    """Seconds that requests took, and how many were answered in which way."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int | str] = field(default_factory=Counter)

    def share(self, percent: int) -> float:
        """Give the seconds within which so many of a hundred requests were answered."""
        return sorted(self.seconds)[max(0, -(-len(self.seconds) * percent // 100) - 1)]


def articles(count: int) -> list[tuple[str, str]]:
    """Write articles that the model has not read, each with the id of its topic."""
    return [(article.text, article.topic) for article in generate("test", count)]


class Server:
    """`lrlm serve` in a process of its own."""

    def __init__(self) -> None:
        begin = time.perf_counter()
        command = [sys.executable, "-m", "lrlm", "serve", "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        told = re.search(r"http://\S+/", self._process.stdout.readline())
        assert told is not None, "the server did not start"
        self.place = told[0]
        while True:
            try:
                httpx.get(f"{self.place}api/v1/health")
                break
            except httpx.TransportError:
                time.sleep(0.01)
        self.start_seconds = time.perf_counter() - begin

    def cpu_seconds(self) -> float:
        """Give the CPU time that it has taken so far."""
        numbers = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=120)
        print(f"stopped with exit code {self._process.returncode}")


def encoded(place: str, texts: Sequence[tuple[str, str]]) -> list[bytes]:
    """Write the requests that ask for annotations, as they go over the wire."""
    host = place.removeprefix("http://").rstrip("/")
    requests = []
    for text, topic in texts:
        body = json.dumps({"text": text, "topic": topic}).encode()
        head = (
            f"POST /api/v1/annotate HTTP/1.1\r\nhost: {host}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        requests.append(head.encode() + body)
    return requests


class Asker:
    """One client on a connection of its own, with as little work of its own as can be."""

    def __init__(self, place: str) -> None:
        name, port = place.removeprefix("http://").rstrip("/").split(":")
        self.connection = socket.create_connection((name, int(port)))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answer, self._length, self._begin = bytearray(), 0, 0.0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self._answer.clear()
        self._length = 0
        self._begin = time.perf_counter()
        self.connection.sendall(request)

    def has_answer(self, times: Times) -> bool:
        """Read what has come; True where the answer is whole."""
        received = self.connection.recv(1 << 20)
        assert received, "the server has closed the connection"
        self._answer += received
        if not self._length:
            head, _, body = bytes(self._answer).partition(b"\r\n\r\n")
            told = re.search(rb"(?i)content-length: (\d+)", head)
            if not body or told is None:
                return False
            self._length = len(head) + 4 + int(told[1])
        if len(self._answer) < self._length:
            return False
        times.seconds.append(time.perf_counter() - self._begin)
        times.statuses[int(self._answer.split(maxsplit=2)[1])] += 1
        return True


def closed_loop(place: str, texts: Sequence[tuple[str, str]], clients: int) -> tuple[Times, float]:
    """Let some clients ask one after the other until all texts are annotated."""
    times, waiting = Times(), encoded(place, texts)[::-1]
    with selectors.DefaultSelector() as answering:
        askers = [Asker(place) for _ in range(min(clients, len(texts)))]
        begin = time.perf_counter()
        for asker in askers:
            answering.register(asker.connection, selectors.EVENT_READ, asker)
            asker.ask(waiting.pop())
        while len(times.seconds) < len(texts):
            for key, _ in answering.select():
                if key.data.has_answer(times) and waiting:
                    key.data.ask(waiting.pop())
        seconds = time.perf_counter() - begin
    for asker in askers:
        asker.connection.close()
    assert times.statuses == {200: len(texts)}, times.statuses
    return times, seconds


async def ask(client: httpx.AsyncClient, given: tuple[str, str], times: Times) -> None:
    """Annotate one text."""
    text, topic = given
    begin = time.perf_counter()
    try:
        answer = await client.post("api/v1/annotate", json={"text": text, "topic": topic})
    except httpx.TransportError as error:
        times.statuses[type(error).__name__] += 1
        return
    times.seconds.append(time.perf_counter() - begin)
    times.statuses[answer.status_code] += 1


async def crowd(place: str, texts: Sequence[tuple[str, str]], clients: int) -> Times:
    """Let many clients ask at once."""
    times = Times()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=place, timeout=600, limits=limits) as client:
        await asyncio.gather(*(ask(client, texts[n % len(texts)], times) for n in range(clients)))
    return times


def run_crowd(place: str, texts: Sequence[tuple[str, str]], clients: int) -> Times:
    """Let many clients ask at once, in a process of their own."""
    return asyncio.run(crowd(place, texts, clients))


def watch(place: str, meanwhile: Future[Times]) -> Times:
    """Look at the health check until something else is done, on a connection of its own."""
    health = Times()
    with httpx.Client(base_url=place, timeout=600) as client:
        while not meanwhile.done():
            begin = time.perf_counter()
            try:
                health.statuses[client.get("api/v1/health").status_code] += 1
            except httpx.TransportError as error:
                health.statuses[type(error).__name__] += 1
            health.seconds.append(time.perf_counter() - begin)
            time.sleep(0.005)
    return health


class ManyTexts:
    """The same texts in one call of the Python API, on all cores."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        known = topics()
        self._model = lrlm.load()
        self._pairs = [(text, known[topic]) for text, topic in texts]
        self.seconds()

    def seconds(self) -> tuple[float, float]:
        """Annotate them all; give the time on the clock, and the CPU time."""
        clock, cpu = time.perf_counter(), time.process_time()
        annotations = list(self._model.annotate_many(self._pairs))
        assert len(annotations) == len(self._pairs)
        return time.perf_counter() - clock, time.process_time() - cpu


def compare(server: Server, texts: list[tuple[str, str]], rounds: int) -> None:
    """Print how many texts a second 16 clients get annotated, beside one call of `annotate_many`.

    The server also reads requests and writes annotations as JSON, and shares the cores with its
    clients; the call does neither. Both are measured in turn, so that a machine that becomes slower
    meanwhile is slower for both.
    """
    many = ManyTexts(texts)
    closed_loop(server.place, texts, 16)
    ratios: dict[str, list[float]] = {"by the clock": [], "by CPU time": []}
    served, called, asking = [], [], []
    for _ in range(rounds):
        cpu, own_cpu = server.cpu_seconds(), time.process_time()
        _, clock = closed_loop(server.place, texts, 16)
        asking.append((time.process_time() - own_cpu) / len(texts))
        cpu = server.cpu_seconds() - cpu
        alone_clock, alone_cpu = many.seconds()
        ratios["by the clock"].append(alone_clock / clock)
        ratios["by CPU time"].append(alone_cpu / cpu)
        served.append(len(texts) / clock)
        called.append(len(texts) / alone_clock)
    print(
        f"16 clients: {statistics.median(served):.0f} texts a second"
        f" ({1000 * statistics.median(asking):.2f} ms of CPU time each in the clients);"
        f" annotate_many: {statistics.median(called):.0f}"
    )
    for kind, found in ratios.items():
        told = ", ".join(f"{ratio:.2f}" for ratio in found)
        print(f"  {kind}: {statistics.median(found):.2f} of {told} (goal: 0.80)")


def measure(server: Server, texts: list[tuple[str, str]], rounds: int) -> None:
    """Print how a server does."""
    print(
        f"answers {server.start_seconds:.1f} s after its start (goal: 4),"
        f" {server.cpu_seconds():.1f} s of CPU time"
    )
    first, _ = closed_loop(server.place, texts[:1], 1)
    print(f"first annotation: {1000 * first.seconds[0]:.0f} ms (goal: 300)")
    alone, _ = closed_loop(server.place, texts[:64], 1)
    print(f"one client: median {1000 * statistics.median(alone.seconds):.0f} ms")
    eight, _ = closed_loop(server.place, texts, 8)
    print(f"8 clients: 95 % within {1000 * eight.share(95):.0f} ms")
    compare(server, texts, rounds)

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as others:
        crowding = others.submit(run_crowd, server.place, texts, 200)
        health = watch(server.place, crowding)
        times = crowding.result()
    print(
        f"200 clients at once: {dict(times.statuses)}; health check {dict(health.statuses)},"
        f" 99 % within {1000 * health.share(99):.0f} ms (goal: 200)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    texts = articles(arguments.texts)

    size = sum(file.stat().st_size for file in PAGE.iterdir())
    print(f"the page: {size:,} bytes (goal: below 300,000)")
    with Server() as server:
        measure(server, texts, arguments.rounds)
    if arguments.requests and importlib.util.find_spec("schemathesis") is not None:
        from tests.serving.generated_requests import ask as ask_generated

        outcome = ask_generated(arguments.requests)
        print(
            f"generated requests: {outcome.statuses.total():,}, by status"
            f" {dict(sorted(outcome.statuses.items()))}, not as described: {len(outcome.failures)}"
        )
        for failure in outcome.failures[:10]:
            print(f"  {failure}")


if __name__ == "__main__":
    main()
