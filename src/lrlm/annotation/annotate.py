"""Annotate linked documents with a trained model: a stream, read some documents at a time."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lrlm.annotation.annotation import (
    Annotation,
    BadText,
    Explanation,
    ExplanationKind,
    Fact,
    Segment,
    Span,
)
from lrlm.annotation.explained import ExplainedDocument, explain_documents
from lrlm.batching import evaluation_batches
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Topic
from lrlm.lattice import ExplainedSpan
from lrlm.models import ScoredDocument, read_documents
from lrlm.plain_data import shown
from lrlm.runs.run import LARGEST_COPY_ODDS, Run
from lrlm.text import LinkedDocument, Mention, TokenPlaces

BATCHES_AT_ONCE = 8
"""So many batches of documents are sorted by length together: enough to waste little padding."""

TOKENS_AT_ONCE = 1 << 20
"""Documents are read together until they have this many tokens, however few they are."""

MOST_MIXTURES = 64
"""Mixtures of a span that are listed one by one; the less probable ones are one explanation."""


def annotate(
    run: Run,
    documents: Iterable[LinkedDocument],
    *,
    batch_size: int | None = None,
    copy_odds: float | None = None,
) -> Iterator[Annotation]:
    """Annotate documents in their order; only some of them are held at a time.

    `copy_odds` are the odds of copying (`lrlm.models.with_copy_odds`); None for those of the run.
    """
    check_posteriors(run)
    odds = odds_of(run, copy_odds)
    return (_raised(result) for result in _results(run, documents, batch_size, odds))


def annotate_texts(
    run: Run,
    texts: Iterable[object],
    *,
    link: Callable[[str, Topic], LinkedDocument],
    batch_size: int | None = None,
    copy_odds: float | None = None,
) -> Iterator[Annotation | BadText]:
    """Annotate pairs of a text and its topic; one that cannot be read is told in its place."""
    check_posteriors(run)
    return _in_their_places(run, texts, link, batch_size, odds_of(run, copy_odds))


def check_posteriors(run: Run) -> None:
    """Refuse a model that cannot say where words come from."""
    if not run.model.has_posteriors:
        raise InputError(
            f"{run.folder} holds a {run.model.label}, which does not know where words come from;"
            " annotation needs a model that sums over segmentations, such as LRLM"
        )


def odds_of(run: Run, copy_odds: float | None) -> float:
    """Give the odds of copying that were asked for, else those of the run."""
    if copy_odds is None:
        return run.copy_odds
    if not isinstance(copy_odds, int | float) or not abs(copy_odds) <= LARGEST_COPY_ODDS:
        raise InputError(
            f"the odds of copying are nats from -{LARGEST_COPY_ODDS:g} to {LARGEST_COPY_ODDS:g},"
            f" not {shown(copy_odds)}"
        )
    return float(copy_odds)


def _raised(result: Annotation | LrlmError) -> Annotation:
    if isinstance(result, LrlmError):
        raise result
    return result


def _in_their_places(
    run: Run,
    texts: Iterable[object],
    link: Callable[[str, Topic], LinkedDocument],
    batch_size: int | None,
    copy_odds: float,
) -> Iterator[Annotation | BadText]:
    places: deque[int | BadText] = deque()
    """Of the texts that were read and not answered yet: their numbers, and the bad ones."""

    def documents() -> Iterator[LinkedDocument]:
        for number, given in enumerate(texts):
            try:
                document = link(*_pair(given))
            except InputError as error:
                places.append(BadText(number, error))
            else:
                places.append(number)
                yield document

    def bad_texts() -> Iterator[BadText]:
        while places and isinstance(places[0], BadText):
            yield places[0]
            places.popleft()

    for result in _results(run, documents(), batch_size, copy_odds):
        yield from bad_texts()
        number = places.popleft()
        assert isinstance(number, int)
        yield BadText(number, result) if isinstance(result, LrlmError) else result
    yield from bad_texts()


def _pair(given: object) -> tuple[str, Topic]:
    """Take a text and its topic apart; what they are is checked when they are linked."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"a text comes with its topic, as (text, topic), not as {shown(given)}")
    text, topic = given
    return text, topic


def _results(
    run: Run, documents: Iterable[LinkedDocument], batch_size: int | None, copy_odds: float
) -> Iterator[Annotation | LrlmError]:
    """Give the annotation of every document, or what is wrong with it."""
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
            for explained in explain_documents(
                [chunk[number] for number in members],
                [scored.pop(number) for number in members],
                most_mixtures=MOST_MIXTURES,
                copy_odds=copy_odds,
            ):
                if math.isfinite(explained.nats):
                    yield _annotation(explained, run.space.places(explained.document))
                else:
                    yield _improbable(explained.document)


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


def _improbable(document: LinkedDocument) -> LrlmError:
    return LrlmError(f"the text of {document.id!r} has no finite probability under this model")


def _annotation(explained: ExplainedDocument, places: TokenPlaces) -> Annotation:
    """Write what was explained in characters of the text."""
    document = explained.document

    def segment(start: int, end: int, candidate: Mention | None) -> Segment:
        fact = None
        if candidate is not None:
            relation = document.relations[candidate.relation]
            fact = Fact(relation.type, relation.object, relation.texts[candidate.form])
        return Segment(places.starts[start], places.ends[end - 1], fact)

    copied = (explained.candidates[number] for number in explained.best)
    return Annotation(
        id=document.id,
        topic=document.topic,
        text=document.text,
        tokens=document.tokens,
        nats=explained.nats,
        end_nats=-explained.scored.end_score,
        spans=tuple(_span(explained, found, segment) for found in explained.spans),
        copied=tuple(segment(each.start, each.end, each) for each in copied),
    )


def _span(
    explained: ExplainedDocument,
    found: ExplainedSpan,
    segment: Callable[[int, int, Mention | None], Segment],
) -> Span:
    """Write one span with its explanations, the most probable first."""

    def step(start: int, end: int, label: int | None) -> Segment:
        candidate = None if label is None else explained.candidate(start, end, label)
        return segment(start, end, candidate)

    kind = ExplanationKind
    listed = [
        Explanation(kind.RELATION, (step(found.start, found.end, label),), probability)
        for label, probability in found.copies
    ]
    (whole,) = listed[0].steps
    words = tuple(step(n, n + 1, None) for n in range(found.start, found.end))
    listed.append(Explanation(kind.WORDS, words, found.words))
    listed += [
        Explanation(kind.MIXTURE, tuple(step(*each) for each in mixture.steps), mixture.probability)
        for mixture in found.mixtures
    ]
    if found.other_mixtures is not None:
        listed.append(Explanation(kind.MIXTURE, (), found.other_mixtures))
    if found.crossing is not None:
        listed.append(Explanation(kind.CROSSING, (), found.crossing))
    # Relations come first and crossings last, also among equals: sorting keeps their order.
    listed.sort(key=lambda each: each.probability, reverse=True)
    begin, stop = whole.start, whole.end
    return Span(begin, stop, explained.document.text[begin:stop], tuple(listed))
