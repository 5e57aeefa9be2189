"""Compare ways to find all names of a graph in a text: time to make, memory, words per second.

    python -m benchmarks.names [FORMS.tsv.gz TEXTS.jsonl.gz] [--names 1000000] [--texts 1000]

FORMS has an entity and one of its names on each line, TEXTS articles; without them, names and
texts are drawn at random. Names beyond those of the file are drawn from its words. Each way is
measured in a process of its own:

    fingerprints    what the package uses (`lrlm.topics.names`), made in memory
    mapped          the same, opened from files
    first word      a dictionary from the first word of a name to the names, as linking has it
    aho-corasick    ahocorasick_rs (pip install ahocorasick_rs), over the words with a mark between
                    them
"""

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from lrlm.text import split_words
from lrlm.topics.names import NameDictionary

Name = tuple[str, ...]
Finder = Callable[[Sequence[str]], int]
"""Counts the names in a text."""


def fingerprints(names: Sequence[Name]) -> Finder:
    dictionary = NameDictionary.of((name, number) for number, name in enumerate(names))
    return lambda words: len(dictionary.find(words))


def mapped(names: Sequence[Name]) -> Finder:
    folder = Path(tempfile.mkdtemp())
    fields = ("beginnings", "names_K", "first_K1", "things_P")
    made = NameDictionary.of((name, number) for number, name in enumerate(names))
    for field in fields:
        np.save(folder / f"{field}.npy", getattr(made, field))
    del made

    def opened() -> NameDictionary:
        arrays = (np.load(folder / f"{field}.npy", mmap_mode="r") for field in fields)
        return NameDictionary(*(each.view(np.ndarray) for each in arrays))

    begun = time.perf_counter()
    dictionary = opened()
    opened_in = time.perf_counter() - begun
    print(f"  opened in {1000 * opened_in:.1f} ms", file=sys.stderr)
    return lambda words: len(dictionary.find(words))


def first_word(names: Sequence[Name]) -> Finder:
    by_first: dict[str, list[Name]] = {}
    for name in names:
        by_first.setdefault(name[0], []).append(name)

    def find(words: Sequence[str]) -> int:
        text = tuple(words)
        return sum(
            text[start : start + len(name)] == name
            for start, word in enumerate(text)
            for name in by_first.get(word, ())
        )

    return find


def aho_corasick(names: Sequence[Name]) -> Finder:
    from ahocorasick_rs import AhoCorasick

    automaton = AhoCorasick([_marked(name) for name in names])

    def find(words: Sequence[str]) -> int:
        return len(automaton.find_matches_as_indexes(_marked(words), overlapping=True))

    return find


def _marked(words: Sequence[str]) -> str:
    return "\t".join(["", *words, ""])


WAYS = {
    "fingerprints": fingerprints,
    "mapped": mapped,
    "first word": first_word,
    "aho-corasick": aho_corasick,
}


def inputs(arguments: argparse.Namespace) -> tuple[list[Name], list[list[str]]]:
    dice = random.Random(1)
    names: dict[Name, None] = {}
    texts = []
    if arguments.forms is not None:
        with gzip.open(arguments.forms, "rt", encoding="utf-8") as lines:
            forms = (line.rstrip("\n").split("\t")[1] for line in lines)
            names = dict.fromkeys(words for form in forms if (words := split_words(form)))
        with gzip.open(arguments.articles, "rt", encoding="utf-8") as lines:
            first = islice(lines, arguments.texts)
            texts = [json.loads(line)["text"].split() for line in first]
    drawn = sorted({word for name in names for word in name}) or [f"w{n}" for n in range(100_000)]
    texts = texts or [dice.choices(drawn, k=200) for _ in range(arguments.texts)]
    while len(names) < arguments.names:
        names[tuple(dice.choices(drawn, k=dice.randint(2, 3)))] = None
    return list(names), texts


def measure(way: str, arguments: argparse.Namespace) -> None:
    names, texts = inputs(arguments)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    find = WAYS[way](names)
    made = time.process_time() - begun
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    begun = time.process_time()
    found = sum(map(find, texts))
    seconds = time.process_time() - begun
    speed = sum(map(len, texts)) / seconds
    print(
        f"{way:14} {len(names):>10,} names  made in {made:6.1f} s  {memory:7.0f} MB more"
        f"  {speed / 1000:8,.0f} k words/s  {found:,} found"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forms", nargs="?")
    parser.add_argument("articles", nargs="?")
    parser.add_argument("--names", type=int, default=0)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--way", choices=WAYS)
    arguments = parser.parse_args()
    if arguments.way is not None:
        measure(arguments.way, arguments)
        return
    for way in WAYS:
        command = [sys.executable, "-m", "benchmarks.names", *sys.argv[1:], "--way", way]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
