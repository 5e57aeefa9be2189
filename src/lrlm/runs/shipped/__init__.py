"""The small LRLM of miniworld that comes with the package; see docs/shipped-model.md."""

from pathlib import Path

SHIPPED = Path(__file__).parent / "miniworld"
