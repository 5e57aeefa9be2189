"""Write the metrics of training as lines of JSON and, on request, as TensorBoard curves."""

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from lrlm.errors import MissingExtraError


class Metrics:
    """Appends to a run's metrics; only the first process of a run has any."""

    def __init__(self, path: Path, *, board: Path | None = None) -> None:
        self.path = path
        self._file: IO[str] = path.open("a", encoding="utf-8")
        self._draw = _board_writer(board) if board is not None else None

    def add(self, kind: str, *, update: int, **values: Any) -> None:
        """Write one line."""
        line = json.dumps({"kind": kind, "update": update, **values}, ensure_ascii=False)
        self._file.write(line + "\n")
        self._file.flush()
        if self._draw is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._draw(f"{kind}/{name}", value, update)

    def content(self) -> bytes:
        """Give all lines so far."""
        return self.path.read_bytes()

    def close(self) -> None:
        """Bring the lines to the disk."""
        os.fsync(self._file.fileno())
        self._file.close()


def require_tensorboard() -> None:
    """Refuse before anything is done, if curves are wished that cannot be drawn."""
    if importlib.util.find_spec("tensorboard") is None:
        raise MissingExtraError(
            "TensorBoard is not installed; install it with: pip install 'lrlm[tensorboard]'"
        )


def _board_writer(folder: Path) -> Callable[[str, float, int], None]:
    require_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder)

    def draw(name: str, value: float, update: int) -> None:
        writer.add_scalar(name, value, update)
        writer.flush()

    return draw
