"""A topic as JSON: what a user writes into a file in, a topic out, and back.

    {"id": "Q1", "names": ["Oslo"],
     "relations": [{"type": "country", "object": "Q20", "forms": ["Norway"]}]}

`names` and `forms` may be left out: the id or the object is then its own name. A relation may have
a `label` for people, as `lrlm kg show --json` writes it; it is not read.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lrlm.errors import FormatError, InputError
from lrlm.knowledge.topic import Relation, Topic, near_matches

LARGEST = 64 << 20
"""Bytes of a topic file; a larger one is not a topic but a wrong file."""


def read_topic(path: Path) -> Topic:
    """Read the file of one topic."""
    try:
        if path.stat().st_size > LARGEST:
            raise FormatError(f"{path} is larger than {LARGEST >> 20} MiB; is it a topic?")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON ({error})") from None
    return topic_from_json(content, where=str(path))


def topic_from_json(content: object, *, where: str = "topic") -> Topic:
    """Make a topic of decoded JSON; `where` names its place in an error."""
    entry = _object(content, where, ("id", "names", "relations"))
    facts = entry.get("relations", [])
    if not isinstance(facts, list):
        raise FormatError(f"{where}: 'relations' must be a list, not {_short(facts)}")
    try:
        return Topic(
            _text(entry, "id", where),
            _texts(entry, "names", where),
            [_relation(fact, f"{where}, relation {n}") for n, fact in enumerate(facts, start=1)],
        )
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """Give what `topic_from_json` reads as the same topic."""
    return {
        "id": topic.id,
        "names": list(topic.names),
        "relations": [
            {"type": fact.type, "object": fact.object, "forms": list(fact.forms)}
            for fact in topic.relations
        ],
    }


def _relation(content: object, where: str) -> Relation:
    entry = _object(content, where, ("type", "label", "object", "forms"))
    try:
        return Relation(
            _text(entry, "type", where),
            _text(entry, "object", where),
            _texts(entry, "forms", where),
        )
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def _object(content: object, where: str, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise FormatError(f"{where}: must be a JSON object, not {_short(content)}")
    for field in content:
        if field not in known:
            raise FormatError(f"{where}: unknown field {field!r}{near_matches(field, known)}")
    return content


def _text(entry: Mapping[str, Any], field: str, where: str) -> str:
    if field not in entry:
        raise FormatError(f"{where}: lacks the field {field!r}")
    value = entry[field]
    if not isinstance(value, str):
        raise FormatError(f"{where}: {field!r} must be a text, not {_short(value)}")
    _check_characters(value, field, where)
    return value


def _texts(entry: Mapping[str, Any], field: str, where: str) -> Sequence[str]:
    value = entry.get(field, [])
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise FormatError(f"{where}: {field!r} must be a list of texts, not {_short(value)}")
    for each in given:
        _check_characters(each, field, where)
    return given


def _check_characters(value: str, field: str, where: str) -> None:
    """Refuse what no name holds: such characters could steer the terminal that shows it."""
    for character in value:
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise FormatError(f"{where}: {field!r} holds the character U+{ord(character):04X}")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
