"""Language models: each a composition of a backbone, heads and, for LRLM, the lattice."""

from lrlm.models.alias import AliasLM
from lrlm.models.language_model import LanguageModel, WindowScore
from lrlm.models.lrlm import LatentRelationLM
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.scoring import DocumentScores, score_documents
from lrlm.models.vanilla import VanillaLM

__all__ = [
    "AliasLM",
    "DocumentScores",
    "LanguageModel",
    "LatentRelationLM",
    "NeuralKnowledgeLM",
    "VanillaLM",
    "WindowScore",
    "score_documents",
]
