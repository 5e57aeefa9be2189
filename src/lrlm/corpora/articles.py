"""Read articles and check that each has what a corpus needs.

An article is a line of JSON with the fields `id` and `text`, and optionally `topic` (else the id),
`title` (else the topic) and `gold`: a list of {start, end, type, object} with character offsets
into the text, where type and object may be left out.
"""

import json
from typing import Any, NamedTuple

from lrlm.characters import describe
from lrlm.text.document import GoldSpan
from lrlm.text_files import BadLineError


class Article(NamedTuple):
    """A text about a topic, not linked yet."""

    id: str
    topic: str
    title: str
    text: str
    gold: tuple[GoldSpan, ...] | None
    """The true mentions where they are known."""


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
    return Article(
        article_id, topic, title, text, None if gold is None else _gold_spans(gold, len(text))
    )


def check_characters(field: str, value: str) -> None:
    """Refuse what no file can hold."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        what = describe(value[error.start])
        raise BadLineError(f"the field {field!r} holds {what}") from None


def _text(record: dict[str, Any], field: str, default: str | None = None) -> str:
    value = record.get(field, default)
    if value is None:
        raise BadLineError(f"the field {field!r} is missing")
    if not isinstance(value, str) or not value.strip():
        raise BadLineError(f"the field {field!r} must be a text that is not blank")
    check_characters(field, value)
    return value


def _gold_spans(gold: Any, length: int) -> tuple[GoldSpan, ...]:
    if not isinstance(gold, list):
        raise BadLineError("the field 'gold' must be a list of mentions")
    spans = []
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
        spans.append(GoldSpan(start, end, mention.get("type"), mention.get("object")))
    return tuple(spans)
