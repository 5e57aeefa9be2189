"""The shape of a name stands behind its vector, and depends on the name alone."""

import numpy as np

from lrlm.arrays import Floats
from lrlm.features.form_vectors import NameFeaturiser
from lrlm.features.shapes import SHAPE_FEATURES, ShapedNames, name_shape


class Ones(NameFeaturiser):
    def _means(self, forms: list[tuple[str, ...]]) -> Floats:
        return np.ones((len(forms), self.width), dtype=np.float32)


def test_names_keep_their_vectors() -> None:
    names = ShapedNames(Ones(3))
    forms = [("17", "May", "1814"), ("Oslo",), ("17", "May", "1814"), ("U",)]
    vectors = names.vectors(forms)
    assert names.width == vectors.shape[1] == 3 + SHAPE_FEATURES
    assert (vectors[:, :3] == 1).all()
    assert (vectors[0] == vectors[2]).all()
    assert not (vectors[0] == vectors[1]).all()
    assert names.vectors([]).shape == (0, names.width)
    assert names.vectors(forms[1:2]).tolist() == vectors[1:2].tolist()


def test_dates_numbers_and_names_differ() -> None:
    kinds = [("1814",), ("May", "1814"), ("17", "May", "1814"), ("Oslo",), ("krone",), ("NASA",)]
    assert len({tuple(name_shape(words)) for words in kinds}) == len(kinds)
