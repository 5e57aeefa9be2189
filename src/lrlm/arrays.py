"""The types of the NumPy arrays that are passed between modules."""

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
"""Ids, places and counts."""

Floats = npt.NDArray[np.float32]
"""Vectors and scores."""

Doubles = npt.NDArray[np.float64]
"""Sums that must not lose digits."""
