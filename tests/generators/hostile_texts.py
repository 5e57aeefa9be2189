"""Makes JSON, TOML and files of lines that ask for much: depth, digits, or gigabytes of nothing."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from functools import cache

from tests.generators.hostile_files import repeated

_DIGITS = b"9" * 5000


def topic_files() -> Iterator[tuple[str, bytes]]:
    """Make topics that are none."""
    yield "deep", b"[" * 1_000_000
    yield "deep-objects", b'{"a":' * 200_000
    yield "digits", b'{"id": ' + _DIGITS + b"}"
    yield "no-text", b'{"id": "\xff"}'
    yield "half-a-character", b'{"id": "\\ud800", "relations": []}'
    yield "not-a-number", b'{"id": "a", "names": NaN}'
    yield "many-names", json.dumps({"id": "a", "names": ["b"] * 1_000_000}).encode()
    yield "large", b'{"id": "a", "names": [' + b'"b",' * (17 << 20) + b'"b"]}'
    yield "empty", b""


def configuration_files() -> Iterator[tuple[str, bytes]]:
    """Make configurations that no parser should follow."""
    yield "deep", b"a = " + b"[" * 5000
    yield "deep-table", b"a" + b".a" * 30_000 + b" = 1"
    yield "deep-inline", b"a = " + b"{b = " * 3000
    yield "digits", b"[training]\nepochs = " + _DIGITS
    yield "long", b"# " + b"x" * (1 << 20)
    yield "many-layers", b'[model.backbone]\nname = "lstm"\nlayers = 10000000'
    yield "wide", b'[model.backbone]\nname = "lstm"\nhidden_size = 1000000000'
    yield "not-a-number", b"[training]\nlearning_rate = nan"
    yield "infinite", b"[training]\nclip = inf"
    yield "negative", b"[training]\nwindow = -1"


def vocabulary_files() -> Iterator[tuple[str, bytes]]:
    """Make vocabularies that are none."""
    head = b'{"format": "lrlm vocabulary", "version": 1, "words": '
    yield "deep", b"[" * 1_000_000
    yield "digits", head + b'["<unk>", "</s>"], "counts": [' + _DIGITS + b", 1]}"
    yield "two-lengths", head + b'["<unk>", "</s>", "a"], "counts": [1, 1]}'
    yield "negative", head + b'["<unk>", "</s>"], "counts": [-1, -1]}'
    yield "twice", head + b'["<unk>", "</s>", "a", "a"], "counts": [1, 1, 1, 1]}'
    yield "no-words", head + b'[], "counts": []}'
    yield "half-a-character", head + b'["<unk>", "</s>", "\\ud800"], "counts": [1, 1, 1]}'


def line_files(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Make files of lines, each beginning with a good one."""
    yield "long-line.gz", gzip.compress(good, mtime=0) + repeated(b"a", 3 << 30)
    yield "empty-lines.gz", gzip.compress(good, mtime=0) + repeated(b"\n", 3 << 30)
    yield "spaces.gz", gzip.compress(good, mtime=0) + repeated(b" ", 3 << 30)
    yield "zeros.gz", gzip.compress(good, mtime=0) + repeated(b"\0\n", 1 << 30)
    yield "empty-lines.bz2", bz2.compress(good) + _empty_lines(bz2.compress) * 128
    yield "empty-lines.xz", lzma.compress(good) + _empty_lines(lzma.compress) * 128
    yield "deep", good + b"[" * (1 << 20) + b"\n" + b'{"a":' * (1 << 18) + b"\n"
    yield "digits", good + b'{"id": ' + _DIGITS + b', "type": ' + _DIGITS + b"}\n"
    yield "one-line", good + b"a" * (65 << 20)
    yield "bad-lines", good + b"x\n" * 3_000_000


@cache
def _empty_lines(compress: Callable[[bytes], bytes]) -> bytes:
    return compress(b"\n" * (1 << 24))
