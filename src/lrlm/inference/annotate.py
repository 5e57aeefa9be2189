"""A run and linked documents in, an annotation of each out: a stream, read some at a time.

Shapes: B rows, E edges.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lrlm.batching import EncodedDocument, Encoder, evaluation_batches
from lrlm.corpora import LinkedDocument
from lrlm.errors import InputError, LrlmError
from lrlm.evaluation.reading import Reading, read
from lrlm.inference.annotation import Annotation, Fact, Segment
from lrlm.inference.spans import explain_spans
from lrlm.lattice import best_paths
from lrlm.training.data import SpelledWords
from lrlm.training.run import Run

BATCHES_AT_ONCE = 8
"""So many batches of documents are sorted by length together: enough to waste little padding."""

TOKENS_AT_ONCE = 1 << 20
"""Documents are taken in until they have so many tokens, however few they are."""


def annotate(
    run: Run, documents: Iterable[LinkedDocument], *, batch_size: int | None = None
) -> Iterator[Annotation]:
    """Annotate documents in their order; only some of them are held at a time."""
    if run.kind != "lrlm":
        raise InputError(
            f"{run.folder} holds a model of the kind {run.kind!r}, which does not know where words"
            " come from; annotation needs an LRLM ('lrlm train --model lrlm')"
        )
    return _annotations(run, documents, batch_size)


def _annotations(
    run: Run, documents: Iterable[LinkedDocument], batch_size: int | None
) -> Iterator[Annotation]:
    rows = batch_size or run.config.training.validation_batch_size
    for chunk in _chunks(documents, rows * BATCHES_AT_ONCE):
        encoded = list(_with_spelled_words(run.encoder, chunk).encode(chunk))
        scores: dict[int, _Scores] = {}
        for batch in evaluation_batches([document.tokens for document in encoded], rows):
            scores.update(zip(batch, _scores(run, [encoded[n] for n in batch]), strict=True))
        # Only numbers are kept until then: what a reader lets go of at once costs little memory.
        yield from (_annotation(document, scores.pop(n)) for n, document in enumerate(chunk))


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


def _with_spelled_words(encoder: Encoder, documents: Sequence[LinkedDocument]) -> Encoder:
    """Spell the unknown words of all documents at once."""
    words = set[str]().union(*(document.tokens.words for document in documents))
    unknown = {word for word in words if word not in encoder.vocabulary}
    return replace(encoder, speller=SpelledWords(encoder.speller, unknown))


@dataclass
class _Scores:
    """What the windows of a document have said of its segments so far."""

    words: list[float] = field(default_factory=list)
    """The log score of each token, `</s>` included."""
    mentions: list[float] = field(default_factory=list)
    """The log score of each of the document's mentions, in their order."""
    copied: list[int] = field(default_factory=list)
    """Which mentions are on the best path."""
    is_possible: bool = True


def _scores(run: Run, encoded: Sequence[EncodedDocument]) -> list[_Scores]:
    """Read the windows of a batch; no span crosses a window, so they are simply put together."""
    scores = [_Scores() for _ in encoded]
    for reading in read(run.model, run.collator.windows(encoded)):
        _add(scores, reading)
    return scores


def _add(scores: Sequence[_Scores], reading: Reading) -> None:
    lattice = reading.spelled(reading.window.spelling_BT)
    _, paths = best_paths(lattice)
    rows = [scores[number] for number in reading.window.document_B.tolist()]
    mentions = [row.mentions for row in rows]
    mention_E = []  # the collator keeps the order of a document's mentions
    for row, score in zip(lattice.row_E.tolist(), lattice.score_E.tolist(), strict=True):
        mention_E.append(len(mentions[row]))
        mentions[row].append(score)
    words, lengths = lattice.words_BT.tolist(), lattice.lengths_B.tolist()
    for number, (row, path) in enumerate(zip(rows, paths, strict=True)):
        row.words += words[number][: lengths[number]]
        row.copied += [mention_E[edge] for _, _, edge in path if edge is not None]
        row.is_possible &= bool(path)


def _annotation(document: LinkedDocument, scores: _Scores) -> Annotation:
    if not scores.is_possible:
        raise LrlmError(f"{document.id!r}: the text has no finite probability under this model")
    spans, nats = explain_spans(document, scores.words, scores.mentions)
    return Annotation(
        id=document.id,
        topic=document.topic,
        text=document.text,
        tokens=document.tokens,
        nats=nats,
        end_nats=-scores.words[-1],
        spans=spans,
        copied=tuple(_segment(document, mention) for mention in scores.copied),
    )


def _segment(document: LinkedDocument, number: int) -> Segment:
    start, end, relation_number, form = document.mentions[number]
    relation = document.relations[relation_number]
    fact = Fact(relation.type, relation.object, relation.texts[form])
    return Segment(document.tokens.starts[start], document.tokens.ends[end - 1], fact)
