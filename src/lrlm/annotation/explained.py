"""What the lattice says of a document's candidates: every span explained, and the best path."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from lrlm.annotation.name_odds import AnyOdds, favoured
from lrlm.lattice import ExplainedSpan, best_paths, block_sums, explain
from lrlm.models import ScoredDocument, lattice_of
from lrlm.text import LinkedDocument, Mention


@dataclass(frozen=True)
class ExplainedDocument:
    """The candidates of one document and the probabilities of all that may explain them.

    Spans and candidates count the model's tokens; a label stands for a fact.
    """

    document: LinkedDocument
    scored: ScoredDocument
    facts: Sequence[tuple[str, str]]
    """The type and the object that each label stands for: relations with both alike are one."""
    labels: Sequence[int]
    """The label of each candidate."""
    spans: Sequence[ExplainedSpan]
    best: Sequence[int]
    """The candidates on the most probable path."""
    nats: float
    """−log P of the text, its end not counted; infinite where no path gets through it. It is the
    model's own, whatever the odds of copying are."""

    @cached_property
    def candidates(self) -> list[Mention]:
        """All candidates, in tokens."""
        return [Mention(*edge) for edge in self.scored.encoded.edges_E4.tolist()]

    @cached_property
    def _candidate(self) -> dict[tuple[int, int, int], Mention]:
        """By tokens `[start, end)` and label, the first candidate there."""
        first: dict[tuple[int, int, int], Mention] = {}
        for candidate, label in zip(self.candidates, self.labels, strict=True):
            first.setdefault((candidate.start, candidate.end, label), candidate)
        return first

    def candidate(self, start: int, end: int, label: int) -> Mention:
        """Give the candidate that stands at these tokens and copies this fact, in tokens."""
        return self._candidate[start, end, label]


def explain_documents(
    documents: Sequence[LinkedDocument],
    scored: Sequence[ScoredDocument],
    *,
    most_mixtures: int,
    copy_odds: AnyOdds = 0.0,
) -> list[ExplainedDocument]:
    """Explain the candidates of a batch; of each span, at most so many mixtures are listed.

    With `copy_odds`, they are explained as if copying were more probable (`favoured`).
    """
    facts: list[dict[tuple[str, str], int]] = [{} for _ in documents]
    labels: list[list[int]] = []
    for document, each, label_of in zip(documents, scored, facts, strict=True):
        relations = (document.relations[number] for number in each.encoded.edges_E4[:, 2].tolist())
        labels.append(
            [label_of.setdefault((each.type, each.object), len(label_of)) for each in relations]
        )
    lattice = lattice_of(favoured(documents, scored, copy_odds))
    label_E = torch.tensor([label for row in labels for label in row], dtype=torch.long)
    spans = explain(lattice, label_E, most_mixtures=most_mixtures)
    _, paths = best_paths(lattice)
    blocks = block_sums(lattice if copy_odds == 0 else lattice_of(scored))
    nats: list[list[float]] = [[] for _ in documents]
    for row, total in zip(blocks.row_K.tolist(), blocks.total_K.tolist(), strict=True):
        nats[row].append(-total)
    explained = []
    before = 0  # candidates of the documents before
    for row, document in enumerate(documents):
        explained.append(
            ExplainedDocument(
                document=document,
                scored=scored[row],
                facts=list(facts[row]),
                labels=labels[row],
                spans=spans[row],
                best=[step.edge - before for step in paths[row] if step.edge is not None],
                nats=math.fsum(nats[row]),
            )
        )
        before += len(labels[row])
    return explained
