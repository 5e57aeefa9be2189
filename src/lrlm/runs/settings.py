"""Read and write configurations: TOML files and single settings such as `training.epochs=10`.

A configuration is a tree of frozen dataclasses; `training.epochs` names the field `epochs` of the
field `training`. The text under a field in its class is the field's help.
"""

import ast
import difflib
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from lrlm.errors import InputError
from lrlm.plain_data import parse_toml, shown

CHOICE = "name"
"""Where a field may hold one of several classes, this key says which."""


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """The classes of configuration that a field may hold, by the names that users give them."""

    table: Mapping[str, type]
    default: str | None = None
    """The one that is meant where no name is given; it is written without its name."""


ClassChoices = Mapping[type, ClassChoice]
"""For each class that stands for several, which ones there are."""

T = TypeVar("T")

_NONE = "none"
"""How a value that is left open is written in a setting."""


def from_nested(
    cls: type[T], nested: Mapping[str, Any], choices: ClassChoices, path: str = ""
) -> T:
    """Make a configuration of nested dictionaries; what is left out has its default."""
    hints = _settings_of(cls)
    values: dict[str, Any] = {}
    for key, value in nested.items():
        if key == CHOICE and key not in hints and _name_of(cls, choices) is not None:
            continue
        here = f"{path}{key}"
        if key not in hints:
            raise InputError(_unknown(here, [f"{path}{name}" for name in hints]))
        part = _part_class(hints[key], value, choices, here)
        if part is None:
            values[key] = _typed(value, hints[key], here)
        else:
            values[key] = from_nested(part, value, choices, f"{here}.")
    return cls(**values)


def to_nested(config: Any, choices: ClassChoices) -> dict[str, Any]:
    """Make nested dictionaries of a configuration; what is left open is left out."""
    nested: dict[str, Any] = {}
    name = _name_of(type(config), choices)
    if name is not None and not any(choice.default == name for choice in choices.values()):
        nested[CHOICE] = name
    for entry in fields(config):
        value = getattr(config, entry.name)
        if is_dataclass(value):
            nested[entry.name] = to_nested(value, choices)
        elif value is not None:
            nested[entry.name] = list(value) if isinstance(value, tuple) else value
    return nested


def with_settings(config: T, settings: Sequence[str], choices: ClassChoices) -> T:
    """Change values, each given as `key=value`; all else stays."""
    nested = to_nested(config, choices)
    known = {key: hint for key, hint, _ in _leaves(config, choices)}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            raise InputError(f"{setting!r} is no setting; write key=value, as training.epochs=10")
        if key not in known:
            raise InputError(_unknown(key, list(known)))
        value = _parsed(text, known[key], key)
        *parents, last = key.split(".")
        place = nested
        for parent in parents:
            place = place[parent]
        place[last] = value
    return from_nested(type(config), nested, choices)


def described(config: Any, choices: ClassChoices) -> Iterator[tuple[str, str, str]]:
    """Give every key with its value and its help."""
    values = dict(_flat(to_nested(config, choices)))
    for key, _, text in _leaves(config, choices):
        yield key, _written(values[key]) if key in values else _NONE, text


def to_toml(config: Any, choices: ClassChoices) -> str:
    """Write a configuration as TOML, every value under its help; `from_nested` reads it."""
    helps = {key: text for key, _, text in _leaves(config, choices)}
    return "\n".join(_toml_lines(to_nested(config, choices), "", helps)).lstrip("\n") + "\n"


def _toml_lines(nested: Mapping[str, Any], path: str, helps: Mapping[str, str]) -> Iterator[str]:
    plain = {key: value for key, value in nested.items() if not isinstance(value, dict)}
    if plain and path:
        yield f"\n[{path}]"
    for key, value in plain.items():
        text = helps.get(f"{path}.{key}" if path else key, "")
        yield from textwrap.wrap(text, 98, initial_indent="# ", subsequent_indent="# ")
        yield f"{key} = {_written(value)}"
    for key, value in nested.items():
        if isinstance(value, dict):
            yield from _toml_lines(value, f"{path}.{key}" if path else key, helps)


