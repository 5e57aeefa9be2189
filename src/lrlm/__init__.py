"""Latent Relation Language Models: text from words and from the facts of a knowledge graph.

Everything that a user needs is here; what takes long to load is loaded when it is first used.

>>> import lrlm
>>> topic = lrlm.Topic("Norway", relations=[lrlm.Relation("capital", "Oslo")])
>>> model = lrlm.load()                       # the small model that comes with the package
>>> [span.text for span in model.annotate("Its capital is Oslo.", topic).mentions()]
['Oslo']
"""

import os
from typing import TYPE_CHECKING, Any

# Threads that wait for each other should sleep. They spin otherwise, and beside one other busy
# process two of them are then ten times slower than one. PyTorch reads this once, when it is first
# imported; what the user set is left alone.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from lrlm.errors import LrlmError
from lrlm.knowledge import KnowledgeGraph, Relation, Topic

if TYPE_CHECKING:
    from lrlm.annotation.annotation import Annotation, BadText
    from lrlm.annotation.score import Score
    from lrlm.backbones import LstmConfig, Pretrained, TransformerXlConfig
    from lrlm.checking.findings import CheckedText, Finding
    from lrlm.corpora import Corpus, build_corpus
    from lrlm.evaluation import Evaluation, evaluate
    from lrlm.generation.generated_text import GeneratedText
    from lrlm.model import Model, load
    from lrlm.report.writing import write_report
    from lrlm.runs.config import RunConfig
    from lrlm.training.train import TrainedRun, train
    from lrlm.training.wrapping import wrap

__version__ = "0.2.0.dev0"

__all__ = [
    "Annotation",
    "BadText",
    "CheckedText",
    "Corpus",
    "Evaluation",
    "Finding",
    "GeneratedText",
    "KnowledgeGraph",
    "LrlmError",
    "LstmConfig",
    "Model",
    "Pretrained",
    "Relation",
    "RunConfig",
    "Score",
    "Topic",
    "TrainedRun",
    "TransformerXlConfig",
    "__version__",
    "build_corpus",
    "evaluate",
    "load",
    "train",
    "wrap",
    "write_report",
]

_LOADED_WHEN_USED = {
    "Annotation": "lrlm.annotation.annotation",
    "BadText": "lrlm.annotation.annotation",
    "CheckedText": "lrlm.checking.findings",
    "Corpus": "lrlm.corpora",
    "Evaluation": "lrlm.evaluation",
    "Finding": "lrlm.checking.findings",
    "GeneratedText": "lrlm.generation.generated_text",
    "LstmConfig": "lrlm.backbones",
    "Model": "lrlm.model",
    "Pretrained": "lrlm.backbones",
    "RunConfig": "lrlm.runs.config",
    "Score": "lrlm.annotation.score",
    "TrainedRun": "lrlm.training.train",
    "TransformerXlConfig": "lrlm.backbones",
    "build_corpus": "lrlm.corpora",
    "evaluate": "lrlm.evaluation",
    "load": "lrlm.model",
    "train": "lrlm.training.train",
    "wrap": "lrlm.training.wrapping",
    "write_report": "lrlm.report.writing",
}
"""Where the public names are that load PyTorch or pyarrow, which takes seconds."""


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _LOADED_WHEN_USED:
        raise AttributeError(f"module 'lrlm' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LOADED_WHEN_USED[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, also those that are not loaded yet."""
    return sorted({*globals(), *__all__})
