"""A reading and documents whose truth is known in, how each candidate span was explained out.

A place is a span `[start, end)` that at least one candidate covers exactly. A segmentation
explains it in one of these ways, which exclude one another and leave nothing out:

    a relation   the span is one segment, copied through that relation
    words        each of its tokens is a WORD
    otherwise    a segment that is not this span covers some of its tokens

Their probabilities are exact: a document is cut into windows where no span crosses, so what a
window's lattice says is what the document's would say.

Shapes: B rows, T tokens, E edges, K places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import torch
from torch import Tensor

from lrlm.corpora import GoldMention, LinkedDocument
from lrlm.evaluation.reading import Reading
from lrlm.lattice import Lattice, log_marginal, posteriors

Fact = tuple[str, str]
"""The type and the object of a relation."""


class Way(StrEnum):
    """How a place came about."""

    RELATION = "relation"
    WORDS = "words"
    OTHERWISE = "otherwise"


class Explanation(NamedTuple):
    """One way to explain a place; `fact` where it is a relation."""

    way: Way
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A candidate span, what the posterior says of it, and what is true of it."""

    document: str
    start: int
    end: int
    words: tuple[str, ...]
    probabilities: dict[Explanation, float]
    """They sum to one."""
    truth: Way
    best: Explanation
    """The most probable explanation; of equals a relation, then words."""
    is_right: bool
    """Whether the best explanation is the true one."""
    is_overlapped: bool
    """Whether another candidate span shares a token with it."""

    @property
    def confidence(self) -> float:
        """The probability of the best explanation."""
        return self.probabilities[self.best]

    @property
    def candidates(self) -> int:
        """Relations that the place may be a copy of."""
        return sum(explanation.way is Way.RELATION for explanation in self.probabilities)


def explain(reading: Reading, documents: Sequence[LinkedDocument]) -> list[Place]:
    """Explain the candidate spans of a window, where the truth of its document is known."""
    lattice = reading.spelled(reading.window.spelling_BT)
    _, edge_E = posteriors(lattice)
    relation_E = reading.window.edges.relation_E.tolist()
    rows: dict[int, dict[tuple[int, int], dict[Fact, float]]] = {}
    for row, start, end, relation, probability in zip(
        lattice.row_E.tolist(),
        lattice.start_E.tolist(),
        lattice.end_E.tolist(),
        relation_E,
        edge_E.tolist(),
        strict=True,
    ):
        document = documents[int(reading.window.document_B[row])]
        if document.gold is not None:
            known = document.relations[relation]
            facts = rows.setdefault(row, {}).setdefault((start, end), {})
            fact = known.type, known.object
            facts[fact] = facts.get(fact, 0.0) + probability
    spans = [(row, *span) for row, found in rows.items() for span in found]
    words_K = all_words_probability(lattice, spans).tolist()
    places = []
    for (row, start, end), words in zip(spans, words_K, strict=True):
        document = documents[int(reading.window.document_B[row])]
        offset = int(reading.offset_B[row])
        is_overlapped = any(
            other != (start, end) and other[0] < end and start < other[1] for other in rows[row]
        )
        places.append(
            _place(
                document,
                (offset + start, offset + end),
                rows[row][start, end],
                words,
                is_overlapped=is_overlapped,
            )
        )
    return places


def all_words_probability(lattice: Lattice, spans: Sequence[tuple[int, int, int]]) -> Tensor:
    """Give the probability that all tokens of a span are words, for (row, start, end): (K,).

    It is the share of the segmentations that no edge over a token of the span is part of.
    """
    row_K, start_K, end_K = torch.tensor(spans, dtype=torch.long).reshape(-1, 3).T.contiguous()
    order_E = lattice.row_E.argsort()
    first_K, last_K = (
        torch.searchsorted(lattice.row_E[order_E], row_K, right=right) for right in (False, True)
    )
    places, edges = [], []
    for place, (first, last) in enumerate(zip(first_K.tolist(), last_K.tolist(), strict=True)):
        near = order_E[first:last]
        apart = (lattice.end_E[near] <= start_K[place]) | (lattice.start_E[near] >= end_K[place])
        edges.append(near[apart])
        places.append(torch.full_like(edges[-1], place))
    nothing = row_K.new_empty(0)
    edge, place_of_edge = torch.cat([nothing, *edges]), torch.cat([nothing, *places])
    without = Lattice(
        lattice.words_BT[row_K],
        lattice.lengths_B[row_K],
        place_of_edge,
        lattice.start_E[edge],
        lattice.end_E[edge],
        lattice.score_E[edge],
        checked=False,
    )
    return (log_marginal(without) - log_marginal(lattice)[row_K]).exp().clamp(max=1.0)


def unlinked_mentions(documents: Sequence[LinkedDocument]) -> int:
    """Count the true mentions that no candidate covers exactly: no model can find them."""
    return sum(
        (gold.start, gold.end) not in {(m.start, m.end) for m in document.mentions}
        for document in documents
        for gold in document.gold or ()
    )


def _place(
    document: LinkedDocument,
    span: tuple[int, int],
    facts: dict[Fact, float],
    words: float,
    *,
    is_overlapped: bool,
) -> Place:
    start, end = span
    probabilities = {Explanation(Way.RELATION, fact): value for fact, value in facts.items()}
    probabilities[Explanation(Way.WORDS)] = words
    probabilities[Explanation(Way.OTHERWISE)] = max(1.0 - sum(probabilities.values()), 0.0)
    truth, gold = _truth(document.gold or (), start, end)
    best = max(probabilities, key=lambda explanation: probabilities[explanation])
    return Place(
        document=document.id,
        start=start,
        end=end,
        words=tuple(document.tokens.words[start:end]),
        probabilities=probabilities,
        truth=truth,
        best=best,
        is_right=best.way is truth and (gold is None or _agrees(gold, best.fact)),
        is_overlapped=is_overlapped,
    )


def _truth(golds: Sequence[GoldMention], start: int, end: int) -> tuple[Way, GoldMention | None]:
    """Say how a span came about, and what it names if it is a mention."""
    overlapping = [gold for gold in golds if gold.start < end and start < gold.end]
    for gold in overlapping:
        if (gold.start, gold.end) == (start, end):
            return Way.RELATION, gold
    return (Way.OTHERWISE if overlapping else Way.WORDS), None


def _agrees(gold: GoldMention, fact: Fact | None) -> bool:
    """Compare with what is known of a mention; a type or an object may be left open."""
    return fact is not None and all(
        known is None or known == said
        for known, said in zip((gold.type, gold.object), fact, strict=True)
    )
