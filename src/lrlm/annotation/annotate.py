"""Annotate linked documents with a trained model: a stream, read some documents at a time."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from lrlm.annotation.annotation import Annotation, Explanation, ExplanationKind, Fact, Segment, Span
from lrlm.batching import evaluation_batches
from lrlm.errors import InputError, LrlmError
from lrlm.lattice import ExplainedSpan, best_paths, block_sums, explain
from lrlm.models import ScoredDocument, lattice_of, read_documents
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, TokenPlaces

BATCHES_AT_ONCE = 8
"""So many batches of documents are sorted by length together: enough to waste little padding."""

TOKENS_AT_ONCE = 1 << 20
"""Documents are taken in until they have so many tokens, however few they are."""

MOST_MIXTURES = 64
"""Mixtures of a span that are listed one by one; the less probable ones are one explanation."""


def annotate(
    run: Run, documents: Iterable[LinkedDocument], *, batch_size: int | None = None
) -> Iterator[Annotation]:
    """Annotate documents in their order; only some of them are held at a time."""
    if not run.model.has_posteriors:
        raise InputError(
            f"{run.folder} holds a {run.model.label}, which does not know where words come from;"
            " annotation needs a model that sums over segmentations, such as LRLM"
        )
    return _annotations(run, documents, batch_size)


def _annotations(
    run: Run, documents: Iterable[LinkedDocument], batch_size: int | None
) -> Iterator[Annotation]:
    rows = batch_size or run.config.training.validation_batch_size
    for chunk in _chunks(documents, rows * BATCHES_AT_ONCE):
        words = set[str]().union(*(document.tokens.words for document in chunk))
        encoder = replace(run.encoder, space=run.space.prepared_for(words))
        encoded = list(encoder.encode(chunk))
        scored: dict[int, ScoredDocument] = {}
        batches = evaluation_batches([document.tokens for document in encoded], rows)
        for batch in batches:
            read = read_documents(run.model, run.collator, [encoded[number] for number in batch])
            scored.update(zip(batch, read, strict=True))
        # Explained in their order, some at a time: what a reader lets go of costs no memory.
        for first in range(0, len(chunk), rows):
            members = range(first, min(first + rows, len(chunk)))
            yield from _explain(
                run,
                [chunk[number] for number in members],
                [scored.pop(number) for number in members],
            )


def _chunks(documents: Iterable[LinkedDocument], most: int) -> Iterator[list[LinkedDocument]]:
    """Take documents until there are many of them, or they are long."""
    chunk: list[LinkedDocument] = []
    tokens = 0
    for document in documents:
        chunk.append(document)
        tokens += len(document.tokens)
        if len(chunk) >= most or tokens >= TOKENS_AT_ONCE:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def _explain(
    run: Run, documents: Sequence[LinkedDocument], scored: Sequence[ScoredDocument]
) -> Iterator[Annotation]:
    """Turn the scores of a batch into annotations."""
    facts = [_Facts(*pair) for pair in zip(documents, scored, strict=True)]
    lattice = lattice_of(scored)
    # Paths come first, and only their edges are kept: thousands of words that stay alive while all
    # the rest is made would set the garbage collector to work.
    _, paths = best_paths(lattice)
    copied = [[step.edge for step in path if step.edge is not None] for path in paths]
    del paths
    label_E = torch.tensor([label for each in facts for label in each.labels], dtype=torch.long)
    spans = explain(lattice, label_E, most_mixtures=MOST_MIXTURES)
    blocks = block_sums(lattice)
    totals: list[list[float]] = [[] for _ in documents]
    for row, total in zip(blocks.row_K.tolist(), blocks.total_K.tolist(), strict=True):
        totals[row].append(-total)
    before = 0  # edges of the documents before
    for row, document in enumerate(documents):
        nats = math.fsum(totals[row])
        if not math.isfinite(nats):
            raise LrlmError(
                f"the text of {document.id!r} has no finite probability under this model"
            )
        places = run.space.places(document)
        yield Annotation(
            id=document.id,
            topic=document.topic,
            text=document.text,
            tokens=document.tokens,
            nats=nats,
            end_nats=-scored[row].end_score,
            spans=tuple(_span(document, places, facts[row], found) for found in spans[row]),
            copied=tuple(facts[row].segment(places, edge - before) for edge in copied[row]),
        )
        before += len(facts[row].labels)


class _Facts:
    """What the candidates of a document may be copies of; equal facts have one label."""

    def __init__(self, document: LinkedDocument, scored: ScoredDocument) -> None:
        self._mentions = [document.mentions[n] for n in scored.encoded.mention_E.tolist()]
        self._document = document
        self._edges = scored.encoded.edges_E4
        numbers: dict[tuple[str, str], int] = {}
        self.labels: list[int] = []
        """Of each candidate: the number of its fact."""
        self._form: dict[tuple[int, int, int], str] = {}
        for mention in self._mentions:
            relation = document.relations[mention.relation]
            label = numbers.setdefault((relation.type, relation.object), len(numbers))
            self.labels.append(label)
        self._facts = list(numbers)
        for (start, end), label, mention in zip(
            self._edges[:, :2].tolist(), self.labels, self._mentions, strict=True
        ):
            form = document.relations[mention.relation].texts[mention.form]
            self._form.setdefault((start, end, label), form)

    def fact(self, start: int, end: int, label: int) -> Fact:
        """Give the fact with a label, in the form that stands at these tokens."""
        return Fact(*self._facts[label], self._form[start, end, label])

    def segment(self, places: TokenPlaces, edge: int) -> Segment:
        """Give a candidate as a copied segment."""
        start, end = self._edges[edge, :2].tolist()
        mention = self._mentions[edge]
        relation = self._document.relations[mention.relation]
        fact = Fact(relation.type, relation.object, relation.texts[mention.form])
        return Segment(places.starts[start], places.ends[end - 1], fact)


def _span(
    document: LinkedDocument, places: TokenPlaces, facts: _Facts, found: ExplainedSpan
) -> Span:
    """Write an explained span in characters of the text, the most probable explanation first."""

    def segment(start: int, end: int, label: int | None) -> Segment:
        fact = None if label is None else facts.fact(start, end, label)
        return Segment(places.starts[start], places.ends[end - 1], fact)

    begin, stop = places.starts[found.start], places.ends[found.end - 1]
    each_word = tuple(segment(n, n + 1, None) for n in range(found.start, found.end))
    listed = [
        Explanation(
            ExplanationKind.RELATION, (segment(found.start, found.end, label),), probability
        )
        for label, probability in found.copies
    ]
    listed.append(Explanation(ExplanationKind.WORDS, each_word, found.words))
    listed += [
        Explanation(
            ExplanationKind.MIXTURE, tuple(segment(*step) for step in mixture.steps), mixture[0]
        )
        for mixture in found.mixtures
    ]
    if found.other_mixtures is not None:
        listed.append(Explanation(ExplanationKind.MIXTURE, (), found.other_mixtures))
    if found.crossing is not None:
        listed.append(Explanation(ExplanationKind.CROSSING, (), found.crossing))
    # Relations come first and crossings last, also among equals: sorting keeps their order.
    listed.sort(key=lambda each: each.probability, reverse=True)
    return Span(begin, stop, document.text[begin:stop], tuple(listed))
