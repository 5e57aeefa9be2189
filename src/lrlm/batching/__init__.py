"""Batches: documents as numbers, cut into windows that are read side by side."""

from lrlm.batching.batches import evaluation_batches, training_batches
from lrlm.batching.encoding import (
    NOT_A_FACT,
    UNSEEN,
    EncodedDocument,
    Encoder,
    FormFeaturiser,
    Speller,
)
from lrlm.batching.windows import Annotation, Collator, Edges, FormChoices, Window, cut

__all__ = [
    "NOT_A_FACT",
    "UNSEEN",
    "Annotation",
    "Collator",
    "Edges",
    "EncodedDocument",
    "Encoder",
    "FormChoices",
    "FormFeaturiser",
    "Speller",
    "Window",
    "cut",
    "evaluation_batches",
    "training_batches",
]
