"""Read the published vectors of OpenKE, of those names only that a corpus needs.

    entity2id.txt, relation2id.txt      a count, then a line `name id` for each, by tab or space
    entity2vec.bin, relation2vec.bin    little-endian float32, a row an id

Only the needed rows are read: Wikidata's vectors take gigabytes.
"""

from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np

from lrlm.arrays import Floats
from lrlm.errors import FormatError, InputError
from lrlm.text_files import reading

VectorsByName = dict[str, Floats]

_BYTES = 4
"""Size of a float32."""

_LONGEST_LINE = 1 << 20
_MOST_DIGITS = 20

FILES = ("entity2id.txt", "entity2vec.bin", "relation2id.txt", "relation2vec.bin")


def openke_files(folder: Path) -> tuple[Path, ...]:
    """Give the files that are read, in a fixed order; all of them must be there."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder (features.relations.source)")
    paths = tuple(folder / name for name in FILES)
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{path}: there is no such file; such a folder holds {', '.join(FILES)}"
            )
    return paths


def read_openke(
    folder: Path, *, nodes: AbstractSet[str], types: AbstractSet[str], width: int
) -> tuple[VectorsByName, VectorsByName]:
    """Give the vectors of those nodes and types that have one, in the order of their names."""
    entity_ids, entity_vectors, relation_ids, relation_vectors = openke_files(folder)
    return (
        _read(entity_ids, entity_vectors, nodes, width),
        _read(relation_ids, relation_vectors, types, width),
    )


def _read(ids_path: Path, vectors_path: Path, names: AbstractSet[str], width: int) -> VectorsByName:
    count, ids = _read_ids(ids_path, names)
    with reading(vectors_path):
        size = vectors_path.stat().st_size
    if size != count * width * _BYTES:
        raise FormatError(f"{vectors_path}: {_why_wrong(size, count, width, ids_path.name)}")
    if not count:
        return {}
    vectors: VectorsByName = {}
    with reading(vectors_path), vectors_path.open("rb") as file:
        for name in sorted(ids):
            file.seek(ids[name] * width * _BYTES)
            row = file.read(width * _BYTES)
            if len(row) != width * _BYTES:
                raise FormatError(f"{vectors_path}: row {ids[name]} ({name}) is cut short")
            vector = np.frombuffer(row, "<f4").astype(np.float32)
            if not np.isfinite(vector).all():
                raise FormatError(f"{vectors_path}: row {ids[name]} ({name}) is not finite")
            vectors[name] = vector
    return vectors


def _why_wrong(size: int, count: int, width: int, ids_name: str) -> str:
    if count and size and size % (count * _BYTES) == 0:
        actual = size // (count * _BYTES)
        return (
            f"holds vectors of width {actual}, but features.relations.width is {width};"
            f" set it to {actual}"
        )
    return (
        f"has {size:,} bytes, but {count:,} rows ({ids_name}) of {width} float32 are"
        f" {count * width * _BYTES:,}; the files do not belong together, or one is cut short"
    )


def _read_ids(path: Path, names: AbstractSet[str]) -> tuple[int, dict[str, int]]:
    """Give the number of rows, and the ids of the names that are sought."""
    ids: dict[str, int] = {}
    lines = 0
    with reading(path), path.open("rb") as file:
        count = _count(path, _text(path, 1, file.readline(_LONGEST_LINE)))
        for number, raw in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=2):
            if not raw.strip():
                continue
            lines += 1
            line = _text(path, number, raw)
            name, id_ = _parse(path, number, line, count)
            if name in names and ids.setdefault(name, id_) != id_:
                raise FormatError(f"{path}:{number}: {name!r} has two ids")
    if lines != count:
        raise FormatError(f"{path}: its first line promises {count:,} names, there are {lines:,}")
    return count, ids


def _text(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path}:{number}: not UTF-8 at byte {error.start + 1} of the line"
        ) from None


def _count(path: Path, line: str) -> int:
    if not line.strip().isdecimal() or len(line) > _MOST_DIGITS:
        raise FormatError(f"{path}:1: must be the number of names, not {line.strip()[:40]!r}")
    return int(line)


def _parse(path: Path, number: int, line: str, count: int) -> tuple[str, int]:
    """Take a line apart; a name may hold spaces, an id cannot."""
    parts = line.rsplit(maxsplit=1)
    if len(parts) != 2 or not parts[1].isdecimal() or len(parts[1]) > _MOST_DIGITS:
        raise FormatError(f"{path}:{number}: must be a name and an id, not {line.strip()[:40]!r}")
    name, id_ = parts[0].strip(), int(parts[1])
    if id_ >= count:
        raise FormatError(f"{path}:{number}: id {id_} is not below the count {count} of line 1")
    return name, id_
