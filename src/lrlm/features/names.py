"""Names in, a JSON file out, and back."""

import json
from collections.abc import Sequence
from pathlib import Path

from lrlm.errors import FormatError


def write_names(path: Path, names: Sequence[str]) -> None:
    """Write names in their order."""
    # Escapes keep even halves of surrogate pairs, which UTF-8 cannot hold.
    path.write_text(json.dumps(list(names), indent=0) + "\n", encoding="utf-8")


def read_names(path: Path, *, count: int) -> tuple[str, ...]:
    """Read `count` distinct names."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: cannot be read ({error})") from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{path}: must be a list of names")
    if len(set(names)) != len(names):
        raise FormatError(f"{path}: a name stands there twice")
    if len(names) != count:
        raise FormatError(f"{path}: holds {len(names):,} names, but there are {count:,} vectors")
    return tuple(names)
