"""Surface forms in, their vectors out: the mean of the vectors of their words.

A word that the table knows has a vector of its own; every other word's vector is the mean of those
of its character n-grams, so that a form that was never seen has one too. Each word's vector has
length one before the mean is taken, as in fastText's own vectors of sentences: in a vector that
fastText has trained the length mostly tells how frequent a word is, and a rare name, whose vector
is short, would count for nothing beside a common word. A form's own vector is not scaled: it is
the shorter, the less its words have in common.

Shapes: F forms, W width, V known words, G n-grams.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrlm.arrays import Floats
from lrlm.artifacts import new_folder, read_manifest, write_manifest
from lrlm.checks import check_shape
from lrlm.features.names import read_names, write_names
from lrlm.features.subwords import Integers, ngram_rows
from lrlm.features.tensors import read_tensors, write_tensors

FORMAT = "lrlm form vectors"
VERSION = 1
VECTORS, WORDS = "vectors.safetensors", "words.json"

_WORDS_AT_ONCE = 4096
_FIRST_ROWS = 1024


class SubwordFeaturiser:
    """Vectors of words and of n-grams; gives forms the means of those of their words."""

    def __init__(
        self,
        words: Sequence[str],
        words_VW: Floats,
        ngrams_GW: Floats,
        *,
        shortest_ngram: int,
        longest_ngram: int,
        cache_size: int = 1 << 17,
    ) -> None:
        """`cache_size` bounds the forms whose vectors are kept."""
        self.words = tuple(words)
        self.words_VW = words_VW
        self.ngrams_GW = ngrams_GW
        self.width = ngrams_GW.shape[1]
        self.shortest_ngram, self.longest_ngram = shortest_ngram, longest_ngram
        check_shape("words_VW", torch.from_numpy(words_VW), (len(self.words), self.width))
        self._cache_size = cache_size
        self._row_of_form: dict[tuple[str, ...], int] = {}
        self._rows_RW = np.empty((_FIRST_ROWS, self.width), dtype=np.float32)

    def vectors(self, forms: Sequence[tuple[str, ...]]) -> Floats:
        """Give the vector of each form, (F, W); it does not depend on the other forms."""
        known = self._row_of_form
        missing = list(dict.fromkeys(form for form in forms if form not in known))
        if len(known) + len(missing) > self._cache_size:
            known.clear()
            missing = list(dict.fromkeys(forms))
        if missing:
            self._remember(missing)
        rows_F = np.fromiter((known[form] for form in forms), dtype=np.int64, count=len(forms))
        result: Floats = self._rows_RW[rows_F]
        if len(known) > self._cache_size:  # a single request that is larger than the cache
            known.clear()
            self._rows_RW = self._rows_RW[:_FIRST_ROWS].copy()
        return result

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """Give the vector of each word as it was trained, of any length."""
        vectors = np.zeros((len(words), self.width), dtype=np.float32)
        own = np.fromiter(
            (self._row_of_word.get(word, -1) for word in words), dtype=np.int64, count=len(words)
        )
        vectors[own >= 0] = self.words_VW[own[own >= 0]]
        unknown = np.flatnonzero(own < 0)
        for places in np.array_split(unknown, -(-len(unknown) // _WORDS_AT_ONCE) or 1):
            vectors[places] = self._from_ngrams([words[place] for place in places.tolist()])
        return vectors

    def save(self, folder: Path, **made_from: Any) -> None:
        """Write the tables to a new folder; `made_from` is kept in its manifest."""
        with new_folder(folder) as draft:
            tables = {"words": self.words_VW, "ngrams": self.ngrams_GW}
            write_tensors(
                draft / VECTORS, {name: torch.from_numpy(table) for name, table in tables.items()}
            )
            write_names(draft / WORDS, self.words)
            write_manifest(
                draft,
                format=FORMAT,
                version=VERSION,
                **made_from,
                words=len(self.words),
                buckets=len(self.ngrams_GW),
                width=self.width,
                shortest_ngram=self.shortest_ngram,
                longest_ngram=self.longest_ngram,
            )

    @classmethod
    def load(cls, folder: Path) -> "SubwordFeaturiser":
        """Read what `save` wrote."""
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        words, width = manifest["words"], manifest["width"]
        tables = read_tensors(
            folder / VECTORS, {"words": (words, width), "ngrams": (manifest["buckets"], width)}
        )
        return cls(
            read_names(folder / WORDS, count=words),
            tables["words"].numpy(),
            tables["ngrams"].numpy(),
            shortest_ngram=manifest["shortest_ngram"],
            longest_ngram=manifest["longest_ngram"],
        )

    @cached_property
    def _row_of_word(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def _remember(self, forms: list[tuple[str, ...]]) -> None:
        """Compute the vectors of new forms and keep them."""
        first, end = len(self._row_of_form), len(self._row_of_form) + len(forms)
        if end > len(self._rows_RW):
            larger = np.empty((max(end, 2 * first), self.width), dtype=np.float32)
            larger[:first] = self._rows_RW[:first]
            self._rows_RW = larger
        self._rows_RW[first:end] = self._means(forms)
        self._row_of_form.update(zip(forms, range(first, end), strict=True))

    def _means(self, forms: list[tuple[str, ...]]) -> Floats:
        row_of = {word: row for row, word in enumerate(dict.fromkeys(w for f in forms for w in f))}
        units = _unit_length(self.word_vectors(list(row_of)))
        rows = np.array([row_of[word] for form in forms for word in form], dtype=np.int64)
        return _means(units, rows, np.array([len(form) for form in forms], dtype=np.int64))

    def _from_ngrams(self, words: list[str]) -> Floats:
        rows_G, counts = ngram_rows(
            words,
            shortest=self.shortest_ngram,
            longest=self.longest_ngram,
            buckets=len(self.ngrams_GW),
        )
        return _means(self.ngrams_GW, rows_G, counts)


def _means(table: Floats, rows: Integers, counts: Integers) -> Floats:
    """Give the mean of each run of rows, zero where there are none.

    Rows of a run are added one after the other, so a mean does not depend on the other runs.
    """
    sums = np.zeros((len(counts), table.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(counts)
    if len(filled):
        starts = np.cumsum(counts) - counts
        sums[filled] = np.add.reduceat(table[rows], starts[filled], axis=0)
    result: Floats = sums / np.maximum(counts, 1).astype(np.float32)[:, None]
    return result


def _unit_length(vectors: Floats) -> Floats:
    """Scale vectors to length one, except those that are zero."""
    lengths = np.sqrt(np.einsum("vw,vw->v", vectors, vectors))[:, None]
    result: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return result
