"""Small models and documents of the toy world, and trainers of them."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import torch

from lrlm.backbones import LstmConfig, TransformerXlConfig
from lrlm.heads import RelationConfig, WordConfig
from lrlm.models import LanguageModel, ModelConfig, ModelSizes, build_model
from lrlm.runs.config import TrainingConfig
from lrlm.training.batch_plan import SplitDocuments
from lrlm.training.environment import TrainingEnvironment
from lrlm.training.loop import Trainer
from tests.toy import LONELY, OBJECTS, TOPIC, TYPES, VOCABULARY, WIDTH, collator, encode, link

WINDOW = 4

BACKBONES: dict[str, LstmConfig | TransformerXlConfig] = {
    "lstm": LstmConfig(layers=2, hidden_size=6, dropout=0.3),
    "transformer-xl": TransformerXlConfig(
        layers=2, heads=2, head_size=3, model_size=6, feed_forward_size=8,
        dropout=0.3, attention_dropout=0.1, memory=5, evaluation_memory=5,
    ),
}  # fmt: skip

CONFIG = TrainingConfig(
    epochs=3, batch_size=4, window=WINDOW, learning_rate=0.02, log_updates=3, warm_up=2
)


def texts(count: int = 10) -> list[str]:
    """Texts of different lengths, some of one window and some of several."""
    words = itertools.cycle(["a", "b", "a", "u", "b", "a", "b", "v", "a", "a", "b"])
    return [" ".join(itertools.islice(words, 2 + 3 * (number % 5))) for number in range(count)]


def documents(given: Sequence[str] | None = None) -> SplitDocuments:
    topics = itertools.cycle([TOPIC, TOPIC, LONELY])
    linked = [
        link(text, topic, f"article {number}")
        for number, (text, topic) in enumerate(zip(given or texts(), topics))  # noqa: B905
    ]
    return SplitDocuments.of(encode(*linked), window=WINDOW)


def make_model(
    kind: str = "lrlm", backbone: str = "lstm", *, dropout: float | None = None
) -> LanguageModel:
    torch.manual_seed(5)
    chosen = BACKBONES[backbone]
    rate = 0.1
    if dropout is not None:
        chosen, rate = replace(chosen, dropout=dropout), dropout
        if isinstance(chosen, TransformerXlConfig):
            chosen = replace(chosen, attention_dropout=dropout)
    return build_model(
        ModelConfig(
            kind=kind,
            backbone=chosen,
            words=WordConfig(embedding_size=5, projection_size=4),
            relations=RelationConfig(3, 3, hidden_size=5, unseen_rate=rate),
            position_size=2,
        ),
        ModelSizes(
            tokens=len(VOCABULARY),
            types=len(TYPES),
            form_features=WIDTH,
            token_counts=VOCABULARY.counts,
            object_vectors=torch.randn(len(OBJECTS), 3),
        ),
    )


def make_trainer(
    model: LanguageModel | None = None,
    config: TrainingConfig = CONFIG,
    environment: TrainingEnvironment | None = None,
    train: SplitDocuments | None = None,
    valid: SplitDocuments | None = None,
) -> Trainer:
    return Trainer(
        model or make_model(),
        (train or documents(), valid or documents(texts(14)[10:])),
        collator(WINDOW),
        config,
        environment=environment,
    )