def _written(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False)  # which TOML reads as the same
    return repr(value)


def _flat(nested: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in nested.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _leaves(config: Any, choices: ClassChoices, path: str = "") -> Iterator[tuple[str, Any, str]]:
    """Give the key, type and help of every single value of a configuration."""
    hints, helps = _settings_of(type(config)), field_help(type(config))
    for entry in fields(config):
        value = getattr(config, entry.name)
        if is_dataclass(value):
            yield from _leaves(value, choices, f"{path}{entry.name}.")
        else:
            yield f"{path}{entry.name}", hints[entry.name], helps.get(entry.name, "")


def field_help(cls: type) -> Mapping[str, str]:
    """Read the texts that stand under the fields of a class in its source, if it has any."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, SyntaxError):  # a class that was typed in by hand
        return {}
    body = tree.body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    name = None
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif name and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found[name] = " ".join(str(node.value.value).split())
        else:
            name = None
    return found


def _settings_of(cls: type) -> dict[str, Any]:
    """Give the type of every field of a configuration; what belongs to the class is none."""
    hints = get_type_hints(cls)
    return {entry.name: hints[entry.name] for entry in fields(cls)}


def _name_of(cls: type, choices: ClassChoices) -> str | None:
    """Give what users call a class that is one of several; None for all others."""
    for choice in choices.values():
        for name, known in choice.table.items():
            if known is cls:
                return name
    return None


def _part_class(hint: Any, value: Any, choices: ClassChoices, key: str) -> type | None:
    """Tell which class of configuration belongs here; None where a plain value does."""
    is_part = isinstance(hint, type) and (hint in choices or is_dataclass(hint))
    if not is_part:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"{key} must be a table, not {shown(value)}")
    if hint not in choices:
        part: type = hint
        return part
    choice = choices[hint]
    name = value.get(CHOICE, choice.default)
    if not isinstance(name, str) or name not in choice.table:
        raise InputError(
            f"{key}.{CHOICE} must be one of {', '.join(choice.table)}, not {shown(name)}; one of"
            " your own is known once the module that registers it has been imported"
        )
    return choice.table[name]


def _parsed(text: str, hint: Any, key: str) -> Any:
    """Read the value of a setting as its key's type asks."""
    if NoneType in get_args(hint) and text.lower() == _NONE:
        return None
    if hint is str:
        return text
    try:
        value = parse_toml(f"value = {text}", where=key)["value"]
    except InputError:
        value = text
    return _typed(value, hint, key)


def _typed(value: Any, hint: Any, key: str) -> Any:
    """Refuse a value of another type than its key's; whole numbers may stand for real ones."""
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    for option in options:
        if get_origin(option) is tuple and isinstance(value, list | tuple):
            return tuple(_typed(each, get_args(option)[0], key) for each in value)
        if option is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is option:
            return value
    wanted = " or ".join(_NAMES.get(option, "a list of whole numbers") for option in options)
    raise InputError(f"{key} must be {wanted}, not {shown(value)}")


_NAMES = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    NoneType: _NONE,
}


def _unknown(key: str, known: Sequence[str]) -> str:
    """Name the nearest key that exists: one that ends in the same word, or is written alike."""
    last = key.rsplit(".", 1)[-1]
    by_last = {each.rsplit(".", 1)[-1]: each for each in known}
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.7)
    if last in by_last:
        near = near or [by_last[last]]
    if not near:
        found = difflib.get_close_matches(last, list(by_last), n=1, cutoff=0.5)
        near = [by_last[name] for name in found] or difflib.get_close_matches(key, known, 1, 0.0)
    return f"there is no setting {shown(key)}; did you mean {near[0]!r}?"
