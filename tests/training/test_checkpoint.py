"""Checkpoints: whole or not there, checked when read, and never the last good one removed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from lrlm.artifacts import rewrite_manifests
from lrlm.errors import FormatError
from lrlm.training.checkpoint import Checkpoint, Checkpoints

FILES = (
    "state.json", "weights.safetensors", "optimiser.safetensors", "best.safetensors",
    "process-0.safetensors", "metrics.jsonl", "manifest.json",
)  # fmt: skip


def checkpoint(number: int) -> Checkpoint:
    tensor = torch.full((3,), float(number))
    return Checkpoint(
        state={"number": number},
        weights={"w": tensor},
        optimiser={"step/w": tensor + 1},
        best={},
        processes=[save({"random/cpu": torch.arange(4, dtype=torch.uint8)})],
        metrics=f"line {number}\n".encode(),
    )


@pytest.fixture
def three(tmp_path: Path) -> Checkpoints:
    """The second and the third of three checkpoints; the first was removed."""
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    for number in (1, 2, 3):
        checkpoints.write(checkpoint(number))
    return checkpoints


def names(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.folder.iterdir())


def read(checkpoints: Checkpoints) -> tuple[int, list[str]]:
    messages: list[str] = []
    found = checkpoints.read(messages.append)
    assert found is not None
    return found.state["number"], messages


def test_what_was_written_is_read(three: Checkpoints) -> None:
    found = three.read()
    assert found is not None
    assert found.state == {"number": 3}
    assert found.weights["w"].tolist() == [3, 3, 3]
    assert found.optimiser["step/w"].tolist() == [4, 4, 4]
    assert found.own(0)["random/cpu"].tolist() == [0, 1, 2, 3]
    assert found.metrics == b"line 3\n"
    assert names(three) == ["000002", "000003"]


def test_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "nowhere").read() is None


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_one_is_told_and_the_one_before_is_taken(
    three: Checkpoints, file: str, damage: str
) -> None:
    path = three.folder / "000003" / file
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "cut":
        path.write_bytes(content[:-1] if file != "manifest.json" else content[:-5])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    number, messages = read(three)
    assert number == 2
    assert len(messages) == 1
    assert "000003 is damaged" in messages[0]
    assert names(three) == ["000002"]
    three.write(checkpoint(4))
    three.write(checkpoint(5))
    assert read(three) == (5, [])


def test_a_good_one_is_not_removed_in_favour_of_damaged_ones(three: Checkpoints) -> None:
    (three.folder / "000003" / "weights.safetensors").write_bytes(b"")
    read(three)
    three.write(checkpoint(4))
    (three.folder / "000003" / "weights.safetensors").write_bytes(b"")
    assert read(three)[0] == 2


def test_all_damaged_is_an_error(three: Checkpoints) -> None:
    for path in three.folder.iterdir():
        (path / "manifest.json").unlink()
    with pytest.raises(FormatError, match="are damaged; remove that folder"):
        three.read()
    assert names(three) == ["000002", "000003"]


def test_another_version_is_refused_and_left_alone(three: Checkpoints) -> None:
    path = three.folder / "000003" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "version": 7}))
    with pytest.raises(FormatError, match="written in version 7 of its format"):
        three.read()
    assert names(three) == ["000002", "000003"]


def test_what_a_killed_process_left_is_swept_away(three: Checkpoints) -> None:
    shutil.copytree(three.folder / "000003", three.folder / ".000004.partial")
    (three.folder / ".000004.partial" / "manifest.json").unlink()
    (three.folder / ".000004.lock").touch()
    assert read(three) == (3, [])
    assert names(three) == ["000002", "000003"]


def test_several_processes_have_their_own(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    own = [save({"x": torch.tensor([rank])}) for rank in range(12)]
    checkpoints.write(replace(checkpoint(1), processes=own))
    found = checkpoints.read()
    assert found is not None
    assert [int(found.own(rank)["x"]) for rank in range(12)] == list(range(12))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        '{"format": ' + "9" * 5000 + "}",
        '{"format": "lrlm checkpoint"}',
        '{"format": "lrlm checkpoint", "version": "1"}',
        '{"format": "lrlm checkpoint", "version": 1}',
        '{"format": "lrlm checkpoint", "version": 1, "files": {}}',
        '{"format": "lrlm checkpoint", "version": 1, "files": [1]}',
        '{"format": "lrlm checkpoint", "version": 1, "files": []}',
        '{"format": "lrlm checkpoint", "version": 1, "files": [{"name": "../000002/state.json"}]}',
    ],
)
def test_a_manifest_of_another_shape_is_damage(three: Checkpoints, text: str) -> None:
    (three.folder / "000003" / "manifest.json").write_text(text)
    number, messages = read(three)
    assert number == 2
    assert len(messages) == 1


@pytest.mark.parametrize("text", ["[]", "[" * 100_000, "9" * 5000, "{"])
def test_a_state_of_another_shape_is_damage(three: Checkpoints, text: str) -> None:
    (three.folder / "000003" / "state.json").write_text(text)
    rewrite_manifests(three.folder)
    number, messages = read(three)
    assert number == 2
    assert len(messages) == 1
