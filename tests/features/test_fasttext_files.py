"""Published files of fastText that are cut, damaged or hostile: gensim does not get to see them."""

import struct
from pathlib import Path

import pytest

from lrlm.errors import FormatError, LrlmError
from lrlm.features.config import FormVectorConfig
from lrlm.features.fasttext import read_fasttext
from tests.generators.mutations import mutations

pytest.importorskip("gensim.models", reason="the extra fasttext is not installed")

CONFIG = FormVectorConfig(width=3)


def published(
    *,
    width: int = 3,
    buckets: int = 2,
    ngrams: tuple[int, int] = (3, 6),
    words: tuple[bytes, ...] = (b"the", b"sea"),
    counts: tuple[int, int] = (2, 2),
    rows: int = 4,
    columns: int = 3,
    is_quantised: bool = False,
) -> bytes:
    """Write a file with any sizes; the numbers are those of four vectors of width 3."""
    content = struct.pack("<2i", 793712314, 12)
    content += struct.pack("<12i", width, 5, 5, 1, 5, 1, 2, 2, buckets, *ngrams, 100)
    content += struct.pack("<d3i2q", 1e-4, *counts, 0, 100, -1)
    content += b"".join(word + b"\0" + struct.pack("<qb", 50, 0) for word in words)
    content += struct.pack("<?2q", is_quantised, rows, columns)
    return content + struct.pack("<12f", *range(12))


def read(path: Path, content: bytes) -> object:
    path.write_bytes(content)
    return read_fasttext(path, CONFIG, {"the"})


def test_a_small_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(published())
    found = read_fasttext(path, CONFIG, {"the"})
    assert found.words == ("the",)
    assert found.ngrams_GW.shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (published(width=1 << 30, columns=1 << 30), "bytes of vectors are missing"),
        (published(buckets=1 << 30, rows=(1 << 30) + 2), "bytes of vectors are missing"),
        (published(rows=1 << 40), "not one vector for each"),
        (published(columns=4), "not one vector for each"),
        (published(width=-3, columns=-3), "below zero"),
        (published(buckets=-5), "below zero"),
        (published(counts=(1 << 30, 1 << 30)), "without an end|unpack requires"),
        (published(counts=(3, 2)), "do not"),
        (published(ngrams=(3, 1 << 30)), "n-grams of 3 to 1073741824"),
        (published(ngrams=(-1, 6)), "below zero"),
        (published(is_quantised=True), "quantised"),
        (published(words=(b"the", b"s" * 100_000)), "without an end"),
        (published()[:94], "without an end"),  # in a word: gensim would wait for its end for ever
        (published()[:-4] + b"\0\0\x80\x7f", "not all numbers are finite"),
        (published()[:-1], "1 bytes of vectors are missing"),
        (b"", "unpack requires"),
    ],
)
def test_promises_that_are_not_kept_are_refused(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    with pytest.raises(FormatError, match=rf"a\.bin: not a fastText .*(?:{reason})"):
        read(tmp_path / "a.bin", content)


def test_damaged_files_are_used_or_refused(tmp_path: Path) -> None:
    refused = 0
    for changed in mutations(published(), 300):
        try:
            read(tmp_path / "a.bin", changed)
        except LrlmError:
            refused += 1
    assert refused > 100
