"""Language models: each a composition of a backbone, heads and, for LRLM, the lattice."""

from lrlm.models.both_ways import combine, laid_over
from lrlm.models.building import (
    MODELS,
    ModelConfig,
    ModelParts,
    ModelSizes,
    build_model,
    with_cutoffs,
)
from lrlm.models.language_model import LanguageModel, WindowScores
from lrlm.models.lrlm import LatentRelationLM, LatentRelationLMPlus
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.reading import (
    ScoredDocument,
    WindowReader,
    document_nats,
    lattice_of,
    read_documents,
    with_copy_odds,
)
from lrlm.models.vanilla import AliasLM, PromptedLM, VanillaLM

__all__ = [
    "MODELS",
    "AliasLM",
    "LanguageModel",
    "LatentRelationLM",
    "LatentRelationLMPlus",
    "ModelConfig",
    "ModelParts",
    "ModelSizes",
    "NeuralKnowledgeLM",
    "PromptedLM",
    "ScoredDocument",
    "VanillaLM",
    "WindowReader",
    "WindowScores",
    "build_model",
    "combine",
    "document_nats",
    "laid_over",
    "lattice_of",
    "read_documents",
    "with_copy_odds",
    "with_cutoffs",
]
