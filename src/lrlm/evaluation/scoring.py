"""A model and linked documents in, what each document costs out: nats, told apart by place.

Shapes: B rows, T tokens.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from lrlm.batching import Collator, EncodedDocument, Encoder, evaluation_batches
from lrlm.corpora import LinkedDocument
from lrlm.errors import LrlmError
from lrlm.evaluation.reading import Reading, read, with_words
from lrlm.evaluation.spelling import Spelling, log_probs
from lrlm.knowledge import TITLE
from lrlm.lattice import log_marginal
from lrlm.models import LanguageModel

Progress = Callable[[str, int], None]
"""Told what is being done and for how many documents it has been done."""

Witness = Callable[[Reading, Sequence[LinkedDocument]], None]
"""Shown every reading, with the documents of its batch."""


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """What one document costs; its tokens are inside or outside of candidate spans, or `</s>`.

    No span crosses the border between the two, so the nats of the two parts add up exactly, also
    where a model sums over segmentations.
    """

    id: str
    relations: int
    """Of its topic, the title not counted."""
    tokens: int
    """`</s>` not counted."""
    unknown_tokens: int
    inside_tokens: int
    """Tokens that some candidate span covers."""
    end_nats: float
    """−log P of `</s>`."""
    inside_nats: Mapping[Spelling, float]
    outside_nats: Mapping[Spelling, float]

    @property
    def outside_tokens(self) -> int:
        """Tokens that no candidate span covers, `</s>` not counted."""
        return self.tokens - self.inside_tokens

    def nats(self, spelling: Spelling = Spelling.OPEN, *, count_end: bool = False) -> float:
        """−log P of the document."""
        text = self.inside_nats[spelling] + self.outside_nats[spelling]
        return text + self.end_nats if count_end else text

    def units(self, *, count_end: bool = False) -> int:
        """Count what `nats` pays for, under the same mask."""
        return self.tokens + 1 if count_end else self.tokens


def score(
    model: LanguageModel,
    encoder: Encoder,
    collator: Collator,
    documents: Sequence[LinkedDocument],
    *,
    unknown_words: int,
    batch_size: int = 60,
    witness: Witness = lambda _reading, _documents: None,
    progress: Progress = lambda _what, _done: None,
) -> list[DocumentScore]:
    """Score documents, in their order; the model reads each of them once.

    `unknown_words` is |V_out|, which UPP divides by.
    """
    unknown_id = encoder.vocabulary.unknown_id
    encoded = list(encoder.encode(documents))
    scores: dict[int, DocumentScore] = {}
    for batch in evaluation_batches([document.tokens for document in encoded], batch_size):
        members = [documents[number] for number in batch]
        sums = [_Sums(encoded[number]) for number in batch]
        for reading in read(model, collator.windows([encoded[number] for number in batch])):
            _add(sums, reading, unknown_id, unknown_words)
            witness(reading, members)
        for number, document, total in zip(batch, members, sums, strict=True):
            scores[number] = total.score(document, unknown_id)
        progress("scoring", len(scores))
    return [scores[number] for number in range(len(documents))]


@dataclass
class _Sums:
    """What the windows of a document have cost so far."""

    encoded: EncodedDocument
    end_nats: float = 0.0
    inside_tokens: int = 0
    inside_nats: dict[Spelling, float] = field(default_factory=lambda: dict.fromkeys(Spelling, 0.0))
    outside_nats: dict[Spelling, float] = field(
        default_factory=lambda: dict.fromkeys(Spelling, 0.0)
    )

    def score(self, document: LinkedDocument, unknown_id: int) -> DocumentScore:
        """Check that the document is possible, and give what it costs."""
        total = self.end_nats + self.inside_nats[Spelling.OPEN] + self.outside_nats[Spelling.OPEN]
        if not math.isfinite(total):
            raise LrlmError(
                f"the document {document.id!r} has no finite probability;"
                " is a word of it impossible to spell and to copy?"
            )
        return DocumentScore(
            id=document.id,
            relations=sum(relation.type != TITLE for relation in document.relations),
            tokens=self.encoded.tokens,
            unknown_tokens=int((self.encoded.words_N == unknown_id).sum()),
            inside_tokens=self.inside_tokens,
            end_nats=self.end_nats,
            inside_nats=self.inside_nats,
            outside_nats=self.outside_nats,
        )


def _add(sums: Sequence[_Sums], reading: Reading, unknown_id: int, unknown_words: int) -> None:
    """Add what a window costs to the sums of its documents."""
    window, text_BT, covered_BT = reading.window, reading.text_BT, reading.covered_BT
    words_BT = reading.unspelled.words_BT
    is_end_BT = window.mask_BT & ~text_BT
    rows = [sums[number] for number in window.document_B.tolist()]
    for row, nats in zip(rows, _sum(-words_BT, is_end_BT), strict=True):
        row.end_nats += nats
    for row, tokens in zip(rows, covered_BT.sum(1).tolist(), strict=True):
        row.inside_tokens += tokens
    for spelling in Spelling:
        lattice = reading.spelled(
            log_probs(window, spelling, unknown_id=unknown_id, unknown_words=unknown_words)
        )
        # A token that no span covers is a WORD in every segmentation. Taken as certain, it leaves
        # the sum over the segmentations of the others.
        inside_B = -log_marginal(
            with_words(lattice, torch.where(covered_BT, lattice.words_BT, 0.0))
        )
        outside = _sum(-lattice.words_BT, text_BT & ~covered_BT)
        for row, inside_nats, outside_nats in zip(rows, inside_B.tolist(), outside, strict=True):
            row.inside_nats[spelling] += inside_nats
            row.outside_nats[spelling] += outside_nats


def _sum(values_BT: torch.Tensor, mask_BT: torch.Tensor) -> list[float]:
    """Add up the values of each row where the mask is set."""
    sums: list[float] = torch.where(mask_BT, values_BT, 0.0).sum(1).tolist()
    return sums
