"""Count the figures of the paper's table of datasets."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from lrlm.knowledge import TITLE
from lrlm.text.document import LinkedDocument

FREQUENT = 3
"""The paper's vocabulary holds the words that occur at least so often in the training texts."""


@dataclass
class SplitStatistics:
    """Sums over the documents of a split; sums of parts add up to those of the whole."""

    documents: int = 0
    tokens: int = 0
    facts: int = 0
    """Relations of the documents' topics, the title not counted."""
    objects: int = 0
    """Relations, the title counted: each has one object."""
    forms: int = 0
    spans: int = 0
    """Spans that may be a mention."""
    candidates: int = 0
    """Candidate mentions: for each span, every relation and form that fits."""
    covered_tokens: int = 0
    gold_mentions: int = 0
    word_counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, documents: Iterable[LinkedDocument]) -> "SplitStatistics":
        """Count documents."""
        total = cls()
        for document in documents:
            spans = {(mention.start, mention.end) for mention in document.mentions}
            covered = {token for start, end in spans for token in range(start, end)}
            total.documents += 1
            total.tokens += len(document.tokens)
            total.facts += sum(relation.type != TITLE for relation in document.relations)
            total.objects += len(document.relations)
            total.forms += sum(len(relation.forms) for relation in document.relations)
            total.spans += len(spans)
            total.candidates += len(document.mentions)
            total.covered_tokens += len(covered)
            total.gold_mentions += len(document.gold or ())
            total.word_counts.update(document.tokens.words)
        return total

    def __iadd__(self, other: Self) -> Self:
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.word_counts.update(other.word_counts)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Give what a manifest keeps: the sums, and the sizes of the vocabulary."""
        return {
            **{name: getattr(self, name) for name in _SUMS},
            "words": len(self.word_counts),
            "frequent_words": sum(count >= FREQUENT for count in self.word_counts.values()),
        }


def figures(split: dict[str, Any]) -> dict[str, float]:
    """Turn the sums of a split, as a manifest keeps them, into the means of the paper's table."""
    documents = max(split["documents"], 1)
    return {
        "documents": split["documents"],
        "words": split["words"],
        "frequent words": split["frequent_words"],
        "relations per topic": split["facts"] / documents,
        "forms per object": split["forms"] / max(split["objects"], 1),
        "tokens per document": split["tokens"] / documents,
        "mentions per document": split["spans"] / documents,
        "candidates per document": split["candidates"] / documents,
        "tokens covered": split["covered_tokens"] / max(split["tokens"], 1),
    }


_SUMS = (
    "documents", "tokens", "facts", "objects", "forms", "spans", "candidates", "covered_tokens",
    "gold_mentions",
)  # fmt: skip
