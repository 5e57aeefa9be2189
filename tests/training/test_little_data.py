"""Presets are fitted to small corpora, unless the caller chose; large ones keep them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.backbones import Pretrained
from lrlm.corpora import Corpus
from lrlm.corpora.corpus import FORMAT, VERSION
from lrlm.errors import InputError
from lrlm.runs.config import RunConfig
from lrlm.runs.sizes import change, load_size
from lrlm.training.little_data import enough_updates, fitted, updates_per_epoch
from lrlm.training.wanted import WantedRun


def corpus_of(documents: int, *, tokens: int = 100, words: int = 1000) -> Corpus:
    """A corpus of which only the statistics are known."""
    sums = dict.fromkeys(
        ("facts", "objects", "forms", "spans", "candidates", "covered_tokens", "gold_mentions"), 0
    )
    split = {
        "documents": documents,
        "tokens": tokens * documents,
        "words": words,
        "frequent_words": words // 2,
        **sums,
    }
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "options": {"profile": "raw", "letter_case": "exact", "stop_words": False},
        "splits": {"train": split, "valid": split},
    }
    return Corpus(Path("nowhere"), manifest)


def wanted(
    *settings: str,
    size: str | None = None,
    backbone: str | None = None,
    config: RunConfig | None = None,
    configure: Callable[[RunConfig], RunConfig] | None = None,
) -> WantedRun:
    chosen = configure or (lambda config: change(config, settings))
    return WantedRun(None, backbone, size, config, chosen, None)


@given(st.integers(0, 5000), st.integers(1, 4000), st.sampled_from(["mini", "cpu"]))
def test_there_are_always_enough_updates(documents: int, tokens: int, size: str) -> None:
    corpus, preset = corpus_of(documents, tokens=tokens), load_size(size, "lstm")
    training = fitted(preset, corpus).training
    assert training.epochs * updates_per_epoch(training, corpus) >= enough_updates(preset)
    assert 1 <= training.batch_size <= preset.training.batch_size
    assert training.epochs >= preset.training.epochs


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize("documents", [1300, 30_000])
def test_a_corpus_that_the_preset_is_made_for_keeps_it(documents: int, backbone: str) -> None:
    preset = load_size("mini", backbone)
    assert wanted(backbone=backbone).new(corpus_of(documents)) == preset


def test_a_dozen_articles_are_read_often_in_small_batches() -> None:
    training = wanted().new(corpus_of(12)).training
    assert (training.batch_size, training.epochs) == (2, 50)


def test_a_spelling_model_has_more_updates_too() -> None:
    spelling = wanted().new(corpus_of(12, words=300)).features.spelling
    assert (spelling.batch_size, spelling.epochs) == (16, 79)


def test_what_is_set_stays_and_epochs_follow_the_batch() -> None:
    corpus = corpus_of(12)
    both = wanted("training.epochs=4", "training.batch_size=16").new(corpus).training
    assert (both.epochs, both.batch_size) == (4, 16)
    batch = wanted("training.batch_size=16").new(corpus).training
    assert (batch.epochs, batch.batch_size) == (300, 16)
    epochs = wanted("training.epochs=4").new(corpus).training
    assert (epochs.epochs, epochs.batch_size) == (4, 2)
    spelling = wanted("features.spelling.epochs=3").new(corpus).features.spelling
    assert (spelling.epochs, spelling.batch_size) == (3, 128)


def test_the_published_size_and_own_configurations_stay() -> None:
    corpus = corpus_of(12)
    assert wanted(size="paper").new(corpus) == load_size("paper", "lstm")
    mini = load_size("mini", "lstm")
    assert wanted(config=mini).new(corpus) == mini


def test_a_language_model_that_is_tuned_needs_fewer_updates() -> None:
    tuned = wanted("model.backbone.tuning=lora", backbone="pretrained").new(corpus_of(12))
    frozen = wanted(backbone="pretrained").new(corpus_of(12))
    assert isinstance(tuned.model.backbone, Pretrained)
    assert (tuned.training.epochs, frozen.training.epochs) == (17, 50)


def test_a_wish_that_cannot_be_is_refused() -> None:
    def nothing(config: RunConfig) -> RunConfig:
        return replace(config, training=replace(config.training, epochs=0))

    with pytest.raises(InputError, match=r"training\.epochs must be at least 1"):
        wanted(configure=nothing).new(corpus_of(12))
