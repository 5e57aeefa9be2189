"""Heads: states in, log-probabilities of sources, words, relations and forms out."""

from lrlm.heads.choosing import Choosing
from lrlm.heads.clusters import SoftmaxCost, choose_cutoffs, measure_softmax_cost
from lrlm.heads.forms import FormHead
from lrlm.heads.relations import RelationConfig, RelationHead, RelationVectors, VectorTable
from lrlm.heads.source import SourceHead
from lrlm.heads.word_choice import WordChoice
from lrlm.heads.words import WordConfig, WordEmbedding, WordHead

__all__ = [
    "Choosing",
    "FormHead",
    "RelationConfig",
    "RelationHead",
    "RelationVectors",
    "SoftmaxCost",
    "SourceHead",
    "VectorTable",
    "WordChoice",
    "WordConfig",
    "WordEmbedding",
    "WordHead",
    "choose_cutoffs",
    "measure_softmax_cost",
]
