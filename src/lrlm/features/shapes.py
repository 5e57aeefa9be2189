"""Tell what a name looks like: a date, a number, a name with capitals; short or long.

The vectors of n-grams hardly say it: two years, or two surnames, have nothing else in common.

Shapes: F forms, W width of vectors.
"""

import numpy as np

from lrlm.arrays import Floats
from lrlm.features.form_vectors import NameFeaturiser

SHAPE_FEATURES = 10
_LONG_YEAR = 4
_SCALE = 0.5  # of the features, which stand beside vectors of length one


def name_shape(words: tuple[str, ...]) -> list[float]:
    """Describe what the words of a name look like.

    >>> name_shape(("1814",))[:5], name_shape(("Oslo",))[:5]
    ([1.0, 0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0])
    """
    text = "".join(words)
    digits = sum(character.isdigit() for character in text)
    capitals = sum(word[0].isupper() for word in words)
    return [
        float(len(words) == 1),
        float(len(words) > 2),
        float(digits > 0),
        float(text.isdigit() and len(text) == _LONG_YEAR),
        float(capitals > 0),
        float(words[0][0].isdigit()),
        float(words[-1][0].isdigit()),
        float(text.isupper()),
        float("," in words or "." in text),
        min(len(text), 40) / 20,
    ]


class ShapedNames(NameFeaturiser):
    """Vectors of names with what the names look like behind them."""

    def __init__(self, names: NameFeaturiser) -> None:
        super().__init__(names.width + SHAPE_FEATURES)
        self._names = names

    def _means(self, forms: list[tuple[str, ...]]) -> Floats:
        shapes = np.array([name_shape(form) for form in forms], dtype=np.float32)
        shapes_FW = shapes.reshape(-1, SHAPE_FEATURES) * np.float32(_SCALE)
        return np.concatenate([self._names.vectors(forms), shapes_FW], axis=1)
