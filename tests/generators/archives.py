"""Makes small archives in the shapes of published ones: a release of the paper, WikiFacts, tars."""

import bz2
import gzip
import io
import pickle
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

RELATION_NAMES = {0: "performer", 1: "follows", 2: "genre", -4: "nickname"}
ENTITIES = 8

TRAIN: tuple[tuple[Any, ...], ...] = (
    (
        ["Sorry", "is", "a", "song", "by", "Madonna", "Ciccone", ",", "after", "Hung", "Up", "."],
        "Q1",
        [
            (-3, -1, ["Sorry", "Sorry ( song )"]),
            (0, 3, ["Madonna", "Madonna Ciccone"]),
            (1, 4, ["Hung Up"]),
            (2, -1, ["co-pop"]),
            (-2, 5, ["song"]),
            (-1, -1, ["after"]),
            (-4, -1, []),
        ],
        [0, -1],
        [0, 0],
        [0, 0],
    ),
    (["Jump", "is", "co", "@-@", "pop", "."], "Q2", [(-3, -1, ["Jump"]), (2, -1, ["co-pop"])]),
)
TRAIN_SPANS: tuple[list[tuple[Any, ...]], ...] = (
    [
        (0, 1, -3, 0, 0),
        (5, 7, 0, 1, 1),
        (5, 6, 0, 1, 0),
        (9, 11, 1, 2, 0),
        (3, 4, -2, 4, 0),
        (8, 9, -1, 5, 0),
        (1, 2, 0, 1, 0),  # other words than the form
        (9, 11, 0, 2, 0),  # another type than the relation
        (11, 13, 1, 2, 0),  # beyond the text
        (0, 1, -3, 99, 0),
        (0, 1, -3, 0, 9),
    ],
    [(0, 1, -3, 0, 0), (2, 5, 2, 1, 0)],
)
TEST = ((["Ray", "of", "Light", "."], "Q3", [(-3, -1, ["Ray of Light"]), (0, 3, ["Madonna"])]),)
TEST_SPANS = ([(0, 3, -3, 0, 0)],)


def write_release(folder: Path, *, legacy: bool = True, protocol: int = 4, **files: Any) -> Path:
    """Write a release; `files` replace or add (None: leave out) pickles by name, dots as `_`."""
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "train": list(TRAIN),
        "train_span": list(TRAIN_SPANS),
        "test": list(TEST),
        "test_span": list(TEST_SPANS),
        "rel_names": RELATION_NAMES,
    }
    for name, value in (content | files).items():
        if value is not None:
            file_name = f"{name.replace('_span', '.span')}.pkl"
            (folder / file_name).write_bytes(pickle.dumps(value, protocol=protocol))
    for name, rows in (("entity", ENTITIES), ("relation", 3)):
        matrix = torch.arange(rows * 5, dtype=torch.float32).reshape(rows, 5) / 7
        torch.save(matrix, folder / f"{name}_vec.pt", _use_new_zipfile_serialization=not legacy)
    (folder / "unk_probs.txt").write_text("Goscinny\t-12.5\nno number\nUderzo\t-9.25\n")
    return folder


def pack(path: Path, files: Mapping[str, bytes], *odd: tarfile.TarInfo) -> Path:
    """Write a tar, compressed as its suffix says, with members of any kind at the end."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in odd:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    compress = {".bz2": bz2.compress, ".gz": lambda data: gzip.compress(data, mtime=0)}
    path.write_bytes(compress.get(path.suffix, bytes)(buffer.getvalue()))
    return path


def contents(folder: Path, prefix: str = "") -> dict[str, bytes]:
    """Give the files of a folder, as members of an archive."""
    return {f"{prefix}{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}


def link(name: str, kind: bytes, target: str = "/etc/passwd") -> tarfile.TarInfo:
    """Make a member that is no file."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def wikifacts(topics: Iterable[int] = range(40)) -> dict[str, bytes]:
    """Make the files of WikiFacts for so many film actors."""
    files: dict[str, bytes] = {}
    for number in topics:
        topic = f"m.0a{number}"
        text = (
            f"@@actor_{number}/f/ns/{topic}@@ (born 4 august 1961) was an"
            " @@american/a/ns/m.09c7w0@@ @@singer/f/ns/m.09l65@@."
            f" @@actor_{number}/f/ns/{topic}@@ played @@hamlet/f/ns/m.0h{number % 3}@@"
            " in @@the_play/f/ns/m.0play@@."
        )
        role, compound = "/ns/film.performance", f"/ns/m.0cvt{number}"
        facts = [
            f"/ns/{topic} /ns/people.person.profession /ns/m.09l65",
            f"/ns/{topic}\t/ns/people.person.profession\t/ns/m.0unseen",
            f'/ns/{topic} /ns/people.person.date_of_birth "1961-08-04"^^xsd:date',
            f"/ns/{topic} /ns/film.actor.film [{compound} {role}.character /ns/m.0h{number % 3}]",
            f"/ns/{topic} /ns/film.actor.film [{compound} {role}.film /ns/m.0play]",
            f"[{compound} {role}.film /ns/m.0play] /ns/type /ns/m.0t",
        ]
        names = ["/ns/m.0unseen\tsailor", "/ns/m.09l65 singer", f"/ns/{topic} actor_{number}"]
        for extension, lines in (("fb", facts), ("sm", [text]), ("en", names), ("bd", ["body"])):
            files[f"tagged/{number}.{topic}.{extension}"] = "\n".join(lines).encode()
    return files
