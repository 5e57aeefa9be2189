"""A corpus and a config in, features out: what is missing is made, what was made is found again.

Each kind of feature is a folder in the cache, named by a fingerprint: the SHA-256 of all that it
is made from, which is the content of the files that are read, the config and the version of the
maker. Whatever changes, something else is looked for; what is there is never wrong.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import torch

from lrlm.artifacts import fingerprint
from lrlm.corpora.corpus import WORDS, Corpus
from lrlm.errors import InputError
from lrlm.features.character_model import train_characters
from lrlm.features.config import (
    HASHED,
    TRAIN,
    FeatureConfig,
    FormConfig,
    RelationConfig,
    SpellingConfig,
)
from lrlm.features.fasttext import read_fasttext, train_fasttext
from lrlm.features.features import Features
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.features.frozen_characters import FrozenCharacters
from lrlm.features.graph import Graph
from lrlm.features.hashed import hashed_featuriser
from lrlm.features.openke import openke_files, read_openke
from lrlm.features.relation_vectors import RelationTable
from lrlm.features.spelling import SpellingModel
from lrlm.features.transe import train_transe
from lrlm.text.vocabulary import END, UNKNOWN

try:
    import fcntl
except ImportError:  # a system without POSIX locks: two makers at once do the work twice
    fcntl = None  # type: ignore[assignment]

MAKER = 1
"""Raised when the same inputs would give other features than before."""

Progress = Callable[[str, int, int], None]
"""Told what is being made, how much of it is done, and how much there is to do."""

MadeFrom = dict[str, Any]


class Kept(Protocol):
    """Something that can be written to a folder and read back."""

    def save(self, folder: Path, **made_from: Any) -> None:
        """Write it to a new folder."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read it back."""


KeptT = TypeVar("KeptT", bound=Kept)


def make_features(
    corpus: Corpus,
    config: FeatureConfig,
    cache_folder: Path,
    progress: Progress = lambda _doing, _done, _total: None,
) -> Features:
    """Find the features of a corpus in the cache, and make those that are not there."""
    if "train" not in corpus.splits:
        raise InputError(f"{corpus.folder} has no training split, so it has nothing to learn from")
    cache_folder.mkdir(parents=True, exist_ok=True)
    cache = _Cache(cache_folder, progress)
    return Features(
        _relations(corpus, config.relations, cache),
        _forms(corpus, config.forms, cache),
        _spelling(corpus, config.spelling, cache),
    )


class _Cache:
    """Folders named by what their content was made from."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress

    def find_or_make(
        self,
        kind: type[KeptT],
        name: str,
        made_from: MadeFrom,
        make: Callable[[Callable[[int, int], None]], tuple[KeptT, MadeFrom]],
    ) -> KeptT:
        """Load `name` if it was made from the same before; make and keep it otherwise."""
        folder = self._folder / f"{name}-{digest(made_from)[:16]}"
        doing = f"{name} vectors" if name != "spelling" else "spelling model"
        if not folder.exists():
            with _one_at_a_time(self._folder / f".{folder.name}.making"):
                if not folder.exists():  # another process may have made it while we waited
                    made, figures = make(
                        lambda done, total: self._progress(f"making {doing}", done, total)
                    )
                    made.save(folder, made_from=made_from, **figures)
        self._progress(f"reading {doing}", 1, 1)
        return kind.load(folder)


def digest(made_from: MadeFrom) -> str:
    """Give the SHA-256 of what something is made from."""
    text = json.dumps(made_from, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Wait until no other process is making the same."""
    if fcntl is None:
        yield
        return
    # The file stays: removing it could let two processes hold locks on two files of that name.
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _made_from(
    files: Sequence[Path], config: RelationConfig | FormConfig | SpellingConfig
) -> MadeFrom:
    settings = asdict(config)
    if settings.get("source") not in (None, TRAIN, HASHED):
        settings["source"] = "files"  # wherever they lie: their content is what counts
    return {
        "maker": MAKER,
        "config": settings,
        "files": [fingerprint(path) for path in files],
    }


