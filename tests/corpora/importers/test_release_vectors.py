"""Tensor files of both containers, read without torch."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from lrlm.corpora.importers.release_vectors import read_matrix
from lrlm.errors import FormatError
from tests.bounded import outcomes
from tests.generators.hostile_files import claiming, header, repacked, tensor_files

MATRIX = torch.arange(12, dtype=torch.float32).reshape(4, 3) / 3


def save(path: Path, value: Any, *, legacy: bool) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=not legacy)
    return path


def read(path: Path) -> npt.NDArray[np.float32]:
    return read_matrix(path, path.name)


both = pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "zip"])


@both
@pytest.mark.parametrize(
    "tensor",
    [
        MATRIX,
        MATRIX.double(),
        MATRIX.half(),
        MATRIX.t(),
        MATRIX[1:3, ::2],
        torch.zeros(0, 5),
        torch.nn.Parameter(MATRIX),
    ],
    ids=["float", "double", "half", "transposed", "part", "empty", "parameter"],
)
def test_tensors_come_back(tmp_path: Path, tensor: torch.Tensor, legacy: bool) -> None:
    found = read(save(tmp_path / "a.pt", tensor, legacy=legacy))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, tensor.detach().float().numpy())


@both
@pytest.mark.parametrize(
    "value",
    [torch.arange(3), torch.zeros(3), {"a": MATRIX}, [MATRIX, MATRIX.clone()], MATRIX.long(), "a"],
)
def test_anything_but_one_matrix_is_refused(tmp_path: Path, value: Any, legacy: bool) -> None:
    with pytest.raises(FormatError, match=r"a\.pt"):
        read(save(tmp_path / "a.pt", value, legacy=legacy))


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "executed")


@both
def test_nothing_is_executed(tmp_path: Path, legacy: bool) -> None:
    path = save(tmp_path / "a.pt", Evil(tmp_path / "mark"), legacy=legacy)
    with pytest.raises(FormatError, match="would load"):
        read(path)
    assert not (tmp_path / "mark").exists()


@both
def test_a_cut_file_is_refused(tmp_path: Path, legacy: bool) -> None:
    content = save(tmp_path / "a.pt", MATRIX, legacy=legacy).read_bytes()
    for end in range(0, len(content), 7):
        (tmp_path / "cut.pt").write_bytes(content[:end])
        with pytest.raises(FormatError):
            read(tmp_path / "cut.pt")


def test_a_tensor_larger_than_its_numbers_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pt", MATRIX, legacy=True)
    # The rows stand in the header as a small number, and the count of numbers too.
    honest = path.read_bytes()
    for old, new in ((b"K\x04K\x03", b"K\xffK\x03"), (b"K\x03K\x01", b"K\xffK\x01")):
        assert honest.count(old) == 1
        path.write_bytes(honest.replace(old, new))
        with pytest.raises(FormatError, match="reaches beyond its numbers"):
            read(path)


def test_numbers_that_are_not_stored_are_refused(tmp_path: Path) -> None:
    """The directory of the zip promises more bytes than follow: no memory beyond them is read."""
    honest = repacked({"data.pkl": header(4, 0, (2, 2), (2, 1)), "data/0": b"\0\0\x80?" * 4})
    (tmp_path / "a.pt").write_bytes(honest)
    assert read(tmp_path / "a.pt").tolist() == [[1, 1], [1, 1]]
    content = repacked({"data.pkl": header(64, 0, (8, 8), (8, 1)), "data/0": b"\1" * 16})
    (tmp_path / "a.pt").write_bytes(claiming(content, b"archive/data/0", 256))
    with pytest.raises(FormatError, match=r"are not in the file|damaged"):
        read(tmp_path / "a.pt")


def test_hostile_files_are_refused_within_bounds() -> None:
    told = dict(outcomes("tensors", tensor_files()))
    assert [name for name, text in told.items() if not text] == []
    assert len(told) > 40


def test_every_step_is_followed(tmp_path: Path) -> None:
    tensor = torch.arange(5 * 7 * 3, dtype=torch.float32).reshape(5, 7, 3)
    for part in (tensor[1], tensor[:, 2], tensor[:, :, 1], tensor[::2, 1::3, 2].t()):
        found = read(save(tmp_path / "a.pt", part, legacy=False))
        np.testing.assert_array_equal(found, part.numpy())


def test_compressed_numbers_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pt", MATRIX, legacy=False)
    content = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    path.write_bytes(content.getvalue())
    with pytest.raises(FormatError, match="not in the file"):
        read(path)


def test_what_is_no_tensor_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"not a tensor")
    with pytest.raises(FormatError):
        read(tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        archive.writestr("readme", "nothing")
    with pytest.raises(FormatError, match=r"no data\.pkl"):
        read(tmp_path / "b.pt")
