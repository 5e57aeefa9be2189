"""Words in, the rows of their character n-grams in a table out, hashed as fastText does.

A word is written `<word>`; its n-grams are those of `shortest` to `longest` characters, except the
lone marks. An n-gram's row is its 32-bit FNV-1a hash over UTF-8 bytes, modulo the rows; as in the
published fastText, a byte above 127 is taken as a negative number.

Shapes: W words, C characters of all words with their marks, A those of them at which an n-gram of
the size in hand begins, G n-grams of all words.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_OFFSET = np.uint32(2166136261)
_PRIME = np.uint32(16777619)
_LONGEST_CHARACTER = 4
"""Bytes, in UTF-8."""

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint32]


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


def _read_character(hash_A: Hashes, bytes_A4: npt.NDArray[np.int8], sizes_A: Integers) -> Hashes:
    """Carry each hash on over one character."""
    signed_A4 = bytes_A4.astype(np.int32).view(np.uint32)
    hash_A = (hash_A ^ signed_A4[:, 0]) * _PRIME
    for place in range(1, int(sizes_A.max(initial=1))):
        longer_A = (hash_A ^ signed_A4[:, place]) * _PRIME
        hash_A = np.where(sizes_A > place, longer_A, hash_A)
    return hash_A
