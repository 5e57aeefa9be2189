"""The lines of a corpus's input files in, checked records out: facts, forms and articles.

triples    subject TAB relation type TAB object [TAB entity|literal]
forms      entity TAB form; an entity's first form is its canonical one
articles   JSON lines: id, text; optional topic (else the id), title (else the topic),
           gold: a list of {start, end, type, object} with character offsets into the text
"""

import json
from typing import Any, NamedTuple

from lrlm.knowledge.sources.triples import FactRow, FormRow, parse_fact, parse_form
from lrlm.text_files import BadLineError

__all__ = [
    "Article",
    "FactRow",
    "FormRow",
    "article_from",
    "check_characters",
    "parse_article",
    "parse_fact",
    "parse_form",
]


class Article(NamedTuple):
    """One line of an articles file; `gold` is kept as JSON until the text has its tokens."""

    id: str
    topic: str
    title: str
    text: str
    gold: str | None


def parse_article(line: str) -> Article:
    """Read a line of an articles file."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLineError(f"not JSON ({error})") from None
    return article_from(record)


def article_from(record: Any) -> Article:
    """Check an article's fields, wherever they come from."""
    if not isinstance(record, dict):
        raise BadLineError("expected a JSON object with id and text")
    article_id = _text(record, "id")
    topic = _text(record, "topic", article_id)
    title = _text(record, "title", topic)
    text = _text(record, "text")
    gold = record.get("gold")
    if gold is not None:
        _check_gold(gold, len(text))
    return Article(
        article_id, topic, title, text, None if gold is None else json.dumps(gold, sort_keys=True)
    )


def _text(record: dict[str, Any], field: str, default: str | None = None) -> str:
    value = record.get(field, default)
    if value is None:
        raise BadLineError(f"the field {field!r} is missing")
    if not isinstance(value, str) or not value.strip():
        raise BadLineError(f"the field {field!r} must be a text that is not blank")
    check_characters(field, value)
    return value


def check_characters(field: str, value: str) -> None:
    """Refuse what no file can hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadLineError(f"the field {field!r} holds half a character (a surrogate)") from None


def _check_gold(gold: Any, length: int) -> None:
    if not isinstance(gold, list):
        raise BadLineError("the field 'gold' must be a list of mentions")
    for mention in gold:
        if not isinstance(mention, dict):
            raise BadLineError("a gold mention must be an object with start, end, type, object")
        start, end = mention.get("start"), mention.get("end")
        if not (type(start) is type(end) is int and 0 <= start < end <= length):
            raise BadLineError(f"a gold mention from {start} to {end} is not within the text")
        for field in ("type", "object"):
            value = mention.get(field)
            if not isinstance(value, str | None):
                raise BadLineError(f"a gold mention's {field!r} must be a text")
            check_characters(field, value or "")
