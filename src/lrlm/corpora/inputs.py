"""The lines of a corpus's input files in, checked records out: facts, forms and articles.

triples    subject TAB relation type TAB object [TAB entity|literal]
forms      entity TAB form; an entity's first form is its canonical one
articles   JSON lines: id, text; optional topic (else the id), title (else the topic),
           gold: a list of {start, end, type, object} with character offsets into the text
"""

import json
from typing import Any, NamedTuple

from lrlm.corpora.reading import BadLineError
from lrlm.knowledge import TITLE


class Fact(NamedTuple):
    """One line of a triples file."""

    subject: str
    type: str
    object: str
    literal: bool


class Form(NamedTuple):
    """One line of a forms file."""

    entity: str
    form: str


class Article(NamedTuple):
    """One line of an articles file; `gold` is kept as JSON until the text has its tokens."""

    id: str
    topic: str
    title: str
    text: str
    gold: str | None


def parse_fact(line: str) -> Fact:
    """Read a line of a triples file."""
    cells = line.split("\t")
    if len(cells) not in (3, 4):
        raise BadLineError(
            "expected subject, relation, object and optionally entity|literal between tabs,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    subject, type_, object_, *kind = (cell.strip() for cell in cells)
    if not (subject and type_ and object_):
        raise BadLineError("subject, relation or object is empty")
    if type_ == TITLE:
        raise BadLineError(f"{TITLE!r} is made from the topic's names; put those into the forms")
    if kind and kind[0] not in ("entity", "literal"):
        raise BadLineError(f"the fourth column must be entity or literal, not {kind[0]!r}")
    return Fact(subject, type_, object_, kind == ["literal"])


def parse_form(line: str) -> Form:
    """Read a line of a forms file."""
    cells = line.split("\t")
    if len(cells) != 2:
        raise BadLineError(
            "expected entity and form between a tab,"
            f" found {len(cells)} column{'s' * (len(cells) != 1)}"
        )
    entity, form = (cell.strip() for cell in cells)
    if not (entity and form):
        raise BadLineError("entity or form is empty")
    return Form(entity, form)


def parse_article(line: str) -> Article:
    """Read a line of an articles file."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLineError(f"not JSON ({error})") from None
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
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadLineError(f"the field {field!r} holds half a character (a surrogate)") from None
    return value


def _check_gold(gold: Any, length: int) -> None:
    if not isinstance(gold, list):
        raise BadLineError("the field 'gold' must be a list of mentions")
    for mention in gold:
        if not isinstance(mention, dict):
            raise BadLineError("a gold mention must be an object with start, end, type, object")
        start, end = mention.get("start"), mention.get("end")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length):
            raise BadLineError(f"a gold mention from {start} to {end} is not within the text")
        for field in ("type", "object"):
            if not isinstance(mention.get(field), str | None):
                raise BadLineError(f"a gold mention's {field!r} must be a text")
