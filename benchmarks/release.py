"""Time the import of a release archive as large as the paper's: run `python -m benchmarks.release`.

The published archives are not needed: one of the same shape is generated, with as many articles,
tokens, relations and mentions as the paper states for its training splits (lengths and numbers of
relations are spread log-normally about these means). The pickles are laid out as Python's own
pickler lays them out, with the lists of forms shared by all articles that refer to an entity.
The import runs in a process of its own; "memory" is its largest resident size.
"""

import argparse
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

import torch


@dataclass(frozen=True)
class Shape:
    """How large a corpus is; the numbers of an article are means."""

    articles: int
    held_out: int
    tokens: float
    relations: float
    mentions: float
    entities: int
    words: int


SHAPES = {
    "wikifacts": Shape(7_856, 1_000, 157, 82.7, 9.6, entities=250_000, words=60_000),
    "wikitext": Shape(27_685, 60, 3_560, 11.4, 73, entities=150_000, words=260_000),
}

_BATCH = 1000
"""Python's pickler puts so many items into a list at a time."""
_RELATION_TYPES = 800
_WIDTH = 50


class PickleWriter:
    """Writes pickles of protocol 3, as Python's own pickler does, without holding them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._parts: list[bytes] = [b"\x80\x03"]
        self._memory = 0
        self._shared: dict[int, int] = {}

    def write(self, value: Any) -> None:
        """Write a value; the same object written a second time is referred to."""
        if type(value) is int:
            self._parts.append(_integer(value))
            return
        place = self._shared.get(id(value))
        if place is not None:
            self._get(place)
            return
        if type(value) is str:
            data = value.encode()
            self._parts.append(b"X" + struct.pack("<I", len(data)) + data)
            if len(value) == 1 and value < "\u0100":
                self._shared[id(value)] = self._memory  # Python has each of these once
            self._put()
        elif type(value) is list:
            self.begin_list()
            for start in range(0, len(value), _BATCH):
                self.add_batch(value[start : start + _BATCH])
        else:
            if len(value) > 3:
                self._parts.append(b"(")
            for each in value:
                self.write(each)
            self._parts.append({1: b"\x85", 2: b"\x86", 3: b"\x87"}.get(len(value), b"t"))
            self._put()
        if len(self._parts) > 100_000:
            self.flush()

    def share(self, value: list[Any]) -> None:
        """Write a list that will be referred to; it must live as long as the writer."""
        if id(value) not in self._shared:
            place = self._memory
            self.write(value)
            self._shared[id(value)] = place
        else:
            self._get(self._shared[id(value)])

    def begin_list(self) -> None:
        """Open a list, whose items follow in batches."""
        self._parts.append(b"]")
        self._put()

    def add_batch(self, items: Sequence[Any]) -> None:
        """Add up to a thousand items to the open list."""
        self.begin_batch(len(items))
        for each in items:
            self.write(each)
        self.end_batch(len(items))

    def begin_batch(self, size: int) -> None:
        """Begin so many items of the open list."""
        self._parts.append(b"(" if size > 1 else b"")

    def end_batch(self, size: int) -> None:
        """End the items that were begun."""
        self._parts.append(b"e" if size > 1 else b"a")

    def article(self, tokens: list[str], topic: str, relations: list[Any]) -> None:
        """Write one article; the forms of its relations are shared."""
        self.write(tokens)
        self.write(topic)
        self.begin_list()
        for start in range(0, len(relations), _BATCH):
            batch = relations[start : start + _BATCH]
            self.begin_batch(len(batch))
            for type_, object_, forms in batch:
                self._parts.append(_integer(type_) + _integer(object_))
                self.share(forms)
                self._parts.append(b"\x87")
                self._put()
            self.end_batch(len(batch))
        self._parts.append(b"\x87")
        self._put()

    def close(self) -> None:
        """End the pickle."""
        self._parts.append(b".")
        self.flush()

    def flush(self) -> None:
        """Write what waits."""
        self._stream.write(b"".join(self._parts))
        self._parts.clear()

    def _put(self) -> None:
        number = self._memory
        self._parts.append(
            b"q" + bytes((number,)) if number < 256 else b"r" + struct.pack("<I", number)
        )
        self._memory += 1

    def _get(self, place: int) -> None:
        self._parts.append(
            b"h" + bytes((place,)) if place < 256 else b"j" + struct.pack("<I", place)
        )


def _integer(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K" + bytes((value,))
    if 0 <= value < 1 << 16:
        return b"M" + struct.pack("<H", value)
    return b"J" + struct.pack("<i", value)


class World:
    """Words, and entities with their forms, from which articles are made."""

    def __init__(self, shape: Shape, seed: int = 1) -> None:
        self._shape, self._chance = shape, random.Random(seed)
        letters = "etaoinshrdlcumwfgypbvkjxqzéü"
        words = (
            "".join(self._chance.choices(letters, k=self._chance.choice((3, 4, 5, 6, 7, 8, 9, 11))))
            for _ in range(shape.words)
        )
        self._words = [",", ".", "a", "@-@", "<unk>", *dict.fromkeys(words)]
        self._frequency = list(accumulate(1 / (rank + 3) for rank in range(len(self._words))))
        names = self._chance.choices(self._words[5:], k=6 * shape.entities)
        self.forms = [
            [
                " ".join((*names[6 * entity + first : 6 * entity + last], "")).rstrip()
                for first, last in ((0, 2), (2, 3), (3, 6))[: 1 + entity % 3]
            ]
            for entity in range(shape.entities)
        ]

    def article(self, number: int) -> tuple[list[str], str, list[Any], list[Any]]:
        """Make tokens, topic, relations and spans."""
        size = max(5, round(self._spread(self._shape.tokens, 0.6)))
        # The words of a text are objects of their own, as they are after reading.
        words = self._chance.choices(self._words, cum_weights=self._frequency, k=size)
        count = max(1, round(self._spread(self._shape.relations, 0.9)))
        objects = [int(len(self.forms) * self._chance.random() ** 2) for _ in range(count)]
        relations: list[Any] = [(-3, -1, [f"{words[0]} {number}"])]
        relations += [
            (self._chance.randrange(_RELATION_TYPES), entity, self.forms[entity])
            for entity in objects
        ]
        spans = []
        place = 0
        mentions = round(self._shape.mentions)
        tokens: list[str] = []
        for at in sorted(self._chance.randrange(size) for _ in range(mentions)):
            tokens += words[place:at]
            place = at
            index = self._chance.randrange(1, len(relations))
            type_, _, forms = relations[index]
            form = self._chance.randrange(len(forms))
            start = len(tokens)
            tokens += forms[form].split()
            spans.append((start, len(tokens), type_, index, form))
        tokens += words[place:]
        return tokens, f"Q{number}", relations, spans

    def _spread(self, mean: float, sigma: float) -> float:
        return mean * self._chance.lognormvariate(-(sigma**2) / 2, sigma)


def write_release(folder: Path, shape: Shape) -> None:
    """Write the files of a release."""
    import pickle

    world = World(shape)
    number = 0
    for split, articles in (
        ("train", shape.articles),
        ("valid", shape.held_out),
        ("test", shape.held_out),
    ):
        with (
            (folder / f"{split}.pkl").open("wb") as texts,
            (folder / f"{split}.span.pkl").open("wb") as places,
        ):
            writer, spans_writer = PickleWriter(texts), PickleWriter(places)
            writer.begin_list()
            spans_writer.begin_list()
            for start in range(0, articles, _BATCH):
                size = min(_BATCH, articles - start)
                writer.begin_batch(size)
                spans_writer.begin_batch(size)
                for _ in range(size):
                    number += 1
                    tokens, topic, relations, spans = world.article(number)
                    writer.article(tokens, topic, relations)
                    spans_writer.write(spans)
                writer.end_batch(size)
                spans_writer.end_batch(size)
            writer.close()
            spans_writer.close()
    names = {type_: f"relation {type_}" for type_ in range(_RELATION_TYPES)}
    (folder / "rel_names.pkl").write_bytes(pickle.dumps(names, protocol=3))
    for name, rows in (("entity", shape.entities), ("relation", _RELATION_TYPES)):
        torch.save(torch.randn(rows, _WIDTH), folder / f"{name}_vec.pt")
    (folder / "unk_probs.txt").write_text(
        "".join(f"word{n}\t-{n % 20}.5\n" for n in range(200_000))
    )


def generated(folder: Path, name: str, share: float) -> Path:
    """Make the archive, unless it is there from an earlier run."""
    path = folder / f"{name}-{share:g}.tar.gz"
    if not path.is_file():
        print(f"generating {path.name} …", flush=True)
        whole = SHAPES[name]
        shape = Shape(
            round(whole.articles * share), max(1, round(whole.held_out * share)), whole.tokens,
            whole.relations, whole.mentions, round(whole.entities * share), whole.words,
        )  # fmt: skip
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            write_release(Path(scratch), shape)
            draft = folder / f"draft-{path.name}"
            with tarfile.open(draft, "w:gz", compresslevel=1) as archive:
                for file in sorted(Path(scratch).iterdir()):
                    print(f"  {file.name}: {file.stat().st_size / 1e6:,.1f} MB", flush=True)
                    archive.add(file, f"{name}/{file.name}")
        draft.rename(path)
    return path


_IMPORT = """
import sys, time
from pathlib import Path
from lrlm.corpora.importers import import_release
begin = time.perf_counter()
corpus = import_release(sys.argv[2], sys.argv[1], overwrite=True)
took = time.perf_counter() - begin
status = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) / 1e6 for line in status if line.startswith("VmHWM:"))
print(f"{corpus}: {took:,.0f} s ({time.process_time():,.0f} s of computing), memory {peak:.2f} GB")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", default=list(SHAPES), help=", ".join(SHAPES))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--share", type=float, default=1.0, help="make a part of the articles")
    options = parser.parse_args()
    for name in options.shapes:
        begin = time.perf_counter()
        path = generated(options.folder, name, options.share)
        size = path.stat().st_size / 1e6
        print(
            f"{path.name}: {size:,.0f} MB, ready after {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            command = [sys.executable, "-c", _IMPORT, str(path), f"{out}/corpus"]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
