"""The config: what cannot be made is refused by the name of its field."""

from typing import Any

import pytest

from lrlm.errors import InputError
from lrlm.features import MINI, PAPER, FeatureConfig, FormConfig, RelationConfig, SpellingConfig


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        (RelationConfig, "source", " "),
        (RelationConfig, "width", 0),
        (RelationConfig, "epochs", 0),
        (RelationConfig, "batch_size", 0),
        (RelationConfig, "negatives", 0),
        (RelationConfig, "learning_rate", 0.0),
        (RelationConfig, "margin", float("nan")),
        (RelationConfig, "norm", 3),
        (RelationConfig, "seed", -1),
        (FormConfig, "source", ""),
        (FormConfig, "width", 0),
        (FormConfig, "shortest_ngram", 0),
        (FormConfig, "longest_ngram", 2),
        (FormConfig, "longest_ngram", 99),
        (FormConfig, "buckets", 0),
        (FormConfig, "epochs", 0),
        (FormConfig, "min_count", 0),
        (FormConfig, "learning_rate", float("inf")),
        (FormConfig, "seed", -1),
        (SpellingConfig, "embedding_size", 0),
        (SpellingConfig, "hidden_size", 0),
        (SpellingConfig, "epochs", 0),
        (SpellingConfig, "batch_size", 0),
        (SpellingConfig, "min_count", 0),
        (SpellingConfig, "learning_rate", -1.0),
        (SpellingConfig, "dropout", 1.0),
        (SpellingConfig, "held_out", 0.0),
        (SpellingConfig, "seed", -1),
    ],
)
def test_what_cannot_be_made_is_named(config: Any, field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{config.__name__}.{field}"):
        config(**{field: value})


def test_the_given_sizes_can_be_made() -> None:
    assert FeatureConfig() not in (MINI, PAPER)
    assert PAPER.forms.width == 300
