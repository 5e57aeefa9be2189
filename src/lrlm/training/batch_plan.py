"""Deal the documents of a batch out to processes, and plan the updates that learn from them.

A batch is cut into as many shares as there are processes, times the parts each of them works
through one after the other. All shares read their windows in step: an update learns from the same
window of all of them. How many updates there are, and of how many tokens, everybody can tell
beforehand, since where a document is cut depends on nothing but the document.
"""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

from lrlm.batching import Collator, EncodedDocument, Window, window_boundaries


@dataclass(frozen=True)
class SplitDocuments:
    """The documents of a split, and the tokens in each of their windows."""

    documents: Sequence[EncodedDocument]
    window_tokens: Sequence[tuple[int, ...]]
    """The end token counted."""

    @classmethod
    def of(cls, documents: Sequence[EncodedDocument], *, window: int) -> "SplitDocuments":
        """Cut every document as the collator will."""
        return cls(documents, [_window_tokens(document, window) for document in documents])

    @property
    def lengths(self) -> list[int]:
        """Tokens of each document, the end token counted."""
        return [sum(tokens) for tokens in self.window_tokens]


def _window_tokens(document: EncodedDocument, window: int) -> tuple[int, ...]:
    return tuple(end - start for start, end in pairwise(window_boundaries(document, window)))


@dataclass(frozen=True)
class BatchPlan:
    """How a batch is learned from."""

    shares: tuple[tuple[int, ...], ...]
    """The numbers of the documents in each share; a share may be empty."""
    tokens: tuple[int, ...]
    """Tokens that each update learns from."""

    @classmethod
    def of(cls, batch: Sequence[int], documents: SplitDocuments, *, shares: int) -> "BatchPlan":
        """Deal the documents of a batch out; those of about the same length are neighbours."""
        windows = [documents.window_tokens[number] for number in batch]
        updates = max(len(tokens) for tokens in windows)
        return cls(
            tuple(tuple(batch[share::shares]) for share in range(shares)),
            tuple(
                sum(tokens[update] for tokens in windows if update < len(tokens))
                for update in range(updates)
            ),
        )

    @property
    def updates(self) -> int:
        """Windows that the longest document is cut into."""
        return len(self.tokens)

    @property
    def weight(self) -> float:
        """What nats are divided by: the tokens of an update of this batch, on average.

        So every token of a batch weighs the same, also in a last window that is short.
        """
        return sum(self.tokens) / self.updates


@dataclass(frozen=True)
class PlannedBatch:
    """A batch as one process reads it."""

    plan: BatchPlan
    windows: tuple[tuple[Window, ...], ...]
    """For each share of the process, its windows; a share may have fewer than there are updates."""


class BatchReader:
    """Makes the windows of batches, of one while the one before is learned from."""

    def __init__(
        self,
        documents: SplitDocuments,
        collator: Collator,
        *,
        processes: int,
        rank: int,
        parts: int,
    ) -> None:
        """`parts` are the shares of each process."""
        self._documents = documents
        self._collator = collator
        self._shares = processes * parts
        self._own = slice(rank * parts, (rank + 1) * parts)

    def read(self, batches: Sequence[Sequence[int]]) -> Generator[PlannedBatch, None, None]:
        """Give what this process reads of each batch; one batch is prepared in advance."""
        with ThreadPoolExecutor(1) as background:
            waiting: deque[Future[PlannedBatch]] = deque()
            try:
                for batch in batches:
                    waiting.append(background.submit(self._prepare, batch))
                    if len(waiting) > 1:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                background.shutdown(cancel_futures=True)

    def _prepare(self, batch: Sequence[int]) -> PlannedBatch:
        plan = BatchPlan.of(batch, self._documents, shares=self._shares)
        return PlannedBatch(
            plan,
            tuple(
                tuple(
                    self._collator.windows([self._documents.documents[number] for number in share])
                )
                for share in plan.shares[self._own]
            ),
        )
