"""Train fastText vectors of words with gensim, or read published ones.

gensim is needed to make the vectors, not to use them: what comes out is our own table.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lrlm.errors import FormatError, InputError, MissingExtraError
from lrlm.features.config import HASHED, FormVectorConfig
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.progress import Progress, silent

DOING = "making form vectors"

_LONGEST_SENTENCE = 10_000
"""gensim drops what stands beyond, without a word."""

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
    try:
        vectors = models.fasttext.load_facebook_vectors(str(path))
    except (ValueError, EOFError, OSError, AssertionError, struct.error) as error:
        raise FormatError(f"{path}: not a fastText .bin file, or damaged ({error})") from None
    if vectors.vector_size != config.width:
        raise InputError(
            f"{path}: holds vectors of width {vectors.vector_size}, but features.forms.width is"
            f" {config.width}; set it to {vectors.vector_size}"
        )
    kept = [row for row, word in enumerate(vectors.index_to_key) if word in words]
    return _convert(vectors, kept)


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
