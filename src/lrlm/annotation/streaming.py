"""Read a stream of texts with a model, some of them at a time, and answer them in their order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from lrlm.annotation.annotation import BadText
from lrlm.batching import evaluation_batches
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Topic
from lrlm.models import ScoredDocument, read_documents
from lrlm.plain_data import shown
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

BATCHES_AT_ONCE = 8
"""So many batches of documents are sorted by length together: enough to waste little padding."""

TOKENS_AT_ONCE = 1 << 20
"""Documents are read together until they have this many tokens, however few they are."""

_Result = TypeVar("_Result")


def read_in_order(
    run: Run, documents: Iterable[LinkedDocument], batch_size: int | None
) -> Iterator[tuple[list[LinkedDocument], list[ScoredDocument]]]:
    """Give documents with their scores, a batch at a time; only some are held in memory."""
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
        # Given in their order, some at a time: what a reader lets go of costs no memory.
        for first in range(0, len(chunk), rows):
            members = range(first, min(first + rows, len(chunk)))
            yield [chunk[number] for number in members], [scored.pop(number) for number in members]


def in_their_places(
    texts: Iterable[object],
    link: Callable[[str, Topic], LinkedDocument],
    answer: Callable[[Iterable[LinkedDocument]], Iterator[_Result | LrlmError]],
) -> Iterator[_Result | BadText]:
    """Answer pairs of a text and its topic; one that cannot be read is told in its place."""
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

    for result in answer(documents()):
        yield from bad_texts()
        number = places.popleft()
        assert isinstance(number, int)
        yield BadText(number, result) if isinstance(result, LrlmError) else result
    yield from bad_texts()


def raised(result: _Result | LrlmError | BadText) -> _Result:
    """Give a result, or raise what stands in its place."""
    if isinstance(result, LrlmError):
        raise result
    if isinstance(result, BadText):
        raise result.error
    return result


def improbable(document: LinkedDocument) -> LrlmError:
    """Say that no path gets through a text."""
    return LrlmError(f"the text of {document.id!r} has no finite probability under this model")


def _pair(given: object) -> tuple[str, Topic]:
    """Take a text and its topic apart; what they are is checked when they are linked."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"a text comes with its topic, as (text, topic), not as {shown(given)}")
    text, topic = given
    return text, topic


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
