"""OpenKE's files: the rows that are needed, and one clear line for each thing that can be wrong."""

from pathlib import Path

import pytest

from lrlm.errors import FormatError, InputError
from lrlm.features.openke import read_openke
from tests.readers import write_openke

WIDTH = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_openke(tmp_path)
    return tmp_path


def read(folder: Path, *, width: int = WIDTH) -> tuple[dict[str, list[float]], ...]:
    found = read_openke(
        folder,
        nodes=frozenset({"New York", "Q1", "Q3"}),
        types=frozenset({"P31"}),
        width=width,
    )
    return tuple({name: vector.tolist() for name, vector in part.items()} for part in found)


def test_only_what_is_needed_is_read(folder: Path) -> None:
    nodes, types = read(folder)
    assert nodes == {"New York": [6, 7, 8], "Q1": [3, 4, 5]}
    assert types == {"P31": [3, 4, 5]}


def test_windows_line_ends_and_no_end_at_the_end(folder: Path) -> None:
    (folder / "relation2id.txt").write_bytes(b"2\r\nP31\t1\r\nP17\t0")
    assert read(folder)[1] == {"P31": [3, 4, 5]}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("entity2id.txt", b"", r"entity2id\.txt:1: must be the number"),
        ("entity2id.txt", b"Q2\t0\n", r"entity2id\.txt:1: must be the number"),
        ("entity2id.txt", b"3\nQ2\t0\nQ1\t1\n", r"promises 3 names, there are 2"),
        ("entity2id.txt", b"2\nQ2\t0\nQ1\t2\n", r"entity2id\.txt:3: id 2 is not below"),
        ("entity2id.txt", b"2\nQ2\t0\nQ1\n", r"entity2id\.txt:3: must be a name and an id"),
        ("entity2id.txt", b"2\nQ2\t0\nQ1\t-1\n", r"entity2id\.txt:3: must be a name and an id"),
        ("entity2id.txt", b"2\nQ1\t0\nQ1\t1\n", r"entity2id\.txt:3: 'Q1' has two ids"),
        ("entity2id.txt", b"1\n\xff\t0\n", r"entity2id\.txt:2: not UTF-8 at byte 1"),
        ("entity2vec.bin", b"\0" * 35, r"entity2vec\.bin: has 35 bytes, but 3 rows"),
        ("entity2vec.bin", b"", r"entity2vec\.bin: has 0 bytes"),
        ("entity2vec.bin", b"\0" * 24, r"entity2vec\.bin: holds vectors of width 2"),
        ("relation2vec.bin", b"\0\0\xc0\x7f" * 6, r"relation2vec\.bin: row 1 \(P31\) is not"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, file: str, content: bytes, message: str) -> None:
    (folder / file).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read(folder)


def test_another_width_is_refused_with_the_right_one(folder: Path) -> None:
    with pytest.raises(FormatError, match=r"features\.relations\.width is 4; set it to 3"):
        read(folder, width=4)


def test_a_missing_file_or_folder_is_named(folder: Path) -> None:
    (folder / "relation2vec.bin").unlink()
    with pytest.raises(InputError, match=r"relation2vec\.bin: there is no such file"):
        read(folder)
    with pytest.raises(InputError, match=r"no such folder \(features\.relations\.source\)"):
        read(folder / "nowhere")


@pytest.mark.parametrize("line", ["9" * 5000, "²", "1" * 21])
def test_numbers_beyond_measure_are_refused(folder: Path, line: str) -> None:
    (folder / "entity2id.txt").write_text(f"{line}\nQ2\t0\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"entity2id\.txt:1: must be the number"):
        read(folder)
    (folder / "entity2id.txt").write_text(f"1\nQ2\t{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"entity2id\.txt:2: must be a name and an id"):
        read(folder)
