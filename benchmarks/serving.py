"""Measure the explorer's server: how soon it answers, how fast, and how it holds under load.

    python -m benchmarks.serving [--requests 2000] [--texts 64] [--rounds 5]

A server is started as a process of its own, with the model that comes with the package. Clients
run in this process and share the machine with it, so absolute times depend on what else goes on.
The throughput is compared with that of `annotate_many` by the CPU time that the same texts take,
which other work on the machine disturbs least, and by the clock.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import re
import signal
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


class Asker:
    """One client on a connection of its own, with as little work of its own as can be."""

    def __init__(self, place: str) -> None:
        self._host = place.removeprefix("http://").rstrip("/")

    async def annotate_all(self, waiting: list[tuple[str, str]], times: Times) -> None:
        """Annotate one text after the other while some wait."""
        name, port = self._host.split(":")
        answers, requests = await asyncio.open_connection(name, int(port))
        while waiting:
            text, topic = waiting.pop()
            body = json.dumps({"text": text, "topic": topic}).encode()
            head = (
                f"POST /api/v1/annotate HTTP/1.1\r\nhost: {self._host}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            begin = time.perf_counter()
            requests.write(head.encode() + body)
            told = (await answers.readuntil(b"\r\n\r\n")).lower()
            length = re.search(rb"content-length: (\d+)", told)
            assert length is not None, told
            await answers.readexactly(int(length[1]))
            times.seconds.append(time.perf_counter() - begin)
            times.statuses[int(told.split()[1])] += 1
        requests.close()


async def closed_loop(
    place: str, texts: Sequence[tuple[str, str]], clients: int
) -> tuple[Times, float]:
    """Let some clients ask one after the other until all texts are annotated."""
    times, waiting = Times(), list(texts)
    begin = time.perf_counter()
    await asyncio.gather(*(Asker(place).annotate_all(waiting, times) for _ in range(clients)))
    return times, time.perf_counter() - begin


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
    """The same texts in one call of the Python API, JSON included."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        known = topics()
        self._model = lrlm.load()
        self._pairs = [(text, known[topic]) for text, topic in texts]
        self.seconds()

    def seconds(self) -> tuple[float, float]:
        """Annotate them all; give the CPU time, and the time on the clock."""
        cpu, clock = time.process_time(), time.perf_counter()
        for annotation in self._model.annotate_many(self._pairs):
            annotation.to_json()
        return time.process_time() - cpu, time.perf_counter() - clock


def measure(server: Server, texts: list[tuple[str, str]], rounds: int) -> None:
    """Print how a server does."""
    print(
        f"answers {server.start_seconds:.1f} s after its start (goal: 4),"
        f" {server.cpu_seconds():.1f} s of CPU time"
    )
    first, _ = asyncio.run(closed_loop(server.place, texts[:1], 1))
    print(f"first annotation: {1000 * first.seconds[0]:.0f} ms (goal: 300)")
    alone, _ = asyncio.run(closed_loop(server.place, texts, 1))
    print(f"one client: median {1000 * statistics.median(alone.seconds):.0f} ms")
    eight, _ = asyncio.run(closed_loop(server.place, texts * 4, 8))
    print(f"8 clients: 95 % within {1000 * eight.share(95):.0f} ms")

    many = ManyTexts(texts * 4)
    ratios: dict[str, list[float]] = {"by CPU time": [], "by the clock": []}
    for _ in range(rounds):
        before = server.cpu_seconds()
        _, clock = asyncio.run(closed_loop(server.place, texts * 4, 16))
        own = server.cpu_seconds() - before, clock
        for kind, alone_seconds, served_seconds in zip(ratios, many.seconds(), own, strict=True):
            ratios[kind].append(alone_seconds / served_seconds)
    for kind, found in ratios.items():
        told = ", ".join(f"{ratio:.2f}" for ratio in found)
        print(
            f"16 clients / annotate_many, {kind}: {statistics.median(found):.2f} of {told}"
            " (goal: 0.80)"
        )

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
    parser.add_argument("--texts", type=int, default=64)
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
