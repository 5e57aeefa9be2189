"""What a model says of the candidate spans of a document, in words of the document."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.annotation.explained import ExplainedDocument, explain_documents
from lrlm.annotation.name_odds import AnyOdds
from lrlm.models import ScoredDocument
from lrlm.text import LinkedDocument, Mention, TokenPlaces, TokenSpace, word_span


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
    """All candidate spans of a document, and the candidates on its most probable path.

    Where tokens are smaller than words, a candidate may begin or end within a word, as "Oslo" does
    in "Oslo-based". Such ones are told apart: they are given by the words that they touch.
    """

    spans: tuple[JudgedSpan, ...]
    best_path: tuple[Mention, ...]
    spans_within_words: tuple[JudgedSpan, ...] = ()
    best_path_within_words: tuple[Mention, ...] = ()


def judge(
    documents: Sequence[LinkedDocument],
    scored: Sequence[ScoredDocument],
    space: TokenSpace,
    *,
    copy_odds: AnyOdds = 0.0,
) -> list[JudgedDocument]:
    """Say what a model claims of a batch of documents; the probabilities are exact.

    `copy_odds` are the odds of copying, as in `lrlm.annotation.name_odds`.
    """
    explained = explain_documents(documents, scored, most_mixtures=0, copy_odds=copy_odds)
    return [_judged(each, space.places(each.document)) for each in explained]


def _judged(explained: ExplainedDocument, places: TokenPlaces) -> JudgedDocument:
    words = explained.document.tokens
    spans: dict[bool, list[JudgedSpan]] = {True: [], False: []}
    for span in explained.spans:
        start, end, is_whole = word_span(words, places, span.start, span.end)
        facts = tuple((explained.facts[label], probability) for label, probability in span.copies)
        spans[is_whole].append(JudgedSpan(start, end, facts, span.words))
    best_path: dict[bool, list[Mention]] = {True: [], False: []}
    for number in explained.best:
        candidate = explained.candidates[number]
        start, end, is_whole = word_span(words, places, candidate.start, candidate.end)
        best_path[is_whole].append(Mention(start, end, candidate.relation, candidate.form))
    return JudgedDocument(
        tuple(spans[True]), tuple(best_path[True]), tuple(spans[False]), tuple(best_path[False])
    )
