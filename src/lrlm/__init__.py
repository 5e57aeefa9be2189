"""Latent Relation Language Models: knowledge and text in; perplexity, annotations, text out."""

from pathlib import Path
from typing import TYPE_CHECKING

from lrlm.errors import LrlmError
from lrlm.knowledge import KnowledgeGraph, Relation, Topic

if TYPE_CHECKING:
    from lrlm.model import Model

__version__ = "0.1.0"

__all__ = ["KnowledgeGraph", "LrlmError", "Relation", "Topic", "__version__", "load"]


def load(run: Path | str | None = None, *, device: str = "auto") -> "Model":
    """Load a trained model; without a folder, the small one that comes with the package."""
    from lrlm.model import load as load_model  # loads torch, which takes seconds

    return load_model(run, device=device)
