"""The small LRLM of miniworld that comes with the package; docs/shipped-model.md says how it was made."""

from pathlib import Path

SHIPPED = Path(__file__).parent / "miniworld"
