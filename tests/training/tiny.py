"""A corpus of a few articles and settings so small that a run takes a second."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lrlm.corpora.build import build_from
from lrlm.runs.config import RunConfig
from lrlm.runs.sizes import change
from lrlm.training import little_data
from tests.corpora import small_world


def configured(*settings: str) -> Callable[[RunConfig], RunConfig]:
    """Change settings of a configuration, each given as `key=value`."""
    return lambda config: change(config, settings)


SETTINGS = (
    "vocabulary.min_count=2",
    "features.relations.width=6",
    "features.relations.epochs=2",
    "features.forms.width=8",
    "features.forms.buckets=64",
    "features.spelling.hidden_size=8",
    "features.spelling.embedding_size=4",
    "features.spelling.epochs=1",
    "model.backbone.hidden_size=10",
    "model.words.embedding_size=6",
    "model.words.projection_size=6",
    "model.relations.type_size=6",
    "model.relations.object_size=6",
    "model.relations.hidden_size=8",
    "training.epochs=3",
    "training.schedule=plateau",
    "training.learning_rate=0.003",
    "training.batch_size=8",
    "training.window=12",
    "training.log_updates=2",
)


def write_corpus(
    folder: Path, *, splits: tuple[str, ...] = ("train", "valid"), train: int = 20
) -> Path:
    """Write and link articles about towns on rivers; some are much longer than others."""
    rivers = ["Rhine", "Danube", "Elbe", "Oder"]
    triples, forms, articles = [], [], {}
    for number in range(train + 6):
        town, river = f"Town{number}", rivers[number % 4]
        triples += [f"{town}\triver\t{river}", f"{town}\tfounded\t{1200 + number}\tliteral"]
        forms.append(f"{town}\tTown {number}")
        sentence = f"Town {number} lies on the {river} River . It was founded in {1200 + number} ."
        text = " ".join([sentence] + [f"The {river} is long ."] * (number % 7))
        articles[town] = json.dumps({"id": town, "text": text})
    forms += [f"{river}\t{river} River" for river in rivers]
    forms += [f"{river}\t{river}" for river in rivers]
    listed = list(articles.values())
    parts = {
        "train": listed[:train],
        "valid": listed[train : train + 4],
        "test": listed[train + 4 :],
    }
    inputs = small_world.write(
        folder / "inputs",
        triples=triples,
        forms=forms,
        **{split: parts[split] for split in splits},
    )
    return build_from(folder / "corpus", inputs).folder


def train_briefly(changed: pytest.MonkeyPatch) -> None:
    """Let small corpora be trained on just long enough to see that everything runs."""
    changed.setattr(little_data, "_ENOUGH", 20)
    changed.setattr(little_data, "_SPELLING_UPDATES", 50)


def arguments(corpus: Path, out: Path, *more: str, changes: Sequence[str] = SETTINGS) -> list[str]:
    """Give the command line that trains on the corpus; features are kept beside it."""
    settings = [part for setting in changes for part in ("--set", setting)]
    cache = ["--features-cache", str(corpus.parent / "features")]
    return ["train", str(corpus), "--out", str(out), *settings, *cache, *more]


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "lrlm", *arguments(corpus, out, *more)]
