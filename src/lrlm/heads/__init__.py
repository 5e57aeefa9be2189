"""Heads: log-probabilities of sources, words, relations and forms in a hidden state."""

from lrlm.heads.choosing import Choosing, taken
from lrlm.heads.clusters import SoftmaxCost, choose_cutoffs, measure_softmax_cost
from lrlm.heads.copying import (
    FormHead,
    NamedVectors,
    RelationConfig,
    RelationHead,
    RelationVectors,
    SourceHead,
    VectorsBesideNames,
    VectorTable,
)
from lrlm.heads.fit import RelationFit, with_fit
from lrlm.heads.known_words import KnownWords
from lrlm.heads.name_words import NameWordHead
from lrlm.heads.naming import NamingScores, ToldTopic, mention_features
from lrlm.heads.pretrained import (
    PretrainedChooser,
    PretrainedEmbedding,
    PretrainedHead,
    PretrainedLayersConfig,
)
from lrlm.heads.tokens import (
    TOKEN_LAYERS,
    TokenChooser,
    TokenEmbedding,
    TokenHead,
    TokenLayersConfig,
    register_token_layers,
)
from lrlm.heads.traits import RelationTraits
from lrlm.heads.words import WordChooser, WordConfig, WordEmbedding, WordHead

__all__ = [
    "TOKEN_LAYERS",
    "Choosing",
    "FormHead",
    "KnownWords",
    "NameWordHead",
    "NamedVectors",
    "NamingScores",
    "PretrainedChooser",
    "PretrainedEmbedding",
    "PretrainedHead",
    "PretrainedLayersConfig",
    "RelationConfig",
    "RelationFit",
    "RelationHead",
    "RelationTraits",
    "RelationVectors",
    "SoftmaxCost",
    "SourceHead",
    "TokenChooser",
    "TokenEmbedding",
    "TokenHead",
    "TokenLayersConfig",
    "ToldTopic",
    "VectorTable",
    "VectorsBesideNames",
    "WordChooser",
    "WordConfig",
    "WordEmbedding",
    "WordHead",
    "choose_cutoffs",
    "measure_softmax_cost",
    "mention_features",
    "register_token_layers",
    "taken",
    "with_fit",
]
