"""Make the features of a corpus, or find them where they were kept when they were made before.

Each kind of feature is a folder in the cache, named by a fingerprint: the SHA-256 of all that it
is made from, which is the content of the files that are read, the settings and the version of the
maker. Whatever changes, something else is looked for; what is there is never wrong.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch

from lrlm.artifacts import fingerprint
from lrlm.corpora.corpus import WORDS, Corpus
from lrlm.errors import FormatError, InputError
from lrlm.features import character_model, fasttext, transe
from lrlm.features.config import (
    BACKBONE,
    HASHED,
    TRAIN,
    FeatureConfig,
    FormVectorConfig,
    RelationVectorConfig,
    SpellingConfig,
)
from lrlm.features.features import Features
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.features.openke import openke_files
from lrlm.features.relation_vectors import RelationTable
from lrlm.features.spelling import SpellingModel
from lrlm.features.workers import Job, make_all
from lrlm.progress import Progress, silent

T = TypeVar("T")

MAKER = 1
"""Raised when the same inputs would give other features than before."""

_WORTH_SHARING = 256
"""Width of a spelling model's state from which on several threads are faster than one."""


def make_features(
    corpus: Corpus,
    config: FeatureConfig,
    cache_folder: Path | str,
    *,
    relations: bool = True,
    spelling: bool = True,
    progress: Progress = silent,
) -> Features:
    """Find the features of a corpus in the cache, and make those that are not there.

    Several are made at a time, in processes of their own, on as many cores as PyTorch may use.
    Without `relations` there are no vectors of types and objects: a model that makes them from
    names needs none. Without `spelling` there is no spelling model: a model without unknown words
    needs none.
    """
    if "train" not in corpus.splits:
        raise InputError(f"{corpus.folder} has no training split, so it has nothing to learn from")
    cache_folder = Path(cache_folder)
    cache_folder.mkdir(parents=True, exist_ok=True)
    table = _relations(corpus, config.relations, cache_folder) if relations else None
    forms = None
    if config.forms.source != BACKBONE:
        forms = _forms(corpus, config.forms, cache_folder)
    speller = _spelling(corpus, config.spelling, cache_folder) if spelling else None
    # What mostly takes longest begins first.
    jobs = [job for job in (speller, forms, table) if job and not Path(job.folder).exists()]
    if jobs:
        make_all(jobs, workers=torch.get_num_threads(), progress=progress)
    relation_table, featuriser, spelling_model = (
        RelationTable.empty(config.relations.width),
        None,
        None,
    )
    if table is not None:
        progress("reading relation vectors", 1, 1)
        relation_table = _opened(RelationTable.open, table)
    if forms is not None:
        progress("reading form vectors", 1, 1)
        featuriser = _opened(SubwordFeaturiser.open, forms)
    if speller is not None:
        progress("reading the spelling model", 1, 1)
        spelling_model = _opened(SpellingModel.open, speller)
    return Features(relation_table, featuriser, spelling_model)


def _opened(read: Callable[[Path], T], job: Job) -> T:
    """Open what is in the cache; where it is damaged, say how to have it made again."""
    try:
        return read(Path(job.folder))
    except FormatError as error:
        raise FormatError(f"{error}; remove {job.folder}, and it is made again") from None


def _relations(corpus: Corpus, config: RelationVectorConfig, cache_folder: Path) -> Job:
    files = [corpus.path(split) for split in corpus.splits]
    if config.source != TRAIN:
        files += openke_files(Path(config.source))
    return _job("relation", corpus, config, files, cache_folder, doing=transe.DOING)


def _forms(corpus: Corpus, config: FormVectorConfig, cache_folder: Path) -> Job:
    files = {
        HASHED: [],
        TRAIN: [corpus.path("train")],
    }.get(config.source)
    if files is None:
        files = [corpus.path(split) for split in corpus.splits] + [Path(config.source)]
        if not files[-1].is_file():
            raise InputError(f"{files[-1]}: there is no such file (features.forms.source)")
    return _job("form", corpus, config, files, cache_folder, doing=fasttext.DOING)


def _spelling(corpus: Corpus, config: SpellingConfig, cache_folder: Path) -> Job:
    threads = 1 if config.hidden_size < _WORTH_SHARING else torch.get_num_threads()
    files, doing = [corpus.folder / WORDS], character_model.DOING
    return _job("spelling", corpus, config, files, cache_folder, doing=doing, threads=threads)


def _job(
    kind: str,
    corpus: Corpus,
    config: RelationVectorConfig | FormVectorConfig | SpellingConfig,
    files: Sequence[Path],
    cache_folder: Path,
    *,
    doing: str,
    threads: int = 1,
) -> Job:
    """Say what is to be made and from what; the folder is named by it."""
    settings = asdict(config)
    if settings.get("source") not in (None, TRAIN, HASHED):
        settings["source"] = "files"  # wherever they lie: their content is what counts
    made_from = {
        "maker": MAKER,
        "config": settings,
        "files": [fingerprint(path) for path in files],
    }
    return Job(
        kind,
        doing,
        corpus=str(corpus.folder),
        config=asdict(config),
        folder=str(cache_folder / f"{kind}-{_digest(made_from)[:16]}"),
        made_from=made_from,
        threads=threads,
    )


def _digest(made_from: dict[str, Any]) -> str:
    """Give the SHA-256 of what something is made from."""
    text = json.dumps(made_from, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
