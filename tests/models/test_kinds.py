"""A model that is asked for by its name has the settings that it is known by."""

import pytest

from lrlm.backbones import Pretrained
from lrlm.errors import InputError
from lrlm.heads import RelationConfig
from lrlm.models import MODELS, LatentRelationLMPlus, ModelConfig
from lrlm.runs.sizes import SIZES, load_size
from tests.models.contract import make_model


def test_lrlm_plus_has_its_settings_and_lrlm_has_none_of_them() -> None:
    plain, plus = ModelConfig().of_kind("lrlm"), ModelConfig().of_kind("lrlm+")
    assert plain == ModelConfig()
    for name, value in LatentRelationLMPlus.relation_settings.items():
        assert getattr(plus.relations, name) == value
        assert getattr(plain.relations, name) != value
    assert plus.model.label == "LRLM+"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
def test_every_size_has_lrlm_plus_and_is_without_it_as_it_was(size: str, backbone: str) -> None:
    preset = load_size(size, backbone).model
    for name in LatentRelationLMPlus.relation_settings:
        assert getattr(preset.relations, name) == getattr(RelationConfig(), name)
    assert preset.of_kind("lrlm+").relations.name_words


def test_lrlm_plus_has_all_parts_that_are_said_to_learn_with_adam() -> None:
    settings = [
        name for name, value in LatentRelationLMPlus.relation_settings.items() if value is True
    ]
    model = make_model("+".join(["lrlm", *settings]), "lstm")
    assert all(getattr(model, name) is not None for name in model.learned_with_adam)


def test_a_language_model_that_does_not_learn_is_refused() -> None:
    config = ModelConfig(backbone=Pretrained("somewhere"))
    with pytest.raises(InputError, match="needs a backbone that learns; take 'lrlm'"):
        config.of_kind("lrlm+")


@pytest.mark.parametrize("setting", ["summary", "told"])
def test_what_is_read_beside_tokens_needs_a_backbone_that_learns(setting: str) -> None:
    relations = RelationConfig(**{setting: True})
    with pytest.raises(InputError, match=f"{setting} needs a backbone that learns"):
        ModelConfig(backbone=Pretrained("somewhere"), relations=relations)


def test_names_are_taken_in_one_way_only() -> None:
    with pytest.raises(InputError, match="set one of the two"):
        RelationConfig(names=True, beside_names=True)


def test_all_kinds_are_known_by_their_names() -> None:
    assert list(MODELS) == ["vanilla", "alias", "prompted", "nklm", "lrlm", "lrlm+"]
