"""Say in what two runs differ that should be the same."""

import json
from pathlib import Path
from typing import Any

_WEIGHTS = "weights.safetensors"
_OF_THE_CLOCK = ("seconds", "tokens_per_second")


def lines_of(folder: Path) -> int:
    """Count the lines of metrics that a run has written so far."""
    path = folder / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def difference(first: Path, second: Path) -> str | None:
    """Compare weights, metrics and the newest checkpoint, to the bit; None where all is the same.

    Only times differ: how long an epoch took, and the speed.
    """
    if _metrics(first) != _metrics(second):
        return "other metrics"
    if (first / _WEIGHTS).read_bytes() != (second / _WEIGHTS).read_bytes():
        return "other weights"
    newest = [max((folder / "checkpoints").iterdir()) for folder in (first, second)]
    names = [sorted(path.name for path in folder.glob("*.safetensors")) for folder in newest]
    if names[0] != names[1]:
        return f"the newest checkpoint has {names[1]}, not {names[0]}"
    for name in names[0]:
        one, other = ((folder / name).read_bytes() for folder in newest)
        if one != other:
            return f"another {name} in the newest checkpoint"
    return None


def _metrics(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: line[key] for key in line if key not in _OF_THE_CLOCK} for line in lines]
