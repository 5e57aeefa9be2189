"""Score the validation documents: this decides which weights are the best."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from lrlm.batching import Collator, evaluation_batches
from lrlm.errors import LrlmError
from lrlm.models import LanguageModel, document_nats
from lrlm.runs.devices import Precision
from lrlm.text import perplexity_per_word
from lrlm.training.batch_plan import SplitDocuments
from lrlm.training.processes import Processes


@dataclass(frozen=True)
class Validation:
    """What the documents of a split cost; the end of a text is neither counted nor paid for."""

    nats: float
    words: int

    @property
    def nats_per_word(self) -> float:
        """The mean that is compared."""
        return self.nats / max(self.words, 1)

    @property
    def perplexity(self) -> float:
        """exp(nats / words)."""
        return perplexity_per_word(self.nats, max(self.words, 1))


def validate(
    model: LanguageModel,
    documents: SplitDocuments,
    collator: Collator,
    *,
    batch_size: int,
    precision: Precision,
    processes: Processes,
    device: torch.device,
    is_unwanted: Callable[[], bool] = lambda: False,
) -> Validation | None:
    """Score all documents, each process its share; None if it became unwanted on the way."""
    model.eval()
    batches = evaluation_batches(documents.lengths, batch_size)
    total = torch.zeros(3, dtype=torch.float64, device=device)
    for batch in batches[processes.rank :: processes.count]:
        if is_unwanted():
            total[2] = 1
            break
        with precision():
            found = document_nats(
                model, collator.windows([documents.documents[number] for number in batch])
            )
        nats_B = (found.nats_B - found.end_nats_B).double()
        if not bool(nats_B.isfinite().all()):
            number = batch[int((~nats_B.isfinite()).nonzero()[0])]
            raise LrlmError(
                f"validation: the document {documents.documents[number].id!r} has no finite"
                " probability; is a word of it impossible to spell and to copy?"
            )
        total[0] += nats_B.sum()
        total[1] += sum(documents.documents[number].words for number in batch)
    processes.add(total)
    nats, words, stopped = total.tolist()
    return None if stopped else Validation(nats, int(words))
