"""What a model says of the candidate spans of a document, in words of the document."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lrlm.lattice import best_paths, explain
from lrlm.models import ScoredDocument, lattice_of
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
    """Explain the candidates of a batch of documents; the probabilities are exact."""
    lattice = lattice_of(scored)
    numbers: list[dict[tuple[str, str], int]] = [{} for _ in documents]
    mentions: list[list[Mention]] = []
    labels: list[int] = []
    for document, its_scores, label_of in zip(documents, scored, numbers, strict=True):
        listed = [document.mentions[n] for n in its_scores.encoded.mention_E.tolist()]
        mentions.append(listed)
        for mention in listed:
            relation = document.relations[mention.relation]
            fact = relation.type, relation.object
            labels.append(label_of.setdefault(fact, len(label_of)))
    spans = explain(lattice, torch.tensor(labels, dtype=torch.long), most_mixtures=0)
    _, paths = best_paths(lattice)
    judged = []
    before = 0  # candidates of the documents before
    for row, its_scores in enumerate(scored):
        facts = list(numbers[row])
        in_words = {
            tuple(edge): (mention.start, mention.end)
            for edge, mention in zip(
                its_scores.encoded.edges_E4[:, :2].tolist(), mentions[row], strict=True
            )
        }
        judged.append(
            JudgedDocument(
                tuple(
                    JudgedSpan(
                        *in_words[span.start, span.end],
                        tuple((facts[label], probability) for label, probability in span.copies),
                        span.words,
                    )
                    for span in spans[row]
                ),
                tuple(
                    mentions[row][step.edge - before]
                    for step in paths[row]
                    if step.edge is not None
                ),
            )
        )
        before += len(mentions[row])
    return judged
