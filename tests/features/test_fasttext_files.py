"""Published files of fastText that are cut, damaged or hostile: gensim does not get to see them."""

from pathlib import Path

import pytest

from lrlm.errors import FormatError
from lrlm.features.config import FormVectorConfig
from lrlm.features.fasttext import read_fasttext
from tests.generators.hostile_numbers import fasttext_file, fasttext_files

pytest.importorskip("gensim.models", reason="the extra fasttext is not installed")

CONFIG = FormVectorConfig(width=3)


def read(path: Path, content: bytes) -> object:
    path.write_bytes(content)
    return read_fasttext(path, CONFIG, {"the"})


def test_a_small_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(fasttext_file())
    found = read_fasttext(path, CONFIG, {"the"})
    assert found.words == ("the",)
    assert found.ngrams_GW.shape == (2, 3)


REASONS = {
    "wide": "bytes of vectors are missing",
    "wide-and-low": "bytes of vectors are missing",
    "many-buckets": "bytes of vectors are missing",
    "buckets-of-4-gigabytes": "bytes of vectors are missing",
    "many-rows": "not one vector for each",
    "other-columns": "not one vector for each",
    "negative-width": "below zero",
    "negative-buckets": "below zero",
    "many-words": "without an end|unpack requires",
    "two-counts": "do not",
    "long-ngrams": "n-grams of 3 to 1073741824",
    "negative-ngrams": "below zero",
    "quantised": "quantised",
    "long-word": "without an end",
    "cut-in-a-word": "without an end",
    "infinite": "not all numbers are finite",
    "cut": "1 bytes of vectors are missing",
    "empty": "unpack requires",
    "zeros.gz": "is compressed",
    "vectors-of-gigabytes.gz": "is compressed",
    "word-of-gigabytes.gz": "is compressed",
}


def test_promises_that_are_not_kept_are_refused(tmp_path: Path) -> None:
    files = dict(fasttext_files())
    assert files.keys() == REASONS.keys()
    for name, content in files.items():
        with pytest.raises(FormatError, match=rf"a\.{name}: .*(?:{REASONS[name]})"):
            read(tmp_path / f"a.{name}", content)
