"""Use one model in eight threads at once: every call gives what it gives in one thread.

Threads take turns as often as they can. What each call should give comes from a model that no
other thread has seen; afterwards the shared model is asked again in one thread, for what it has
remembered may be wrong even where no call was.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import lrlm
from benchmarks.faults.outcome import MOST_FAILURES, Outcome
from lrlm.annotation.exports import annotation_to_conll
from lrlm.annotation.html import annotation_to_html
from lrlm.runs.topics import MiniworldTopics

FULL = {"calls": 2000, "topics": 8}
SHORT = {"calls": 96, "topics": 2}

_THREADS = 8
_TOPICS = ("Norway", "France", "Danube", "Oxygen", "Sweden", "Rhine", "Iron", "Italy")


Call = Callable[[], object]


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Make so many calls, in an order of chance, and compare them with those of one thread."""
    del folder
    names = _TOPICS[: counts["topics"]]
    wanted = {name: call() for name, call in _calls(lrlm.load(), names).items()}
    shared = _calls(lrlm.load(), names)
    order = [name for _ in range(counts["calls"] // len(shared) + 1) for name in shared]
    order = order[: counts["calls"]]
    rng.shuffle(order)
    with _eager_switching(), ThreadPoolExecutor(_THREADS) as pool:
        results = [(name, pool.submit(shared[name])) for name in order]
        failures = [_fault(name, result.result, wanted[name]) for name, result in results]
    afterwards = [_fault(name, call, wanted[name]) for name, call in shared.items()]
    return [
        _outcome(f"{_THREADS} threads on one model, all calls: equal to one thread's", failures),
        _outcome("the same model afterwards, in one thread: equal as well", afterwards),
    ]


def _outcome(promise: str, results: list[str | None]) -> Outcome:
    failures = [each for each in results if each is not None]
    held = len(results) - len(failures)
    return Outcome(promise, len(results), held, tuple(failures[:MOST_FAILURES]))


def _fault(name: str, call: Call, wanted: object) -> str | None:
    try:
        found = call()
    except Exception as error:  # noqa: BLE001  it is told
        return f"{name}: {type(error).__name__}: {str(error)[:150]}"
    return None if found == wanted else f"{name}: {str(found)[:80]!r}, not {str(wanted)[:80]!r}"


@contextmanager
def _eager_switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _calls(model: lrlm.Model, names: tuple[str, ...]) -> dict[str, Call]:
    """Give all calls about several topics, with words that have to be spelled."""
    return {
        f"{what} ({name})": call
        for number, name in enumerate(names)
        for what, call in _calls_about(model, name, number).items()
    }


def _calls_about(model: lrlm.Model, name: str, number: int) -> dict[str, Call]:
    topic = MiniworldTopics().topic(name)
    forms = [form for relation in topic.relations[:6] for form in relation.forms[:2]]
    text = f"{name} zyx{number}qu is known for {', '.join(forms)} and wug{number}s."
    texts = [text, f"It is {forms[0]}.", f"{name} lies near glorb{number}.", text[::-1]]
    fact = topic.relations[0]

    def annotate_edited() -> object:
        """Change facts of the topic between two calls."""
        changed = topic.replace(fact.type, fact.object, f"Blick{number}").add(
            lrlm.Relation("nickname", f"zyx{number}qu")
        )
        without = changed.remove("nickname")
        return [model.annotate(text, each).to_json() for each in (changed, without, topic)]

    def generated(**options: object) -> object:
        found = model.generate(topic, seed=number, max_length=12, **options)  # type: ignore[arg-type]
        return [each.to_json() for each in found]

    return {
        "score": lambda: model.score(text, topic).to_json(),
        "annotate": lambda: model.annotate(text, topic).to_json(),
        "annotate as HTML": lambda: annotation_to_html(model.annotate(text, topic), threshold=0.1),
        "annotate as CoNLL": lambda: annotation_to_conll(
            model.annotate(texts[1], topic), threshold=0.1
        ),
        "annotate many": lambda: [
            each.to_json()
            for each in model.annotate_many([(each, topic) for each in texts], batch_size=2)
        ],
        "annotate with edited facts": annotate_edited,
        "generate": lambda: generated(samples=3),
        "generate greedily": lambda: generated(samples=1, greedy=True),
        "generate from a prompt": lambda: generated(samples=2, top_k=20, prompt=f"{name} is"),
        "generate with a wish": lambda: generated(
            samples=2, temperature=0.7, must_use=[fact.type], only_known_names=True
        ),
        "stream": lambda: [
            (piece.text, piece.source)
            for piece in model.stream(topic, seed=number, max_length=10, top_p=0.9)
        ],
    }
