"""Read articles and check that each has what a corpus needs.

An article is a line of JSON with the fields `id` and `text`, and optionally `topic` (else the id),
`title` (else the topic) and `gold`: a list of {start, end, type, object} with character offsets
into the text, where type and object may be left out.
"""

import json
import re
import reprlib
from typing import Any, NamedTuple

from lrlm.characters import NOT_IN_A_TEXT, NOT_ON_A_LINE, refused_in
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
    article_id = _text(record, "id", refused=NOT_ON_A_LINE)
    topic = _text(record, "topic", article_id, refused=NOT_ON_A_LINE)
    title = _text(record, "title", topic)
    text = _text(record, "text")
    gold = record.get("gold")
    return Article(
        article_id, topic, title, text, None if gold is None else _gold_spans(gold, len(text))
    )


def check_characters(field: str, value: str, *, refused: re.Pattern[str] = NOT_IN_A_TEXT) -> None:
    """Refuse what no file can hold, and control characters."""
    if what := refused_in(value, refused):
        raise BadLineError(f"the field {field!r} holds {what}")


def _text(
    record: dict[str, Any],
    field: str,
    default: str | None = None,
    *,
    refused: re.Pattern[str] = NOT_IN_A_TEXT,
) -> str:
    value = record.get(field, default)
    if value is None:
        raise BadLineError(f"the field {field!r} is missing")
    if not isinstance(value, str) or not value.strip():
        raise BadLineError(f"the field {field!r} must be a text that is not blank")
    check_characters(field, value, refused=refused)
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
            where = f"from {reprlib.repr(start)} to {reprlib.repr(end)}"
            raise BadLineError(f"a gold mention {where} is not within the text")
        for field in ("type", "object"):
            value = mention.get(field)
            if not isinstance(value, str | None):
                raise BadLineError(f"a gold mention's {field!r} must be a text")
            check_characters(field, value or "", refused=NOT_ON_A_LINE)
        spans.append(GoldSpan(start, end, mention.get("type"), mention.get("object")))
    return tuple(spans)