def _relations(corpus: Corpus, config: RelationConfig, cache: _Cache) -> RelationTable:
    files = [corpus.path(split) for split in corpus.splits]
    if config.source != TRAIN:
        files += openke_files(Path(config.source))

    def make(progress: Callable[[int, int], None]) -> tuple[RelationTable, MadeFrom]:
        progress(0, config.epochs)
        graph = Graph.of(corpus)
        figures: MadeFrom = {"triples": len(graph.triples_N3)}
        if config.source == TRAIN:
            learned = train_transe(graph, config, progress=progress)
            types = dict(zip(graph.types, learned.types_TD, strict=True))
            objects = dict(zip(graph.nodes, learned.nodes_MD, strict=True))
            figures["margin_loss"] = round(learned.loss, 6)
        else:
            found = read_openke(
                Path(config.source),
                nodes=frozenset(graph.nodes),
                types=frozenset(graph.types),
                width=config.width,
            )
            objects, types = (
                {name: torch.from_numpy(vector) for name, vector in vectors.items()}
                for vectors in found
            )
            if not objects and not types:
                raise InputError(
                    f"{config.source} has a vector for no object and no type of"
                    f" {corpus.folder}: are their ids of the same knowledge base?"
                )
        return RelationTable.of(graph, types, objects, config.width), figures

    return cache.find_or_make(RelationTable, "relation", _made_from(files, config), make)


def _forms(corpus: Corpus, config: FormConfig, cache: _Cache) -> SubwordFeaturiser:
    files = {
        HASHED: [],
        TRAIN: [corpus.path("train")],
    }.get(config.source)
    if files is None:
        files = [corpus.path(split) for split in corpus.splits] + [Path(config.source)]
        if not files[-1].is_file():
            raise InputError(f"{files[-1]}: there is no such file (features.forms.source)")

    def make(progress: Callable[[int, int], None]) -> tuple[SubwordFeaturiser, MadeFrom]:
        if config.source == HASHED:
            return hashed_featuriser(config), {}
        if config.source == TRAIN:
            return train_fasttext(lambda: _texts(corpus), config, progress=progress), {}
        progress(0, 1)
        return read_fasttext(Path(config.source), config, _words_of_forms(corpus)), {}

    return cache.find_or_make(SubwordFeaturiser, "form", _made_from(files, config), make)


def _spelling(corpus: Corpus, config: SpellingConfig, cache: _Cache) -> SpellingModel:
    def make(progress: Callable[[int, int], None]) -> tuple[SpellingModel, MadeFrom]:
        words = [word for word in corpus.words.words if word not in (UNKNOWN, END)]
        trained = train_characters(words, config, progress=progress)
        figures = {
            "types": len(words),
            "held_out_nats": round(trained.held_out_nats, 4),
            "held_out_symbols": round(trained.held_out_symbols, 4),
        }
        return SpellingModel(trained.alphabet, FrozenCharacters.of(trained.model)), figures

    made_from = _made_from([corpus.folder / WORDS], config)
    return cache.find_or_make(SpellingModel, "spelling", made_from, make)


def _texts(corpus: Corpus) -> Iterator[list[str]]:
    """Read the words of the training texts, and nothing else of them."""
    for batch in corpus.batches("train", ["words"]):
        yield from batch.column("words").to_pylist()


def _words_of_forms(corpus: Corpus) -> set[str]:
    """Collect the words of all forms of all splits, and those of the training texts."""
    words = set(corpus.words.words)
    for split in corpus.splits:
        column = "relations.list.element.forms.list.element.list.element"
        for batch in corpus.batches(split, [column]):
            forms = batch.column("relations").flatten().flatten()[0]
            words.update(forms.flatten().flatten().unique().to_pylist())
    return words
