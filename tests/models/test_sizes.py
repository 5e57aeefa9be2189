"""The paper's sizes can be built: on a device without memory, so that no machine is too small."""

from dataclasses import replace

import pytest
import torch

from lrlm.backbones import LstmConfig, TransformerXlConfig
from lrlm.errors import InputError
from lrlm.heads import RelationConfig, WordConfig
from lrlm.models import MODELS, ModelConfig, ModelSizes, build_model
from tests.paper import PAPER_SIZES, parameters


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("size", PAPER_SIZES)
def test_every_model_can_be_built_at_the_papers_size(size: str, kind: str) -> None:
    count = parameters(size, kind)
    assert 10_000_000 < count < 500_000_000
    if kind in ("alias", "prompted"):
        assert count == parameters(size, "vanilla")
    elif kind != "vanilla":
        assert count > parameters(size, "vanilla")


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InputError, match="there is no model 'gpt'; there are: vanilla"):
        ModelConfig(kind="gpt")


def test_more_vectors_than_types_are_refused() -> None:
    config = ModelConfig(
        backbone=LstmConfig(layers=1, hidden_size=2),
        words=WordConfig(embedding_size=2, projection_size=2),
        relations=RelationConfig(type_size=2, object_size=2, hidden_size=2),
    )
    with pytest.raises(InputError, match="vectors of 3 relation types, but only 2 types"):
        build_model(
            config,
            ModelSizes(tokens=3, types=2, form_features=2, type_vectors=torch.zeros(3, 2)),
        )


def test_the_defaults_are_the_papers() -> None:
    assert ModelConfig().backbone == LstmConfig(layers=2, hidden_size=1000, dropout=0.5)
    assert replace(TransformerXlConfig(), memory=150).feed_forward_size == 2100
