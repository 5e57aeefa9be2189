"""Language models: each a composition of a backbone, heads and, for LRLM, the lattice."""

from lrlm.models.alias import AliasLM
from lrlm.models.building import KINDS, ModelConfig, build_model, with_cutoffs
from lrlm.models.language_model import LanguageModel, WindowScore
from lrlm.models.lrlm import LatentRelationLM
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.scoring import DocumentScores, score_documents
from lrlm.models.vanilla import VanillaLM

__all__ = [
    "KINDS",
    "AliasLM",
    "DocumentScores",
    "LanguageModel",
    "LatentRelationLM",
    "ModelConfig",
    "NeuralKnowledgeLM",
    "VanillaLM",
    "WindowScore",
    "build_model",
    "score_documents",
    "with_cutoffs",
]
