"""A model and a topic's star in, what writes text with them out.

This is the one place where a way of writing is chosen for a model.
"""

from lrlm.models.alias import AliasLM
from lrlm.models.language_model import LanguageModel
from lrlm.models.lrlm import LatentRelationLM
from lrlm.models.lrlm_writer import LrlmWriter
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.nklm_writer import NklmWriter
from lrlm.models.vanilla import VanillaLM
from lrlm.models.vanilla_writer import AliasWriter, VanillaWriter
from lrlm.models.writing import Star, Writer


def writer_of(model: LanguageModel, star: Star) -> Writer:
    """Give what writes text about a topic with a model."""
    match model:
        case LatentRelationLM():
            return LrlmWriter(model, star)
        case NeuralKnowledgeLM():
            return NklmWriter(model, star)
        case AliasLM():
            return AliasWriter(model, star)
        case VanillaLM():
            return VanillaWriter(model, star)
    raise TypeError(f"nothing writes text with a {type(model).__name__}")
