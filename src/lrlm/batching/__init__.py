"""Batches: documents as numbers, cut into windows that are read side by side."""

from lrlm.arrays import UNSEEN
from lrlm.batching.batches import evaluation_batches, token_batches, training_batches
from lrlm.batching.collating import (
    Collator,
    IdLimits,
    NumberedNames,
    cut,
    window_boundaries,
)
from lrlm.batching.encoding import (
    BACKWARD,
    DIRECTIONS,
    FORWARD,
    NOT_A_FACT,
    EncodedDocument,
    Encoder,
    FormFeaturiser,
    KeptReading,
    Parts,
    mirrored,
    type_name,
)
from lrlm.batching.name_words import NO_WORD, WORD_TRAITS, NameWords, TopicWords
from lrlm.batching.naming import NamePlaces
from lrlm.batching.preface import PrefaceConfig
from lrlm.batching.relation_traits import RELATION_TRAITS, relation_traits
from lrlm.batching.windows import (
    Edges,
    FormChoices,
    HardAnnotation,
    KeptStates,
    NamesSoFar,
    RelationNames,
    TopicRelations,
    Window,
    WordsOfNames,
)

__all__ = [
    "BACKWARD",
    "DIRECTIONS",
    "FORWARD",
    "NOT_A_FACT",
    "NO_WORD",
    "RELATION_TRAITS",
    "UNSEEN",
    "WORD_TRAITS",
    "Collator",
    "Edges",
    "EncodedDocument",
    "Encoder",
    "FormChoices",
    "FormFeaturiser",
    "HardAnnotation",
    "IdLimits",
    "KeptReading",
    "KeptStates",
    "NamePlaces",
    "NameWords",
    "NamesSoFar",
    "NumberedNames",
    "Parts",
    "PrefaceConfig",
    "RelationNames",
    "TopicRelations",
    "TopicWords",
    "Window",
    "WordsOfNames",
    "cut",
    "evaluation_batches",
    "mirrored",
    "relation_traits",
    "token_batches",
    "training_batches",
    "type_name",
    "window_boundaries",
]
