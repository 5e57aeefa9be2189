"""A seed in, form vectors out that need no training and no other library.

Every n-gram row is a vector of random signs, so a word's vector is a random projection of the
counts of its n-grams: words that share n-grams have vectors that point the same way. The signs are
bits of a hash, in whole numbers only: they are the same on every machine and with every version.

Shapes: G rows of the n-gram table, W width.
"""

import numpy as np
import numpy.typing as npt

from lrlm.arrays import Floats
from lrlm.features.config import FormConfig
from lrlm.features.form_vectors import SubwordFeaturiser


def hashed_featuriser(config: FormConfig) -> SubwordFeaturiser:
    """Make the table of random signs."""
    return SubwordFeaturiser(
        (),
        np.empty((0, config.width), dtype=np.float32),
        random_signs(config.buckets, config.width, config.seed),
        shortest_ngram=config.shortest_ngram,
        longest_ngram=config.longest_ngram,
    )


def random_signs(rows: int, width: int, seed: int) -> Floats:
    """Give a table of 1 and -1, (G, W)."""
    bits_at_once = 64
    blocks = -(-width // bits_at_once)
    counter = np.arange(rows * blocks, dtype=np.uint64) + _mix(np.array([seed], dtype=np.uint64))
    bits = np.unpackbits(_mix(counter).astype("<u8").view(np.uint8), bitorder="little")
    signs = bits.reshape(rows, blocks * bits_at_once)[:, :width].astype(np.float32) * 2 - 1
    result: Floats = np.ascontiguousarray(signs)
    return result


def _mix(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit numbers: the output function of the generator SplitMix64."""
    numbers = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
