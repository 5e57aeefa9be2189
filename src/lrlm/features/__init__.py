"""Features: vectors of relations and of forms, and the spelling of unknown words."""

from lrlm.features.cache import make_features
from lrlm.features.config import (
    HASHED,
    TRAIN,
    FeatureConfig,
    FormVectorConfig,
    RelationVectorConfig,
    SpellingConfig,
)
from lrlm.features.features import Features
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.features.relation_vectors import RelationTable, TripleTable
from lrlm.features.spelling import SpellingModel, UnknownWordSpeller

__all__ = [
    "HASHED",
    "TRAIN",
    "FeatureConfig",
    "Features",
    "FormVectorConfig",
    "RelationTable",
    "RelationVectorConfig",
    "SpellingConfig",
    "SpellingModel",
    "SubwordFeaturiser",
    "TripleTable",
    "UnknownWordSpeller",
    "make_features",
]
