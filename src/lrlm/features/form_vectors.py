"""Vectors of surface forms: the mean of the vectors of their words.

A word that the table knows has a vector of its own; every other word's vector is the mean of those
of its character n-grams, so that a form that was never seen has one too. Each word's vector has
length one before the mean is taken, as in fastText's own vectors of sentences: in a vector that
fastText has trained the length mostly tells how frequent a word is, and a rare name, whose vector
is short, would count for nothing beside a common word. A form's own vector is not scaled: it is
the shorter, the less its words have in common.

A word is written `<word>`; its n-grams are those of `shortest` to `longest` characters, except the
lone marks. An n-gram's row in the table is its 32-bit FNV-1a hash over UTF-8 bytes, modulo the
rows; as in the published fastText, a byte above 127 is taken as a negative number.

Shapes: F forms, W width, V known words, G n-grams; of the words that are cut into n-grams, C
characters of all of them with their marks, A those of them at which an n-gram of the size in hand
begins.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lrlm.arrays import Floats, Integers
from lrlm.artifacts import (
    check_files,
    fingerprints_in,
    new_folder,
    read_manifest,
    read_number,
    write_manifest,
)
from lrlm.checks import WIDEST, check_shape
from lrlm.features.config import LONGEST_NGRAM, FormVectorConfig
from lrlm.tensor_files import read_names, read_tensors, write_names, write_tensors

FORMAT = "lrlm form vectors"
VERSION = 1
VECTORS, WORDS = "vectors.safetensors", "words.json"

_WORDS_AT_ONCE = 4096
_FIRST_ROWS = 1024

_OFFSET = np.uint32(2166136261)
_PRIME = np.uint32(16777619)
_LONGEST_CHARACTER = 4
"""Bytes of the longest character in UTF-8."""

_Hashes = npt.NDArray[np.uint32]


class NameFeaturiser(ABC):
    """Gives names vectors, and remembers those it has given; threads may share one."""

    def __init__(self, width: int, *, cache_size: int = 1 << 17) -> None:
        """`cache_size` bounds the names whose vectors are kept."""
        self.width = width
        self._cache_size = cache_size
        self._kept = _KeptVectors(width)
        self._lock = Lock()

    @abstractmethod
    def _means(self, forms: list[tuple[str, ...]]) -> Floats:
        """Work out the vector of each form, (F, W); it does not depend on the other forms."""

    def vectors(self, forms: Sequence[tuple[str, ...]]) -> Floats:
        """Give the vector of each form, (F, W); it does not depend on the other forms."""
        kept = self._kept  # another thread may replace it
        rows_F = np.fromiter(
            (kept.row_of.get(form, -1) for form in forms), dtype=np.int64, count=len(forms)
        )
        result: Floats = kept.rows_RW[rows_F]
        places = np.flatnonzero(rows_F < 0).tolist()
        if places:
            new = list(dict.fromkeys(forms[place] for place in places))
            vectors = self._means(new)
            row_of = {form: row for row, form in enumerate(new)}
            result[places] = vectors[[row_of[forms[place]] for place in places]]
            self._keep(new, vectors)
        return result

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache and its lock: a copy has its own."""
        return {**self.__dict__, "_kept": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with an empty cache."""
        self.__dict__.update(state, _kept=_KeptVectors(state["width"]), _lock=Lock())

    def _keep(self, forms: list[tuple[str, ...]], vectors: Floats) -> None:
        """Remember vectors for the next time, within the bounds of the cache."""
        with self._lock:
            new = [row for row, form in enumerate(forms) if form not in self._kept.row_of]
            if len(self._kept.row_of) + len(new) > self._cache_size:
                self._kept = _KeptVectors(self.width)
                new = list(range(len(forms)))
            if len(new) <= self._cache_size:
                self._kept.add([forms[row] for row in new], vectors[new])


class SubwordFeaturiser(NameFeaturiser):
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
        super().__init__(ngrams_GW.shape[1], cache_size=cache_size)
        self.words = tuple(words)
        self.words_VW = words_VW
        self.ngrams_GW = ngrams_GW
        self.shortest_ngram, self.longest_ngram = shortest_ngram, longest_ngram
        check_shape("words_VW", torch.from_numpy(words_VW), (len(self.words), self.width))

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
                files=fingerprints_in(draft),
            )

    @classmethod
    def open(cls, folder: Path) -> "SubwordFeaturiser":
        """Read what `save` wrote."""
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        check_files(folder, manifest)
        words = read_number(folder, manifest, "words", at_least=0)
        width = read_number(folder, manifest, "width", at_most=WIDEST)
        buckets = read_number(folder, manifest, "buckets", at_least=0)
        longest = read_number(folder, manifest, "longest_ngram", at_least=0, at_most=LONGEST_NGRAM)
        shortest = read_number(folder, manifest, "shortest_ngram", at_least=0, at_most=longest)
        tables = read_tensors(
            folder / VECTORS, {"words": (words, width), "ngrams": (buckets, width)}
        )
        return cls(
            read_names(folder / WORDS, count=words),
            tables["words"].numpy(),
            tables["ngrams"].numpy(),
            shortest_ngram=shortest,
            longest_ngram=longest,
        )

    @cached_property
    def _row_of_word(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

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


class EmbeddedNames(NameFeaturiser):
    """Vectors of names from a language model's own vectors of their tokens: the mean of these.

    Each token's vector has length one before the mean is taken, as those of words have.
    """

    def __init__(self, encode: Callable[[str], Sequence[int]], tokens_VW: Floats) -> None:
        """`encode` writes a text in tokens, whose vectors are the rows of `tokens_VW`."""
        super().__init__(tokens_VW.shape[1])
        self._encode = encode
        self._tokens_VW = tokens_VW

    def _means(self, forms: list[tuple[str, ...]]) -> Floats:
        ids = [self._encode(" " + " ".join(form)) for form in forms]
        tokens, row_of_token = np.unique(
            np.array([token for row in ids for token in row], dtype=np.int64), return_inverse=True
        )
        units = _unit_length(np.asarray(self._tokens_VW[tokens], dtype=np.float32))
        return _means(units, row_of_token, np.array([len(row) for row in ids], dtype=np.int64))


class _KeptVectors:
    """Vectors of forms that were asked for before.

    Rows are only ever added, by one thread at a time, so that other threads can read meanwhile: a
    row is written before its form is listed. A cache that is full is replaced, not emptied.
    """

    def __init__(self, width: int) -> None:
        self.row_of: dict[tuple[str, ...], int] = {}
        self.rows_RW: Floats = np.empty((_FIRST_ROWS, width), dtype=np.float32)

    def add(self, forms: list[tuple[str, ...]], vectors: Floats) -> None:
        first, end = len(self.row_of), len(self.row_of) + len(forms)
        if end > len(self.rows_RW):
            larger = np.empty((max(end, 2 * first), self.rows_RW.shape[1]), dtype=np.float32)
            larger[:first] = self.rows_RW[:first]
            self.rows_RW = larger
        self.rows_RW[first:end] = vectors
        self.row_of.update(zip(forms, range(first, end), strict=True))


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


def ngram_rows(
    words: Sequence[str], *, shortest: int, longest: int, buckets: int
) -> tuple[Integers, Integers]:
    """Give the rows of all n-grams, one word after the other, (G,), and each word's number, (W,).

    Within a word, short n-grams come before long ones, and then earlier before later ones.
    """
    if longest < 1 or not buckets or not words:  # some published vectors have no n-grams
        return np.empty(0, dtype=np.int64), np.zeros(len(words), dtype=np.int64)
    lengths_W = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) + 2
    bytes_C4, sizes_C = _utf8("".join(f"<{word}>" for word in words))
    word_C = np.repeat(np.arange(len(words)), lengths_W)
    end_C = np.cumsum(lengths_W)[word_C]
    is_mark_C = np.zeros(len(word_C), dtype=bool)
    is_mark_C[end_C - 1] = True
    is_mark_C[end_C - lengths_W[word_C]] = True
    start_A = np.arange(len(word_C))
    hash_A = np.full(len(word_C), _OFFSET)
    word_parts, row_parts = [], []
    for size in range(1, longest + 1):
        fits_A = start_A + size <= end_C[start_A]
        start_A = start_A[fits_A]
        last_A = start_A + size - 1
        hash_A = _read_character(hash_A[fits_A], bytes_C4[last_A], sizes_C[last_A])
        if size >= shortest:
            counts_A = ~is_mark_C[start_A] if size == 1 else slice(None)
            word_parts.append(word_C[start_A[counts_A]])
            row_parts.append(hash_A[counts_A] % np.uint32(buckets))
    word_G = np.concatenate(word_parts)
    order_G = np.argsort(word_G, kind="stable")
    rows_G = np.concatenate(row_parts)[order_G].astype(np.int64)
    return rows_G, np.bincount(word_G, minlength=len(words))


def _utf8(text: str) -> tuple[npt.NDArray[np.int8], Integers]:
    """Give the bytes of each character, (C, 4), and how many there are, (C,)."""
    # A half of a surrogate pair has no UTF-8 of its own; "surrogatepass" gives it three bytes.
    codes_C = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    sizes_C = np.searchsorted([0x80, 0x800, 0x10000], codes_C, side="right") + 1
    bytes_C4 = np.zeros((len(codes_C), _LONGEST_CHARACTER), dtype=np.uint8)
    encoded = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    bytes_C4[np.arange(_LONGEST_CHARACTER) < sizes_C[:, None]] = encoded
    return bytes_C4.view(np.int8), sizes_C


def _read_character(hash_A: _Hashes, bytes_A4: npt.NDArray[np.int8], sizes_A: Integers) -> _Hashes:
    """Carry each hash on over one character."""
    signed_A4 = bytes_A4.astype(np.int32).view(np.uint32)
    hash_A = (hash_A ^ signed_A4[:, 0]) * _PRIME
    for place in range(1, int(sizes_A.max(initial=1))):
        longer_A = (hash_A ^ signed_A4[:, place]) * _PRIME
        hash_A = np.where(sizes_A > place, longer_A, hash_A)
    return hash_A


def hashed_featuriser(config: FormVectorConfig) -> SubwordFeaturiser:
    """Make vectors that need no training and no other library.

    Every n-gram row is a vector of random signs, so a word's vector is a random projection of the
    counts of its n-grams: words that share n-grams have vectors that point the same way. The signs
    are bits of a hash, in whole numbers only: they are the same on every machine and with every
    version.
    """
    return SubwordFeaturiser(
        (),
        np.empty((0, config.width), dtype=np.float32),
        random_signs(config.buckets, config.width, config.seed),
        shortest_ngram=config.shortest_ngram,
        longest_ngram=config.longest_ngram,
    )


def random_signs(rows: int, width: int, seed: int) -> Floats:
    """Give a table of 1 and -1, (rows, W)."""
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
