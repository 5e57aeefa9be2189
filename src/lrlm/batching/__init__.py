"""Batches: documents as numbers, cut into windows that are read side by side."""

from lrlm.arrays import UNSEEN
from lrlm.batching.batches import evaluation_batches, training_batches
from lrlm.batching.encoding import (
    NOT_A_FACT,
    EncodedDocument,
    Encoder,
    FormFeaturiser,
    Parts,
    surface_forms,
    unique_words,
)
from lrlm.batching.windows import (
    Collator,
    Edges,
    FormChoices,
    HardAnnotation,
    IdLimits,
    TopicRelations,
    Window,
    cut,
)

__all__ = [
    "NOT_A_FACT",
    "UNSEEN",
    "Collator",
    "Edges",
    "EncodedDocument",
    "Encoder",
    "FormChoices",
    "FormFeaturiser",
    "HardAnnotation",
    "IdLimits",
    "Parts",
    "TopicRelations",
    "Window",
    "cut",
    "evaluation_batches",
    "surface_forms",
    "training_batches",
    "unique_words",
]
