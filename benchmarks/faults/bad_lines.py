"""Put bad lines of many kinds between good ones: each is told, and the good ones are read as ever.

Told means with its file, the number of its line, and a reason of one line. The formats, and what
can be wrong with their lines, are those of `tests.generators.bad_lines`.
"""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.faults.outcome import MOST_FAILURES, Outcome
from lrlm.annotation.jsonl import LineLinker
from lrlm.characters import NOT_ON_A_LINE
from lrlm.corpora.articles import parse_article
from lrlm.errors import FormatError
from lrlm.features.openke import read_openke
from lrlm.knowledge.extract import KnowledgeFile, extract
from lrlm.knowledge.sources import SourceFormat
from lrlm.knowledge.sources.tables import layout_of
from lrlm.knowledge.sources.triples import parse_fact, parse_form, parse_title
from lrlm.model import load
from lrlm.runs.topics import MiniworldTopics
from lrlm.text_files import BadLines, read_records
from tests.generators.bad_lines import LineFormat, formats, openke_ids

FULL = {"lines": 10_000, "bad": 500}
SHORT = {"lines": 400, "bad": 80}


_LONGEST_REASON = 400
_KINDS = 30
_Read = Callable[[Path], tuple[list[Any], list[str]]]
"""Reads a file; gives what its good lines say, and what is told of the others."""


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Try every format, with what reads it."""
    known = formats()
    readers: list[tuple[str, str, _Read]] = [
        ("triples", "a corpus", _records(parse_fact)),
        ("forms", "a corpus", _records(parse_form)),
        ("titles", "a corpus", _records(parse_title)),
        ("articles", "a corpus", _records(parse_article)),
        ("texts", "annotation", _records(LineLinker(load().run, MiniworldTopics()))),
        *(
            (format_.value, "a graph", _statements(format_, folder / f"parts-{number}"))
            for number, format_ in enumerate(SourceFormat)
            if format_.value in known
        ),
    ]
    outcomes = [
        _try(f"{name}, for {what}", known[name], read, folder, counts, rng)
        for name, what, read in readers
    ]
    return [*outcomes, _try_openke(folder, counts, rng)]


def _try(
    name: str,
    format_: LineFormat,
    read: _Read,
    folder: Path,
    counts: Mapping[str, int],
    rng: random.Random,
) -> Outcome:
    """Read a file with bad lines, and one without them."""
    lines = [format_.good(number) for number in range(1, counts["lines"] + 1)]
    clean, path = folder / "clean", folder / "lines"
    places = sorted(rng.sample(range(1, len(lines)), counts["bad"]))  # the first tells the format
    kinds = list(format_.bad)
    made = {place: kinds[number % len(kinds)] for number, place in enumerate(places)}
    good = [line for place, line in enumerate(lines) if place not in made]
    for place, kind in made.items():
        lines[place] = format_.bad[kind](place + 1)
    header = [] if format_.header is None else [format_.header]
    clean.write_bytes(b"\n".join([*header, *good]) + b"\n")
    path.write_bytes(b"\n".join([*header, *lines]) + b"\n")
    wanted, none = read(clean)
    found, told = read(path)
    failures = [f"{name}: a good line is told: {each}" for each in none]
    reasons = _by_line(told, path)
    for place, kind in made.items():
        line = place + 1 + len(header)
        reason = reasons.pop(line, "")
        if not reason or len(reason) > _LONGEST_REASON or NOT_ON_A_LINE.search(reason):
            failures.append(f"{name}, line {line} ({kind}) is told as {reason[:100]!r}")
    failures += [f"{name}, line {line}: a good line is told: {reasons[line]}" for line in reasons]
    if found != wanted:
        failures.append(f"{name}: good lines are read otherwise among bad ones")
    held = max(0, len(made) - len(failures))
    return Outcome(
        f"bad lines of {name}: told with file, line and reason; no neighbour changed",
        len(made),
        held,
        tuple(failures[:MOST_FAILURES]),
        f"{len(kinds)} kinds among {len(lines):,} lines"
        + (f", fewer than {_KINDS}" if len(kinds) < _KINDS else ""),
    )


def _by_line(told: list[str], path: Path) -> dict[int, str]:
    """Take what is told apart into lines and reasons."""
    reasons = {}
    for text in told:
        line, _, reason = text.removeprefix(f"{path}:").partition(": ")
        reasons[int(line) if line.isdecimal() else -1] = reason
    return reasons


def _records(parse: Callable[[str], Any]) -> _Read:
    def read(path: Path) -> tuple[list[Any], list[str]]:
        bad_lines = BadLines(max_share=0.5)
        return list(read_records(path, parse, bad_lines)), bad_lines.examples

    return read


def _statements(format_: SourceFormat, folder: Path) -> _Read:
    """Read as `lrlm kg build` does, in several parts; a statement's place does not count.

    What relation types are called is said once in every part, and counts once here.
    """

    def read(path: Path) -> tuple[list[Any], list[str]]:
        parts = folder / path.name
        parts.mkdir(parents=True)
        size = max(50_000, path.stat().st_size // 4)
        found = extract(
            [KnowledgeFile(path, format_, layout_of(path))],
            parts,
            language="en",
            max_bad=0.5,
            part_bytes=size,
        )
        rows = [
            row
            for part in found.files
            for row in pq.read_table(part).select(_SAID).to_pylist()
            if row["subject"] != "lines"
        ]
        said = dict.fromkeys(tuple(row.values()) for row in rows)
        return list(said), found.bad_lines.examples

    return read


_SAID = ["kind", "subject", "type", "object", "unit"]


def _try_openke(folder: Path, counts: Mapping[str, int], rng: random.Random) -> Outcome:
    """Put one bad line at a time into a list of ids, of which every line must be good."""
    count = counts["lines"] // 10
    format_ = openke_ids(count)
    lines = [format_.good(number) for number in range(count)]
    home = folder / "openke"
    home.mkdir()
    for name, rows in (("entity2vec.bin", count), ("relation2vec.bin", 0)):
        (home / name).write_bytes(b"\0" * 4 * rows)
    (home / "relation2id.txt").write_text("0\n")
    path = home / "entity2id.txt"
    kinds = list(format_.bad)
    failures = []
    for number in range(counts["bad"]):
        place, kind = rng.randrange(count), kinds[number % len(kinds)]
        changed = [*lines[:place], format_.bad[kind](place), *lines[place + 1 :]]
        path.write_bytes(b"%d\n" % count + b"\n".join(changed) + b"\n")
        told = "nothing"
        try:
            read_openke(home, nodes={"Q1"}, types=set(), width=1)
        except FormatError as error:
            told = str(error)
        if not told.startswith(f"{path}:{place + 2}: ") or NOT_ON_A_LINE.search(told):
            failures.append(f"OpenKE, line {place + 2} ({kind}) is told as {json.dumps(told)}")
    return Outcome(
        "bad lines of OpenKE's ids: told with file, line and reason",
        counts["bad"],
        counts["bad"] - len(failures),
        tuple(failures[:MOST_FAILURES]),
        f"{len(kinds)} kinds, one at a time: every line must be good",
    )
