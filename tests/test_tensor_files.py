"""Tensors and names on disk: what is damaged or hostile is refused by the file's name."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

from lrlm.errors import FormatError, LrlmError
from lrlm.tensor_files import read_names, read_tensors, write_names, write_tensors
from tests.generators.mutations import mutations

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4)}
SHAPES = {"a": (2, None), "b": (4,)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_tensors(tmp_path / "a.safetensors", TENSORS)
    return tmp_path / "a.safetensors"


def with_header(header: Any, data: bytes = b"\0" * 40) -> bytes:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def test_tensors_come_back(path: Path) -> None:
    found = read_tensors(path, SHAPES)
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        struct.pack("<Q", 1 << 62) + b"{}",
        with_header(b"[" * 100_000),
        with_header(b"\xff\xfe"),
        with_header({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}, b"\0" * 8),
        with_header({"a": {"dtype": "F32", "shape": [1 << 31, 1 << 31], "data_offsets": [0, 40]}}),
        with_header({"a": {"dtype": "F32", "shape": [0, 1 << 62], "data_offsets": [0, 0]}}, b""),
        with_header({"a": {"dtype": "F99", "shape": [10], "data_offsets": [0, 40]}}),
        with_header({"a": {"dtype": "F32", "shape": [10], "data_offsets": [40, 0]}}),
        with_header({"a": {"dtype": "F32", "shape": [-10], "data_offsets": [0, 40]}}),
        with_header({"a": {"dtype": "I64", "shape": [5], "data_offsets": [0, 40]}}),
        with_header({"a": {"dtype": "F8_E4M3", "shape": [40], "data_offsets": [0, 40]}}),
        with_header({"a": None}),
    ],
)
def test_hostile_headers_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.safetensors: "):
        read_tensors(path, {"a": (2, 3)})


def test_damaged_tensors_are_used_or_refused(path: Path) -> None:
    refused = 0
    for changed in mutations(path.read_bytes(), 400):
        path.write_bytes(changed)
        try:
            read_tensors(path, SHAPES)
        except LrlmError:
            refused += 1
    assert refused > 100


def test_names_come_back(tmp_path: Path) -> None:
    write_names(tmp_path / "names.json", ["a", "\ud800", "ü"])
    assert read_names(tmp_path / "names.json", count=3) == ("a", "\ud800", "ü")


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[" + b"9" * 5000 + b"]",
        b'["\xff"]',
        b'{"a": 1}',
        b'["a", "a"]',
        b'["a", 1]',
        b"[" + b"[]," * (1 << 20) + b"[]]",
    ],
    ids=["deep", "digits", "bytes", "object", "twice", "number", "large"],
)
def test_hostile_names_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "names.json").write_bytes(content)
    with pytest.raises(FormatError, match=r"names\.json: "):
        read_names(tmp_path / "names.json", count=2)


def test_damaged_names_are_used_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    write_names(path, ["a", "ü", "New York"])
    refused = 0
    for changed in mutations(path.read_bytes(), 300):
        path.write_bytes(changed)
        try:
            read_names(path, count=3)
        except LrlmError:
            refused += 1
    assert refused > 100


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.safetensors: there is no such file"):
        read_tensors(tmp_path / "a.safetensors", SHAPES)
    with pytest.raises(FormatError, match=r"names\.json: there is no such file"):
        read_names(tmp_path / "names.json", count=1)
