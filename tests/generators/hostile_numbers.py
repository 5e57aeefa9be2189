"""Makes files of vectors and of names whose headers promise what they do not hold."""

import gzip
import json
import struct
from collections.abc import Iterator
from typing import Any

from tests.generators.hostile_files import repeated


def fasttext_file(
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
    """Write a file of fastText with any sizes; the numbers are four vectors of width 3."""
    content = struct.pack("<2i", 793712314, 12)
    content += struct.pack("<12i", width, 5, 5, 1, 5, 1, 2, 2, buckets, *ngrams, 100)
    content += struct.pack("<d3i2q", 1e-4, *counts, 0, 100, -1)
    content += b"".join(word + b"\0" + struct.pack("<qb", 50, 0) for word in words)
    content += struct.pack("<?2q", is_quantised, rows, columns)
    return content + struct.pack("<12f", *range(12))


def fasttext_files() -> Iterator[tuple[str, bytes]]:
    """Make files of fastText that are cut off, or ask for more than they hold."""
    whole = fasttext_file()
    yield "wide", fasttext_file(width=1 << 30, columns=1 << 30)
    yield "wide-and-low", fasttext_file(width=1 << 28, columns=1 << 28, buckets=0, rows=2)
    yield "many-buckets", fasttext_file(buckets=1 << 30, rows=(1 << 30) + 2)
    yield "buckets-of-4-gigabytes", fasttext_file(buckets=350_000_000, rows=350_000_002)
    yield "many-rows", fasttext_file(rows=1 << 40)
    yield "other-columns", fasttext_file(columns=4)
    yield "negative-width", fasttext_file(width=-3, columns=-3)
    yield "negative-buckets", fasttext_file(buckets=-5)
    yield "many-words", fasttext_file(counts=(1 << 30, 1 << 30))
    yield "two-counts", fasttext_file(counts=(3, 2))
    yield "long-ngrams", fasttext_file(ngrams=(3, 1 << 30))
    yield "negative-ngrams", fasttext_file(ngrams=(-1, 6))
    yield "quantised", fasttext_file(is_quantised=True)
    yield "long-word", fasttext_file(words=(b"the", b"s" * 100_000))
    yield "cut-in-a-word", whole[:94]  # gensim waits for its end for ever
    yield "infinite", whole[:-4] + b"\0\0\x80\x7f"
    yield "cut", whole[:-1]
    yield "empty", b""
    # gensim opens by the name: a compressed file ends with .gz
    yield "zeros.gz", repeated(b"\0", 3 << 30)
    many = fasttext_file(buckets=250_000_000, rows=250_000_002)
    yield "vectors-of-gigabytes.gz", gzip.compress(many, mtime=0) + repeated(b"\0", 3 << 30)
    yield "word-of-gigabytes.gz", gzip.compress(whole[:90], mtime=0) + repeated(b"a", 3 << 30)


def with_header(header: Any, data: bytes = b"\0" * 40) -> bytes:
    """Write a safetensors file with any header."""
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def safetensors_files() -> Iterator[tuple[str, bytes]]:
    """Make safetensors files whose headers do not fit what follows."""

    def one(dtype: str, shape: list[int], start: int, end: int, data: bytes = b"\0" * 40) -> bytes:
        return with_header(
            {"a": {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}}, data
        )

    yield "empty", b""
    yield "header-of-exabytes", b"\xff" * 8
    yield "header-of-4-exabytes", struct.pack("<Q", 1 << 62) + b"{}"
    yield "deep-header", with_header(b"[" * 100_000)
    yield "header-no-text", with_header(b"\xff\xfe")
    yield "cut", one("F32", [2, 3], 0, 24, b"\0" * 8)
    yield "overflowing-shape", one("F32", [1 << 31, 1 << 31], 0, 40)
    yield "wide-and-empty", one("F32", [0, 1 << 62], 0, 0, b"")
    yield "unknown-type", one("F99", [10], 0, 40)
    yield "backwards", one("F32", [10], 40, 0)
    yield "negative", one("F32", [-10], 0, 40)
    yield "integers", one("I64", [5], 0, 40)
    yield "tiny-numbers", one("F8_E4M3", [40], 0, 40)
    yield "no-entry", with_header({"a": None})
    nothing = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    something = {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}
    many = {f"t{number}": nothing for number in range(500_000)}
    yield "many-tensors", with_header({**many, "a": something})
    yield "not-a-number", one("F32", [2, 3], 0, 24, b"\0\0\xc0\x7f" * 6)


def name_files() -> Iterator[tuple[str, bytes]]:
    """Make lists of names in JSON that are none, or too much."""
    yield "deep", b"[" * 100_000
    yield "digits", b"[" + b"9" * 5000 + b"]"
    yield "bytes", b'["\xff"]'
    yield "object", b'{"a": 1}'
    yield "twice", b'["a", "a"]'
    yield "number", b'["a", 1]'
    yield "large", b"[" + b"[]," * (1 << 20) + b"[]]"


def openke_id_files() -> Iterator[tuple[str, bytes]]:
    """Make lists of names and ids that promise what does not follow."""
    yield "count-of-5000-digits", b"9" * 5000 + b"\nQ1\t0\n"
    yield "id-of-5000-digits", b"1\nQ1\t" + b"9" * 5000 + b"\n"
    yield "superscript-count", "²\nQ1\t0\n".encode()
    yield "superscript-id", "1\nQ1\t²\n".encode()
    yield "no-text", b"1\n\xff\t0\n"
    yield "zero-bytes", b"\0" * 1000
    yield "one-long-line", b"1\n" + b"\0" * (7 << 27)
    yield "huge-count", b"99999999999999999999\nQ1\t0\n"
    yield "count-without-names", str(1 << 60).encode() + b"\n"
