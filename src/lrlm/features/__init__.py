"""Features: vectors of relations and of forms, and the spelling of unknown words."""

from lrlm.features.cache import Progress, make_features
from lrlm.features.config import (
    HASHED,
    MINI,
    PAPER,
    TRAIN,
    FeatureConfig,
    FormConfig,
    RelationConfig,
    SpellingConfig,
)
from lrlm.features.features import Features
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.features.graph import Graph
from lrlm.features.relation_vectors import RelationTable
from lrlm.features.spelling import SpellingModel

__all__ = [
    "HASHED",
    "MINI",
    "PAPER",
    "TRAIN",
    "FeatureConfig",
    "Features",
    "FormConfig",
    "Graph",
    "Progress",
    "RelationConfig",
    "RelationTable",
    "SpellingConfig",
    "SpellingModel",
    "SubwordFeaturiser",
    "make_features",
]
