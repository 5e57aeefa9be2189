"""A corpus in, its documents as numbers out: read once, unknown words spelled all at once."""

from collections.abc import Iterable, Sequence

import numpy as np

from lrlm.arrays import Floats
from lrlm.batching import EncodedDocument, Encoder, Speller
from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.progress import Progress
from lrlm.text import Vocabulary

SPLITS = ("train", "valid")
"""What training reads."""


class SpelledWords:
    """Scores of words that were spelled beforehand; others are spelled when they come."""

    def __init__(self, speller: Speller, words: Iterable[str]) -> None:
        listed = sorted(set(words))
        self._speller = speller
        self._scores = dict(zip(listed, speller.log_probs(listed).tolist(), strict=True))

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's spelling."""
        missing = [word for word in words if word not in self._scores]
        if missing:
            return self._speller.log_probs(words)
        return np.array([self._scores[word] for word in words], dtype=np.float32)


def require_splits(corpus: Corpus, splits: Sequence[str] = SPLITS) -> None:
    """Refuse a corpus that lacks a split, or has no documents in it."""
    for split in splits:
        if not corpus.statistics(split)["documents"]:
            raise InputError(f"{corpus.folder}: the split {split!r} has no documents")


def unknown_words(corpus: Corpus, vocabulary: Vocabulary, split: str) -> set[str]:
    """List the words of a split that have no id."""
    words: set[str] = set()
    for batch in corpus.batches(split, ["words"]):
        words.update(batch.column("words").flatten().unique().to_pylist())
    return {word for word in words if word not in vocabulary}


def encode_split(
    corpus: Corpus,
    split: str,
    encoder: Encoder,
    *,
    progress: Progress = lambda _what, _done, _total: None,
) -> list[EncodedDocument]:
    """Encode all documents of a split, in order."""
    total = int(corpus.statistics(split)["documents"])
    documents = []
    for document in encoder.encode(corpus.documents(split)):
        documents.append(document)
        if len(documents) % 256 == 0:
            progress(f"reading {split}", len(documents), total)
    return documents
