"""Lay linked documents out in the columns of a corpus, and read them back.

A row holds a whole document. What relation types are called is the same in all of them, and is kept
beside the rows.
"""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from lrlm.text import Tokens
from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument, Mention

_RELATION = pa.struct(
    [
        ("type", pa.string()),
        ("object", pa.string()),
        ("forms", pa.list_(pa.list_(pa.string()))),
        ("texts", pa.list_(pa.string())),
    ]
)
_MENTION = pa.struct([(name, pa.int32()) for name in Mention._fields])
GOLD = pa.struct(
    [("start", pa.int32()), ("end", pa.int32()), ("type", pa.string()), ("object", pa.string())]
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("topic", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("words", pa.list_(pa.string())),
        ("starts", pa.list_(pa.int32())),
        ("ends", pa.list_(pa.int32())),
        ("relations", pa.list_(_RELATION)),
        ("mentions", pa.list_(_MENTION)),
        ("gold", pa.list_(GOLD)),
    ]
)


def to_table(documents: Iterable[LinkedDocument]) -> pa.Table:
    """Lay documents out in the corpus's columns."""
    rows = [
        {
            "id": document.id,
            "topic": document.topic,
            "title": document.title,
            "text": document.text,
            "words": document.tokens.words,
            "starts": document.tokens.starts,
            "ends": document.tokens.ends,
            "relations": [
                {
                    "type": relation.type,
                    "object": relation.object,
                    "forms": relation.forms,
                    "texts": relation.texts,
                }
                for relation in document.relations
            ],
            "mentions": [mention._asdict() for mention in document.mentions],
            "gold": None if document.gold is None else [gold._asdict() for gold in document.gold],
        }
        for document in documents
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def from_table(
    table: pa.Table | pa.RecordBatch, labels: Mapping[str, str] | None = None
) -> Iterator[LinkedDocument]:
    """Read documents back from the corpus's columns; `labels` say what relation types are called.

    A type without a label is its own name.
    """
    labels = labels or {}
    for row in table.to_pylist():
        yield LinkedDocument(
            id=row["id"],
            topic=row["topic"],
            title=row["title"],
            text=row["text"],
            tokens=Tokens(row["words"], row["starts"], row["ends"]),
            relations=tuple(
                LinkableRelation(
                    relation["type"],
                    relation["object"],
                    tuple(tuple(form) for form in relation["forms"]),
                    tuple(relation["texts"]),
                    labels.get(relation["type"], relation["type"]),
                )
                for relation in row["relations"]
            ),
            mentions=tuple(Mention(**mention) for mention in row["mentions"]),
            gold=(
                None if row["gold"] is None else tuple(GoldMention(**gold) for gold in row["gold"])
            ),
        )
