"""What a model says of the candidate spans of a document, in words of the document."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.annotation.explained import ExplainedDocument, explain_documents
from lrlm.models import ScoredDocument
from lrlm.text import LinkedDocument, Mention


@dataclass(frozen=True, slots=True)
class JudgedSpan:
    """A candidate span `[start, end)` of words, and what it may be a copy of."""

    start: int
    end: int
    facts: tuple[tuple[tuple[str, str], float], ...]
    """Type and object of a relation, and the probability that the span was copied through it."""
    words: float
    """The probability that each of its tokens is a WORD."""


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """All candidate spans of a document, and the candidates on its most probable path."""

    spans: tuple[JudgedSpan, ...]
    best_path: tuple[Mention, ...]


def judge(
    documents: Sequence[LinkedDocument], scored: Sequence[ScoredDocument]
) -> list[JudgedDocument]:
    """Say what a model claims of a batch of documents; the probabilities are exact."""
    return [_judged(each) for each in explain_documents(documents, scored, most_mixtures=0)]


def _judged(explained: ExplainedDocument) -> JudgedDocument:
    spans = []
    for span in explained.spans:
        first_label, _ = span.copies[0]
        mention = explained.candidate(span.start, span.end, first_label)
        facts = tuple((explained.facts[label], probability) for label, probability in span.copies)
        spans.append(JudgedSpan(mention.start, mention.end, facts, span.words))
    best_path = tuple(explained.mentions[number] for number in explained.best)
    return JudgedDocument(tuple(spans), best_path)
