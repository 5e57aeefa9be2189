"""Read linked documents with a run or, where it has a partner that reads backward, with both."""

from collections.abc import Sequence
from dataclasses import replace

from lrlm.batching import evaluation_batches
from lrlm.models import ScoredDocument, combine, laid_over, read_documents
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument


def read_linked(
    run: Run, documents: Sequence[LinkedDocument], *, batch_size: int | None = None
) -> list[ScoredDocument]:
    """Score every segment of documents, given in their order.

    With a partner, the scores are those of both readings together.
    """
    return with_partner(run, documents, _read(run, documents, batch_size), batch_size=batch_size)


def with_partner(
    run: Run,
    documents: Sequence[LinkedDocument],
    scored: Sequence[ScoredDocument],
    *,
    batch_size: int | None = None,
) -> list[ScoredDocument]:
    """Add what the run's partner makes of documents that the run has read, if it has one."""
    partner = run.partner
    if partner is None or partner.weight == 0:
        return list(scored)
    return combine(
        scored, read_over(partner.run, run, documents, scored, batch_size), partner.weight
    )


def read_over(
    run: Run,
    other: Run,
    documents: Sequence[LinkedDocument],
    scored: Sequence[ScoredDocument],
    batch_size: int | None = None,
) -> list[ScoredDocument]:
    """Read documents that another run has scored, and give them that run's tokens."""
    return [
        laid_over(mine, run.space.places(document), its.encoded, other.space.places(document))
        for document, mine, its in zip(
            documents, _read(run, documents, batch_size), scored, strict=True
        )
    ]


def _read(
    run: Run, documents: Sequence[LinkedDocument], batch_size: int | None
) -> list[ScoredDocument]:
    words = set[str]().union(*(document.tokens.words for document in documents))
    encoder = replace(run.encoder, space=run.space.prepared_for(words))
    encoded = list(encoder.encode(documents))
    rows = batch_size or run.config.training.validation_batch_size
    collator = run.collator
    scored: dict[int, ScoredDocument] = {}
    for batch in evaluation_batches([document.tokens for document in encoded], rows):
        read = read_documents(run.model, collator, [encoded[number] for number in batch])
        scored.update(zip(batch, read, strict=True))
    return [scored[number] for number in range(len(documents))]
