"""A file of tab-separated cells in, its rows with their places out."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable

from lrlm.errors import FormatError


def rows(table: Traversable) -> Iterator[tuple[str, list[str]]]:
    """Give the cells of each line that is not blank, and where they stand (file and line)."""
    try:
        lines = table.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{table.name}: not UTF-8 ({error})") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{table.name}, line {number}", line.split("\t")
