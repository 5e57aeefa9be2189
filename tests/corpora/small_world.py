"""Input files for a corpus about three rivers, written by hand."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lrlm.corpora.inputs import BuildInputs

TRIPLES = (
    "Rhine\tmouth\tNorth_Sea\tentity",
    "Rhine\tsource\tAlps\tentity",
    "Rhine\tlength\t1230 km\tliteral",
    "Rhine\tborders\tLiechtenstein\tentity",
    "Danube\tmouth\tBlack_Sea",
    "Danube\tlength\t2850 km\tliteral",
    "Elbe\tmouth\tNorth_Sea\tentity",
    "Amazon\tmouth\tAtlantic\tentity",
)
FORMS = (
    "Rhine\tRhine",
    "Rhine\tRhein",
    "Danube\tDanube",
    "North_Sea\tNorth Sea",
    "North_Sea\tGerman Ocean",
    "Black_Sea\tBlack Sea",
    "Alps\tAlps",
)
TRAIN: tuple[dict[str, Any], ...] = (
    {
        "id": "rhine",
        "topic": "Rhine",
        "title": "Rhine (river)",
        "text": "The Rhine flows 1,230 km from the Alps to the North Sea.",
    },
    {"id": "Danube", "text": "The Danube ends in the Black Sea, not in the Black Seas."},
)
TEST: tuple[dict[str, Any], ...] = ({"id": "Oder", "text": "The Oder is a river."},)


def write(
    folder: Path,
    *,
    triples: Iterable[str] = TRIPLES,
    forms: Iterable[str] = FORMS,
    **articles: Iterable[Mapping[str, Any] | str],
) -> BuildInputs:
    """Write input files; articles are JSON objects or lines, a file for each split."""
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "triples.tsv", triples)
    _lines(folder / "forms.tsv", forms)
    splits = articles or {"train": TRAIN, "test": TEST}
    for split, content in splits.items():
        lines = [line if isinstance(line, str) else json.dumps(line) for line in content]
        _lines(folder / f"{split}.jsonl", lines)
    return BuildInputs(
        folder / "triples.tsv",
        folder / "forms.tsv",
        {split: folder / f"{split}.jsonl" for split in splits},
    )


def write_large(folder: Path, articles: int, *, facts: int = 6) -> BuildInputs:
    """Write enough to be caught in the middle: so many topics with an article each, compressed."""
    triples, forms, texts = [], [], []
    for number in range(articles):
        topic = f"T{number}"
        objects = [f"O{(number * 31 + fact) % 997}" for fact in range(facts)]
        triples += [f"{topic}\tp{fact}\t{each}" for fact, each in enumerate(objects)]
        mentions = " ".join(f"then it met Object {each[1:]} ," for each in objects)
        text = f"Topic {number} began in {1000 + number % 1000} , {mentions} and ended ."
        texts.append(json.dumps({"id": topic, "text": text}))
        forms.append(f"{topic}\tTopic {number}")
    forms += [f"O{each}\tObject {each}" for each in range(997)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("triples", triples), ("forms", forms), ("train", texts)):
        packed = gzip.compress("\n".join(lines).encode(), compresslevel=1, mtime=0)
        (folder / f"{name}.gz").write_bytes(packed)
    return BuildInputs(folder / "triples.gz", folder / "forms.gz", {"train": folder / "train.gz"})


def as_arguments(inputs: BuildInputs, out: Path) -> list[str]:
    """Give what the command line needs to build from the inputs."""
    arguments = ["corpus", "build", "--out", str(out)]
    arguments += ["--triples", str(inputs.triples), "--forms", str(inputs.forms)]
    for split, path in inputs.articles.items():
        arguments += [f"--{split}", str(path)]
    return arguments


def digests(folder: Path) -> dict[str, str]:
    """Name every file in a folder by its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
