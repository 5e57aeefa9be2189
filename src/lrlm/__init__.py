"""Latent Relation Language Models: knowledge and text in; perplexity, annotations, text out."""

from lrlm.errors import LrlmError
from lrlm.knowledge import KnowledgeGraph, Relation, Topic

__version__ = "0.1.0"

__all__ = ["KnowledgeGraph", "LrlmError", "Relation", "Topic", "__version__"]
