"""Settings: what cannot be made is refused by the name that users know."""

from typing import Any

import pytest

from lrlm.errors import InputError
from lrlm.features import FormVectorConfig, RelationVectorConfig, SpellingConfig


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        (RelationVectorConfig, "source", " "),
        (RelationVectorConfig, "width", 0),
        (RelationVectorConfig, "epochs", 0),
        (RelationVectorConfig, "batch_size", 0),
        (RelationVectorConfig, "negatives", 0),
        (RelationVectorConfig, "learning_rate", 0.0),
        (RelationVectorConfig, "margin", float("nan")),
        (RelationVectorConfig, "norm", 3),
        (RelationVectorConfig, "seed", -1),
        (FormVectorConfig, "source", ""),
        (FormVectorConfig, "width", 0),
        (FormVectorConfig, "shortest_ngram", 0),
        (FormVectorConfig, "longest_ngram", 2),
        (FormVectorConfig, "longest_ngram", 99),
        (FormVectorConfig, "buckets", 0),
        (FormVectorConfig, "epochs", 0),
        (FormVectorConfig, "min_count", 0),
        (FormVectorConfig, "learning_rate", float("inf")),
        (FormVectorConfig, "seed", -1),
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
    part = {RelationVectorConfig: "relations", FormVectorConfig: "forms"}.get(config, "spelling")
    with pytest.raises(InputError, match=rf"^features\.{part}\.{field} "):
        config(**{field: value})
