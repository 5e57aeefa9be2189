"""Annotate very many short texts in one process: memory and speed are the same at the end.

The texts are about changing topics and hold words that were never seen, so that whatever is
remembered from one text to the next has reason to grow. A process of its own does the work; its
memory and its computing time are taken after every fifty texts or more. The first fifth is left
out: by then caches are full and libraries have taken what they take. Times are compared by their
lower quartile, because other work on the machine makes some of them longer, but none shorter.
"""

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import lrlm
from benchmarks.faults.outcome import Outcome

FULL = {"texts": 100_000}
SHORT = {"texts": 20_000}

_LEAST = 50
_PARTS = 200
_GROWTH = 0.05
_SLOWER = 0.1
"""Times of the same work differ by nearly as much."""


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Annotate, and compare the last parts with the first."""
    del folder
    command = [sys.executable, "-m", "benchmarks.faults.many_texts"]
    command += [str(counts["texts"]), str(rng.randrange(1 << 30))]
    run_ = subprocess.run(command, capture_output=True, text=True, check=False)
    if run_.returncode:
        promise = "many short texts annotated in one process"
        return [Outcome(promise, counts["texts"], 0, (run_.stderr[-500:],))]
    parts = [json.loads(line) for line in run_.stdout.splitlines()]
    warm = parts[len(parts) // 5 :]
    memory = [part["memory"] for part in warm]
    seconds = [part["seconds"] for part in warm]
    middle = statistics.median(memory)
    growth = max(abs(each / middle - 1) for each in memory)
    half = len(seconds) // 2
    slower = _quartile(seconds[half:]) / _quartile(seconds[:half]) - 1
    texts = counts["texts"]
    rate = _part(texts) / _quartile(seconds)
    return [
        _outcome(
            f"{texts:,} short texts in one process: memory flat within {_GROWTH:.0%}",
            texts,
            growth <= _GROWTH,
            f"{min(memory) / 2**20:,.0f} to {max(memory) / 2**20:,.0f} MiB"
            f" ({growth:+.1%} of the median at most)",
        ),
        _outcome(
            f"{texts:,} short texts in one process: no slower at the end",
            texts,
            slower <= _SLOWER,
            f"the second half takes {slower:+.1%} computing time; {rate:,.0f} texts a second",
        ),
    ]


def _quartile(values: list[float]) -> float:
    return statistics.quantiles(values, n=4)[0]


def _part(texts: int) -> int:
    """How many texts are timed together."""
    return max(_LEAST, texts // _PARTS)


def _outcome(promise: str, texts: int, holds: bool, note: str) -> Outcome:
    return Outcome(promise, texts, texts if holds else 0, () if holds else (note,), note)


def _texts(count: int, seed: int) -> Iterator[tuple[str, lrlm.Topic]]:
    from lrlm.corpora.miniworld.facts import topics

    chance = random.Random(seed)
    known = list(topics().values())
    for number in range(count):
        topic = chance.choice(known)
        forms = [form for relation in topic.relations for form in relation.forms]
        names = chance.sample(forms, min(3, len(forms)))
        yield f"{topic.names[0]} of {' and '.join(names)} has zyx{number} wugs.", topic


def _memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))


def _main(count: int, seed: int) -> None:
    model = lrlm.load()
    part = _part(count)
    start = time.process_time()
    done = 0
    annotations = model.annotate_many(_texts(count, seed), bad_texts="raise")
    for done, annotation in enumerate(annotations, start=1):
        annotation.to_json()
        if done % part == 0:
            now = time.process_time()
            sys.stdout.write(json.dumps({"seconds": now - start, "memory": _memory()}) + "\n")
            start = now
    assert done == count


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
