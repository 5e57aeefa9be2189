"""Tensors and names on disk: what is damaged or hostile is refused by the file's name."""

from pathlib import Path

import pytest
import torch

from lrlm.errors import FormatError
from lrlm.tensor_files import read_names, read_tensors, write_names, write_tensors
from tests.generators.hostile_numbers import name_files, safetensors_files

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4)}
SHAPES = {"a": (2, None), "b": (4,)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_tensors(tmp_path / "a.safetensors", TENSORS)
    return tmp_path / "a.safetensors"


def test_tensors_come_back(path: Path) -> None:
    found = read_tensors(path, SHAPES)
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())


def test_hostile_headers_are_refused(path: Path) -> None:
    for name, content in safetensors_files():
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"a\.safetensors: ") as told:
            read_tensors(path, {"a": (2, 4)})
        assert len(str(told.value)) < 500, name


def test_names_come_back(tmp_path: Path) -> None:
    write_names(tmp_path / "names.json", ["a", "\ud800", "ü"])
    assert read_names(tmp_path / "names.json", count=3) == ("a", "\ud800", "ü")


def test_hostile_names_are_refused(tmp_path: Path) -> None:
    for name, content in name_files():
        (tmp_path / "names.json").write_bytes(content)
        with pytest.raises(FormatError, match=r"names\.json: ") as told:
            read_names(tmp_path / "names.json", count=2)
        assert len(str(told.value)) < 500, name


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.safetensors: there is no such file"):
        read_tensors(tmp_path / "a.safetensors", SHAPES)
    with pytest.raises(FormatError, match=r"names\.json: there is no such file"):
        read_names(tmp_path / "names.json", count=1)
