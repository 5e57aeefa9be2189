"""Read JSON and TOML from files that may be damaged or hostile, within limits; and write JSON.

What is read is bounded before it is built: the size of a file, how deep it is nested, and the size
of its numbers. Everything that the parsers of the standard library throw becomes an error of this
library that names the file.
"""

import json
import tomllib
from pathlib import Path
from reprlib import Repr
from typing import Any, NoReturn

from lrlm.characters import visible_json
from lrlm.errors import FormatError, InputError

LARGEST_FILE = 512 << 20
"""Bytes of JSON that are read: the names of ten million rows, and then some."""
LARGEST_NUMBER = 2**63 - 1

_LARGEST_TOML = 1 << 16
_DEEPEST_TOML = 100
_LONGEST_TOML_LINE = 10_000
"""Characters; the parser takes time with the square of the parts of a dotted key."""
_LONGEST_TOML_TEXT = 1000
"""Characters; settings are names and paths, and are quoted in messages."""
_SHOWN = Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80


def read_json(path: Path, *, largest: int = LARGEST_FILE, finite: bool = True) -> Any:
    """Read a JSON file of at most `largest` bytes."""
    return parse_json(read_bytes(path, largest=largest), where=str(path), finite=finite)


def read_bytes(path: Path, *, largest: int = LARGEST_FILE) -> bytes:
    """Read a whole file, but none of more than `largest` bytes."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except FileNotFoundError:
        raise FormatError(f"{path}: cannot be read (there is no such file)") from None
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(content) > largest:
        raise FormatError(f"{path}: has more than {largest:,} bytes, which is too much for it")
    return content


def parse_json(text: str | bytes, *, where: str, finite: bool = True) -> Any:
    """Parse JSON; `where` names its file in an error. Numbers have at most 64 bits.

    With `finite`, NaN and Infinity, which are no JSON but which Python writes, are refused.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text, parse_int=_integer, parse_constant=_refuse_constant if finite else None
        )
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{where}: cannot be read (not UTF-8 at byte {error.start + 1})"
        ) from None
    except RecursionError:
        raise FormatError(f"{where}: cannot be read (nested too deep)") from None
    except ValueError as error:
        raise FormatError(f"{where}: cannot be read (not JSON: {error})") from None


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Write a value as JSON that can be shown: letters of all languages as they are.

    >>> json_text({"names": ["Z\u00fcrich", "\u202eoslO"]})
    '{"names":["Z\u00fcrich","\\u202eoslO"]}'
    """
    separators = (",", ":") if indent is None else None
    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent, separators=separators))


def parse_toml(text: str, *, where: str) -> dict[str, Any]:
    """Parse TOML into nested dictionaries; `where` names the file in an error."""
    if len(text) > _LARGEST_TOML:
        raise InputError(f"{where}: has more than {_LARGEST_TOML:,} characters")
    if any(len(line) > _LONGEST_TOML_LINE for line in text.splitlines()):
        raise InputError(f"{where}: has a line of more than {_LONGEST_TOML_LINE:,} characters")
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where}: not TOML (nested too deep)") from None
    except ValueError as error:
        raise InputError(f"{where}: not TOML ({error})") from None
    _check_values(value, where)
    return value


def shown(value: object) -> str:
    """Write a value for a message, cut where it is long or deep."""
    return _SHOWN.repr(value)


def _integer(digits: str) -> int:
    if len(digits) > 18 and (len(digits) > 20 or abs(int(digits)) > LARGEST_NUMBER):
        raise ValueError(f"a whole number of more than 64 bits: {digits[:20]}…")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _check_values(table: dict[str, Any], where: str) -> None:
    """Refuse what is nested deep, without recursion, and what is too long or too large."""
    level: list[Any] = [table]
    for _ in range(_DEEPEST_TOML):
        inside: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                inside.extend(each.values() if isinstance(each, dict) else each)
            elif isinstance(each, int) and abs(each) > LARGEST_NUMBER:
                raise InputError(f"{where}: not TOML (a whole number of more than 64 bits)")
            elif isinstance(each, str) and len(each) > _LONGEST_TOML_TEXT:
                raise InputError(
                    f"{where}: holds a text of more than {_LONGEST_TOML_TEXT:,} characters"
                )
        if not inside:
            return
        level = inside
    raise InputError(f"{where}: not TOML (nested too deep)")
