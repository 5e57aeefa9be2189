"""Read topics from JSON that people write, and say what is wrong with it.

A topic file is JSON that people can write:

    {"id": "Q585", "names": ["Oslo", "Kristiania"],
     "relations": [{"type": "country", "object": "Q20", "forms": ["Norway"]}]}

`names` and `forms` may be left out: the id or the object is then its own name, and an object that
is a date or a number has the forms in which people write it. An object may be a number. A relation
may have a `label`, which people see instead of a type that is a key: `{"type": "P36", "label":
"capital", …}`.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lrlm.characters import NOT_IN_A_TEXT, NOT_ON_A_LINE, check_characters
from lrlm.errors import FormatError, InputError
from lrlm.knowledge.topic import Relation, Topic, is_value
from lrlm.plain_data import shown

LARGEST_TOPIC_FILE = 64 << 20
"""Bytes; a larger file is not a topic but a wrong file."""


def read_topic(path: Path) -> Topic:
    """Read a topic from a file."""
    return topic_from(_read_json(path), str(path))


def _read_json(path: Path) -> object:
    try:
        size, text = path.stat().st_size, b""
        if size <= LARGEST_TOPIC_FILE:
            text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if size > LARGEST_TOPIC_FILE:
        raise FormatError(f"{path} is larger than {LARGEST_TOPIC_FILE >> 20} MiB; is it a topic?")
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON ({error})") from None


def topic_from(content: object, where: str) -> Topic:
    """Make a topic of JSON that is decoded already; errors name it by `where`."""
    entry = _json_object(content, where, "topic", _TOPIC_FIELDS)
    facts = entry.get("relations", [])
    if not isinstance(facts, list):
        raise FormatError(f"{where}: 'relations' must be a list, not {_short(facts)}")
    try:
        return Topic(
            _json_text(entry, "id", where, NOT_ON_A_LINE),
            _json_texts(entry, "names", where),
            [_relation_from(fact, f"{where}, relation {n}") for n, fact in enumerate(facts, 1)],
        )
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def _relation_from(content: object, where: str) -> Relation:
    entry = _json_object(content, where, "relation", _RELATION_FIELDS)
    object_ = entry.get("object")
    try:
        return Relation(
            _json_text(entry, "type", where, NOT_IN_A_TEXT),
            object_ if is_value(object_) else _json_text(entry, "object", where, NOT_ON_A_LINE),
            _json_texts(entry, "forms", where),
            label=(
                None
                if entry.get("label") is None
                else _json_text(entry, "label", where, NOT_IN_A_TEXT)
            ),
        )
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


_TOPIC_FIELDS = {
    "id": {"key", "entity", "topic", "subject", "qid"},
    "names": {"name", "label", "labels", "alias", "aliases", "title", "titles", "forms", "form"},
    "relations": {"relation", "facts", "fact", "triples", "properties", "claims", "statements"},
}
_RELATION_FIELDS = {
    "type": {"relation", "predicate", "property", "name", "rel", "edge", "key"},
    "label": set[str](),
    "object": {"value", "target", "tail", "entity", "obj", "id"},
    "forms": {"form", "names", "aliases", "alias", "labels", "surface_forms", "texts"},
}
"""The fields of JSON, each with what others call it."""


def _json_object(
    content: object, where: str, what: str, known: Mapping[str, set[str]]
) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise FormatError(f"{where}: must be a JSON object, not {_short(content)}")
    for name in content:
        if name not in known:
            raise FormatError(
                f"{where}: unknown field {shown(name)}{_meant(str(name), what, known)}"
            )
    return content


def _meant(name: str, what: str, known: Mapping[str, set[str]]) -> str:
    """Say which field was meant, or which fields there are."""
    folded = name.casefold().replace("-", "_")
    fields = [field for field, others in known.items() if folded == field or folded in others]
    fields = fields or difflib.get_close_matches(folded, known, n=1, cutoff=0.75)
    if fields:
        return f"; did you mean {fields[0]!r}?"
    return f"; a {what} has the fields {', '.join(known)}"


def _json_text(entry: Mapping[str, Any], name: str, where: str, refused: re.Pattern[str]) -> str:
    if name not in entry:
        raise FormatError(f"{where}: lacks the field {name!r}")
    value = entry[name]
    if not isinstance(value, str):
        raise FormatError(f"{where}: {name!r} must be a text, not {_short(value)}")
    check_characters(value, repr(name), refused=refused)
    return value


def _json_texts(entry: Mapping[str, Any], name: str, where: str) -> Sequence[str]:
    value = entry.get(name, [])
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        raise FormatError(f"{where}: {name!r} must be a list of texts, not {_short(value)}")
    for each in given:
        check_characters(each, repr(name), refused=NOT_IN_A_TEXT)
    return given


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
