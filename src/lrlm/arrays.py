"""The types of the NumPy arrays that are passed between modules, and the one id that is none."""

import numpy as np
import numpy.typing as npt

UNSEEN = -1
"""The id of a relation type or an object that has no vector of its own."""

Integers = npt.NDArray[np.int64]
"""Ids, places and counts."""

Floats = npt.NDArray[np.float32]
"""Vectors and scores."""

Doubles = npt.NDArray[np.float64]
"""Sums that must not lose digits."""

Booleans = npt.NDArray[np.bool_]
"""What holds of each of many."""
