"""The documents of a batch in, shares for processes and the plan of their updates out.

A batch is cut into as many shares as there are processes, times the parts each of them works
through one after the other. All shares read their windows in step: an update learns from the same
window of all of them. How many updates there are, and of how many tokens, everybody can tell
beforehand, since where a document is cut depends on nothing but the document.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lrlm.backbones import State
from lrlm.batching import Collator, EncodedDocument, Window, cut


@dataclass(frozen=True)
class Documents:
    """The documents of a split, and the tokens in each of their windows."""

    documents: Sequence[EncodedDocument]
    window_tokens: Sequence[tuple[int, ...]]
    """`</s>` counted."""

    @classmethod
    def of(cls, documents: Sequence[EncodedDocument], *, window: int) -> "Documents":
        """Cut every document as the collator will."""
        return cls(documents, [_window_tokens(document, window) for document in documents])

    @property
    def lengths(self) -> list[int]:
        """Tokens of each document, `</s>` counted."""
        return [sum(tokens) for tokens in self.window_tokens]


def _window_tokens(document: EncodedDocument, window: int) -> tuple[int, ...]:
    boundaries = cut(document.tokens + 1, document.edges_E4, window)
    return tuple(end - start for start, end in pairwise(boundaries))


@dataclass(frozen=True)
class Plan:
    """How a batch is learned from."""

    shares: tuple[tuple[int, ...], ...]
    """The numbers of the documents in each share; a share may be empty."""
    tokens: tuple[int, ...]
    """Tokens that each update learns from."""

    @classmethod
    def of(cls, batch: Sequence[int], documents: Documents, *, shares: int) -> "Plan":
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


class Share:
    """Documents that one process reads side by side, and where it is in them."""

    def __init__(self, documents: Sequence[EncodedDocument], collator: Collator) -> None:
        self._windows: Iterator[Window] = iter(collator.windows(documents))
        self.state: State | None = None
        """What the backbone remembers of the windows before; None at the beginning."""

    def next(self) -> Window | None:
        """Give the next window, None when all documents have ended."""
        return next(self._windows, None)
