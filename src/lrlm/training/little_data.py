"""Fit a preset to a small corpus: little text is read more often, in smaller batches.

The presets are made for a thousand articles and more. On a dozen, their few epochs of large batches
would be a handful of updates, after which a model knows next to nothing.
"""

import math
from dataclasses import replace

from lrlm.corpora import Corpus
from lrlm.features.config import SpellingConfig
from lrlm.runs.config import RunConfig, TrainingConfig

_ENOUGH, _ENOUGH_TO_TUNE = 300, 100
"""Updates that a small corpus is read for, again and again; the best validation is kept."""
_BATCHES = 30
"""Batches that an epoch should have; a corpus with fewer of the preset's is a small one."""
_SMALLEST_BATCH = 2
_SPELLING_UPDATES = 1500
_SPELLING_BATCHES = 100
_SMALLEST_SPELLING_BATCH = 16


def is_small(corpus: Corpus, preset: RunConfig) -> bool:
    """Tell whether a preset makes too few batches of a corpus, or too few updates."""
    training = preset.training
    return _documents(corpus) < _BATCHES * training.batch_size or training.epochs < enough_epochs(
        preset, corpus
    )


def fitted(preset: RunConfig, corpus: Corpus, *, like: RunConfig | None = None) -> RunConfig:
    """Give a small corpus smaller batches and more epochs; for others, a preset stays as it is.

    `like` is what a caller made of the configuration that this gave before. Where the caller chose
    the size of a batch, epochs follow it; a spelling model that the caller changed stays theirs.
    """
    if not is_small(corpus, preset):
        return preset
    batch_size = _batch_size(preset.training, corpus)
    spelling = _fitted_spelling(preset.features.spelling, corpus)
    if like is not None:
        batch_size = like.training.batch_size
        if like.features.spelling != spelling:
            spelling = preset.features.spelling
    smaller = replace(
        preset,
        features=replace(preset.features, spelling=spelling),
        training=replace(preset.training, batch_size=batch_size),
    )
    epochs = max(preset.training.epochs, enough_epochs(like or smaller, corpus))
    return replace(smaller, training=replace(smaller.training, epochs=epochs))


def enough_updates(config: RunConfig) -> int:
    """Say how many updates a model should have at least.

    One that learns its words from the corpus needs many, and so do new heads of a language model
    that is frozen; one that knows its language and is tuned as a whole needs few, which are slow.
    """
    is_tuned = config.model.backbone.learns and not config.vocabulary.needs_spelling
    return _ENOUGH_TO_TUNE if is_tuned else _ENOUGH


def enough_epochs(config: RunConfig, corpus: Corpus) -> int:
    """Count the epochs that make enough updates."""
    return math.ceil(enough_updates(config) / updates_per_epoch(config.training, corpus))


def updates_per_epoch(training: TrainingConfig, corpus: Corpus) -> float:
    """Tell about how many updates an epoch has: one for each window of each batch."""
    documents = _documents(corpus)
    windows = corpus.statistics("train")["tokens per document"] / training.window
    return math.ceil(documents / training.batch_size) * max(1.0, windows)


def _documents(corpus: Corpus) -> int:
    return max(1, int(corpus.statistics("train")["documents"]))


def _batch_size(training: TrainingConfig, corpus: Corpus) -> int:
    wanted = max(_SMALLEST_BATCH, _documents(corpus) // _BATCHES)
    return min(training.batch_size, wanted)


def _fitted_spelling(preset: SpellingConfig, corpus: Corpus) -> SpellingConfig:
    """Have a spelling model learn from few words; they cost most where most words are unknown."""
    words = max(1, int(corpus.statistics("train")["words"]))
    wanted = max(_SMALLEST_SPELLING_BATCH, words // _SPELLING_BATCHES)
    batch_size = min(preset.batch_size, wanted)
    needed = math.ceil(_SPELLING_UPDATES / math.ceil(words / batch_size))
    return replace(preset, batch_size=batch_size, epochs=max(preset.epochs, needed))
