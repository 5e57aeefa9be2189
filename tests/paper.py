"""The paper's models by corpus and backbone, as configurations; `python -m tests.paper` counts.

Sizes of the corpora are the paper's; words follow Zipf's law where only their number is known.
"""

from dataclasses import replace

import torch

from benchmarks.synthetic import zipf_counts
from lrlm.backbones import LstmConfig, TransformerXlConfig
from lrlm.heads import RelationConfig, WordConfig
from lrlm.models import MODELS, ModelConfig, ModelSizes, build_model

_TRANSFORMER_WORDS = WordConfig(embedding_size=410, projection_size=410, tied=True)
_WORDS = WordConfig(embedding_size=400, projection_size=1000)
_FREEBASE = RelationConfig(type_size=50, object_size=50, hidden_size=1000)

PAPER_SIZES: dict[str, tuple[ModelConfig, int]] = {
    "LSTM, WikiFacts": (
        ModelConfig(backbone=LstmConfig(), words=_WORDS, relations=_FREEBASE),
        40_000,
    ),
    "LSTM, WikiText-S": (ModelConfig(backbone=LstmConfig(), words=_WORDS), 71_100),
    "LSTM, WikiText-F": (
        ModelConfig(
            backbone=LstmConfig(layers=4, hidden_size=1024, dropout=0.1),
            words=WordConfig(embedding_size=512, projection_size=500),
            relations=RelationConfig(hidden_size=800),
            position_size=50,
        ),
        264_000,
    ),
    "Transformer-XL, WikiFacts": (
        ModelConfig(backbone=TransformerXlConfig(), words=_TRANSFORMER_WORDS, relations=_FREEBASE),
        40_000,
    ),
    "Transformer-XL, WikiText-S": (
        ModelConfig(backbone=TransformerXlConfig(), words=_TRANSFORMER_WORDS),
        71_100,
    ),
    "Transformer-XL, WikiText-F": (
        ModelConfig(
            backbone=TransformerXlConfig(),
            words=_TRANSFORMER_WORDS,
            relations=RelationConfig(hidden_size=800),
            position_size=50,
        ),
        264_000,
    ),
}


def parameters(size: str, kind: str) -> int:
    """Count what a model learns, without giving it memory; pretrained vectors are not counted."""
    config, words = PAPER_SIZES[size]
    with torch.device("meta"):
        model = build_model(
            replace(config, kind=kind),
            ModelSizes(
                tokens=words,
                types=1000,
                form_features=300,
                token_counts=zipf_counts(words, 100_000_000),
                type_vectors=torch.empty(900, config.relations.type_size),
                object_vectors=torch.empty(10_000, config.relations.object_size),
            ),
        )
    return sum(parameter.numel() for parameter in model.parameters())


if __name__ == "__main__":
    print(f"| backbone, corpus | {' | '.join(MODELS)} |")
    print(f"|---|{'--:|' * len(MODELS)}")
    for size in PAPER_SIZES:
        counts = " | ".join(f"{parameters(size, kind) / 1e6:.1f} M" for kind in MODELS)
        print(f"| {size} | {counts} |")
