"""Train fastText vectors of words with gensim, or read published ones.

gensim is needed to make the vectors, not to use them: what comes out is our own table.
"""

import io
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from lrlm.errors import FormatError, InputError, MissingExtraError
from lrlm.features.config import HASHED, LONGEST_NGRAM, FormVectorConfig
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.progress import Progress, silent
from lrlm.text_files import Compression, reading

DOING = "making form vectors"

_LONGEST_SENTENCE = 10_000
"""gensim drops what stands beyond, without a word."""

_WHAT = "a fastText .bin file"
_MAGIC = 793712314
"""The first number of files of today; those before had none."""
_LONGEST_WORD = 1 << 16
_BLOCK = 1 << 20

_SUBSAMPLING = 1e-4
"""fastText's own threshold above which frequent words are skipped at times."""


def train_fasttext(
    texts: Callable[[], Iterable[Sequence[str]]],
    config: FormVectorConfig,
    *,
    progress: Progress = silent,
) -> SubwordFeaturiser:
    """Learn vectors with skip-grams; `texts` gives the texts' words anew for every epoch.

    gensim trains on one thread with a seed: the same texts and settings give the same vectors in
    every process. Progress counts the words read, over all epochs; while the words are counted
    for the first time, the total is not known.
    """
    models = _gensim_models()
    model = models.FastText(
        vector_size=config.width,
        alpha=config.learning_rate,
        min_count=config.min_count,
        min_n=config.shortest_ngram,
        max_n=config.longest_ngram,
        bucket=config.buckets,
        sg=1,
        sample=_SUBSAMPLING,
        seed=config.seed,
        workers=1,
    )
    sentences = _Sentences(texts, progress)
    model.build_vocab(corpus_iterable=sentences)
    if not len(model.wv):
        raise InputError(
            f"no word stands in the training texts {config.min_count} times"
            " (features.forms.min_count), so fastText has nothing to learn from"
        )
    sentences.expect(config.epochs)
    model.train(
        corpus_iterable=sentences,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=config.epochs,
    )
    return _convert(model.wv, range(len(model.wv)))


def read_fasttext(
    path: Path, config: FormVectorConfig, words: Collection[str]
) -> SubwordFeaturiser:
    """Read a published file, keeping all n-grams and the vectors of `words` that it has.

    Other words keep the vectors of their n-grams. gensim reads the whole file into memory.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file (features.forms.source)")
    models = _gensim_models()
    with reading(path, _WHAT):
        if Compression.of(path) is not None:  # gensim would read its bytes as numbers
            raise FormatError(f"{path}: is compressed; decompress it first")
        with path.open("rb") as stream:
            _check_file(stream, path)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            vectors = models.fasttext.load_facebook_vectors(str(path))
        if not all(np.isfinite(each).all() for each in (vectors.vectors, vectors.vectors_ngrams)):
            raise FormatError(f"{path}: not {_WHAT}, or damaged (not all numbers are finite)")
    if vectors.vector_size != config.width:
        raise InputError(
            f"{path}: holds vectors of width {vectors.vector_size}, but features.forms.width is"
            f" {config.width}; set it to {vectors.vector_size}"
        )
    kept = [row for row, word in enumerate(vectors.index_to_key) if word in words]
    return _convert(vectors, kept)


def _check_file(stream: IO[bytes], path: Path) -> None:
    """Refuse a file that does not hold what it promises.

    gensim takes the memory that a file asks for before it reads the numbers, and waits for ever
    for the end of a word at which the file is cut off.
    """
    file = _FastTextFile(stream, path)
    sizes = file.unpack("<2i")
    is_new = sizes[0] == _MAGIC
    sizes = file.unpack("<12i") if is_new else (*sizes, *file.unpack("<10i"))
    width, buckets, (shortest, longest) = sizes[0], sizes[8], sizes[9:11]
    file.unpack("<d")
    words, same, _, _ = file.unpack("<3iq")
    pruned = file.unpack("<q")[0] if is_new else 0
    if min(width, words + 1, buckets + 1, shortest + 1) < 1 or words != same:
        raise file.refused("a size is below zero, or two that should agree do not")
    if not shortest <= longest <= LONGEST_NGRAM:
        raise file.refused(f"n-grams of {shortest} to {longest} characters")
    for _ in range(words):
        file.skip_word()
    if pruned > 0 or (is_new and file.unpack("<?")[0]):
        raise file.refused("its vectors are quantised")
    if file.unpack("<2q") != (words + buckets, width):
        raise file.refused("there is not one vector for each word and each bucket")
    file.skip((words + buckets) * width * struct.calcsize("<f"))


class _FastTextFile:
    """A file of fastText that is read from its beginning, in blocks."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._buffer, self._at = b"", 0

    def unpack(self, layout: str) -> tuple[Any, ...]:
        """Read some numbers."""
        size = struct.calcsize(layout)
        if self._at + size > len(self._buffer):
            self._fill()
        self._at += size
        return struct.unpack(layout, self._buffer[self._at - size : self._at])

    def skip_word(self) -> None:
        """Read over a word and what is said of it: its count and its kind."""
        end = self._buffer.find(b"\0", self._at)
        if end < 0:
            self._fill()
            end = self._buffer.find(b"\0", self._at)
        if not 0 <= end - self._at <= _LONGEST_WORD:
            raise self.refused("a word without an end")
        self._at = end + 1
        self.unpack("<qb")

    def skip(self, size: int) -> None:
        """Make sure that so many bytes follow."""
        left = size - (len(self._buffer) - self._at)
        here = self._stream.tell()
        left -= self._stream.seek(0, io.SEEK_END) - here
        if left > 0:
            raise self.refused(f"{left:,} bytes of vectors are missing")

    def refused(self, reason: str) -> FormatError:
        """Say what is wrong with the file."""
        return FormatError(f"{self._path}: not {_WHAT}, or damaged ({reason})")

    def _fill(self) -> None:
        self._buffer = self._buffer[self._at :] + self._stream.read(_BLOCK)
        self._at = 0


class _Sentences:
    """Texts that can be read again, as gensim wants them: once to count, then once an epoch."""

    def __init__(self, texts: Callable[[], Iterable[Sequence[str]]], progress: Progress) -> None:
        self._texts, self._progress = texts, progress
        self._words = self._total = 0

    def expect(self, epochs: int) -> None:
        """Note that all texts were read once, and how many more times they will be read."""
        self._words, self._total = 0, epochs * self._words

    def __iter__(self) -> Iterator[Sequence[str]]:
        for words in self._texts():
            for start in range(0, len(words), _LONGEST_SENTENCE):
                yield words[start : start + _LONGEST_SENTENCE]
            self._words += len(words)
            self._progress(DOING, self._words, self._total)


def _convert(vectors: Any, rows: Sequence[int]) -> SubwordFeaturiser:
    """Take what is needed out of gensim's object, `vectors` holding a word's n-grams already."""
    return SubwordFeaturiser(
        [vectors.index_to_key[row] for row in rows],
        np.ascontiguousarray(vectors.vectors[list(rows)], dtype=np.float32),
        np.ascontiguousarray(vectors.vectors_ngrams, dtype=np.float32),
        shortest_ngram=vectors.min_n,
        longest_ngram=vectors.max_n,
    )


def _gensim_models() -> Any:
    try:
        import gensim.models
    except ImportError:
        raise MissingExtraError(
            "fastText vectors are made with gensim, which is not installed: run"
            f" pip install 'lrlm[fasttext]', or set features.forms.source to {HASHED!r} for vectors"
            " that need no training"
        ) from None
    return gensim.models
