"""One model shared by many threads gives what it gives in one thread, and goes on doing so."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import lrlm
from lrlm.runs.topics import MiniworldTopics

THREADS = 8
TOPICS = ("Norway", "France", "Danube", "Oxygen")


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def calls(model: lrlm.Model) -> list[Callable[[], object]]:
    """Annotate, score and generate, about several topics, with words that have to be spelled."""
    found: list[Callable[[], object]] = []
    for number, name in enumerate(TOPICS):
        topic = MiniworldTopics().topic(name)
        names = [form for relation in topic.relations[:6] for form in relation.forms[:2]]
        text = f"{name} zyx{number}qu is known for {', '.join(names)} and wug{number}s."
        found += [
            lambda text=text, topic=topic: model.annotate(text, topic).to_json(),  # type: ignore[misc]
            lambda text=text, topic=topic: model.score(text, topic).to_json(),  # type: ignore[misc]
            lambda topic=topic, seed=number: [  # type: ignore[misc]
                each.to_json()
                for each in model.generate(topic, samples=3, seed=seed, max_length=15)
            ],
        ]
    return found


@pytest.mark.usefixtures("eager_switching")
def test_one_model_in_many_threads() -> None:
    expected = [call() for call in calls(lrlm.load())]
    shared = calls(lrlm.load())
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(3):
            rounds = [pool.submit(call) for _ in range(THREADS // 2) for call in shared]
            results = [each.result() for each in rounds]
            assert results == expected * (THREADS // 2)
    assert [call() for call in shared] == expected
