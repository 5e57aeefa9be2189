"""Checkpoints: the whole state of training on disk, so that it can be resumed after a kill.

    checkpoints/000007/
      manifest.json           the format, and the SHA-256 of all files below
      state.json              position in the epoch, schedule, sums for the next line of metrics
      weights.safetensors     and optimiser.safetensors: where training is
      best.safetensors        weights and optimiser state of the best validation, where it goes back
      process-0.safetensors   random numbers and backbone states of each process
      metrics.jsonl           all lines so far

A checkpoint is written under another name and renamed when it is on the disk. The two newest are
kept, so that there is one to go back to when the newest turns out to be damaged.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, load_file

from lrlm.artifacts import MANIFEST, fingerprint, new_folder, read_manifest, write_manifest
from lrlm.errors import FormatError
from lrlm.runs.run import METRICS, Tensors
from lrlm.tensor_files import write_tensors

FORMAT = "lrlm checkpoint"
VERSION = 1
KEPT = 2

_STATE = "state.json"
_PARTS = ("weights", "optimiser", "best")


@dataclass(frozen=True)
class Checkpoint:
    """Everything that training needs to continue as if it had never stopped."""

    state: dict[str, Any]
    weights: Tensors
    optimiser: Tensors
    best: Tensors
    """Empty where there is nothing to go back to."""
    processes: list[bytes]
    """For each process, its own tensors in the safetensors format."""
    metrics: bytes

    def own(self, rank: int) -> Tensors:
        """Give the random numbers and the backbone states of one process."""
        return load(self.processes[rank])


class Checkpoints:
    """The checkpoints of a run, in the order they were made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, checkpoint: Checkpoint) -> Path:
        """Add a checkpoint, then remove those that are no longer needed."""
        self.folder.mkdir(exist_ok=True)
        before = self._paths()
        path = self.folder / f"{int(before[-1].name) + 1 if before else 1:06d}"
        with new_folder(path) as draft:
            for name in _PARTS:
                write_tensors(draft / f"{name}.safetensors", getattr(checkpoint, name))
            for rank, content in enumerate(checkpoint.processes):
                (draft / f"process-{rank}.safetensors").write_bytes(content)
            (draft / METRICS).write_bytes(checkpoint.metrics)
            (draft / _STATE).write_text(json.dumps(checkpoint.state), encoding="utf-8")
            files = [fingerprint(file) for file in sorted(draft.iterdir())]
            write_manifest(draft, format=FORMAT, version=VERSION, files=files)
        for old in before[: -(KEPT - 1)]:
            _remove(old)
        return path

    def read(self, tell: Callable[[str], None] = lambda _message: None) -> Checkpoint | None:
        """Read the newest checkpoint that is undamaged; None where there was never one.

        Damaged ones are reported through `tell` and removed once a good one is found, lest a good
        one be removed in their favour.
        """
        self._sweep()
        damaged: list[Path] = []
        for path in reversed(self._paths()):
            try:
                checkpoint = _read(path)
            except _DamagedError as error:
                damaged.append(path)
                tell(f"{path} is damaged ({error}); taking the one before it")
                continue
            for bad in damaged:
                _remove(bad)
            return checkpoint
        if damaged:
            raise FormatError(
                f"all checkpoints in {self.folder} are damaged; remove that folder to start again"
            )
        return None

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if path.name.isdigit())

    def _sweep(self) -> None:
        """Remove what a killed process left half-written or half-removed."""
        for path in self.folder.glob(".*") if self.folder.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


class _DamagedError(Exception):
    """A checkpoint is not what was written."""


def _read(path: Path) -> Checkpoint:
    files = set(_intact_files(path))
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        processes = [
            (path / f"process-{rank}.safetensors").read_bytes()
            for rank in range(sum(name.startswith("process-") for name in files))
        ]
        parts = {name: load_file(path / f"{name}.safetensors") for name in _PARTS}
        metrics = (path / METRICS).read_bytes()
    except (OSError, ValueError, SafetensorError) as error:
        raise _DamagedError(str(error)) from None
    return Checkpoint(state=state, processes=processes, metrics=metrics, **parts)


def _intact_files(path: Path) -> Iterator[str]:
    """Give the names of a checkpoint's files; another version is refused, damage is told."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        is_checkpoint = content["format"] == FORMAT
        files = content["files"] if content["version"] == VERSION else []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _DamagedError(f"{MANIFEST}: {error}") from None
    if not is_checkpoint:
        raise _DamagedError(f"{MANIFEST} does not say that it is one")
    read_manifest(path, format=FORMAT, version=VERSION, hint="start a new run")
    for entry in files:
        file = path / entry["name"]
        if not file.is_file() or fingerprint(file) != entry:
            raise _DamagedError(f"{entry['name']} is not as it was written")
        yield entry["name"]


def _remove(path: Path) -> None:
    """Remove a checkpoint; if that is interrupted, no half of one is left under its name."""
    hidden = path.with_name(f".{path.name}.removed")
    path.rename(hidden)
    shutil.rmtree(hidden)
