"""Two hundred clients at once: nobody is lost, and the server can still say that it is there."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.serving import Server, articles, run_crowd, watch

CLIENTS = 200
LONGEST_HEALTH_SECONDS = 1.0
"""On whatever machine this runs, beside whatever else; `python -m benchmarks.serving` measures."""


def test_a_crowd_is_answered_while_the_health_check_is_quick() -> None:
    with Server() as server, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as others:
        crowding = others.submit(run_crowd, server.place, articles(20), CLIENTS)
        health = watch(server.place, crowding)
        times = crowding.result()
    assert times.statuses == {200: CLIENTS}
    assert set(health.statuses) == {200}
    assert health.share(99) < LONGEST_HEALTH_SECONDS
