"""Make one kind of feature from a corpus and write it to a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.features import character_model, fasttext, transe
from lrlm.features.config import (
    HASHED,
    TRAIN,
    FormVectorConfig,
    RelationVectorConfig,
    SpellingConfig,
)
from lrlm.features.form_vectors import SubwordFeaturiser, hashed_featuriser
from lrlm.features.openke import read_openke
from lrlm.features.relation_vectors import RelationTable, TripleTable
from lrlm.features.spelling import SpellingModel
from lrlm.features.workers import Job
from lrlm.progress import Progress
from lrlm.text.vocabulary import END, UNKNOWN

Figures = dict[str, Any]
"""What is worth knowing about how a feature was made; it is kept in its manifest."""


def make(job: Job, progress: Progress) -> None:
    """Do a job: make a feature with as many threads as it says, and write it to its folder."""
    torch.set_num_threads(job.threads)
    made, figures = _MAKERS[job.kind](Corpus.open(job.corpus), job.config, progress)
    made.save(Path(job.folder), made_from=job.made_from, **figures)


def _relations(
    corpus: Corpus, settings: dict[str, Any], progress: Progress
) -> tuple[RelationTable, Figures]:
    config = RelationVectorConfig(**settings)
    triples = TripleTable.of(corpus)
    figures: Figures = {"triples": len(triples.triples_N3)}
    if config.source == TRAIN:
        learned = transe.train_transe(triples, config, progress=progress)
        types = dict(zip(triples.types, learned.types_TD, strict=True))
        objects = dict(zip(triples.nodes, learned.nodes_MD, strict=True))
        figures["margin_loss"] = round(learned.loss, 6)
    else:
        found = read_openke(
            Path(config.source),
            nodes=frozenset(triples.nodes),
            types=frozenset(triples.types),
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
    return RelationTable.of(triples, types, objects, config.width), figures


def _forms(
    corpus: Corpus, settings: dict[str, Any], progress: Progress
) -> tuple[SubwordFeaturiser, Figures]:
    config = FormVectorConfig(**settings)
    if config.source == HASHED:
        return hashed_featuriser(config), {}
    if config.source == TRAIN:
        return fasttext.train_fasttext(lambda: _texts(corpus), config, progress=progress), {}
    return fasttext.read_fasttext(Path(config.source), config, _words_of_forms(corpus)), {}


def _spelling(
    corpus: Corpus, settings: dict[str, Any], progress: Progress
) -> tuple[SpellingModel, Figures]:
    words = [word for word in corpus.words.words if word not in (UNKNOWN, END)]
    trained = character_model.train_characters(words, SpellingConfig(**settings), progress=progress)
    figures = {
        "types": len(words),
        "held_out_nats": round(trained.held_out_nats, 4),
        "held_out_symbols": round(trained.held_out_symbols, 4),
    }
    characters = character_model.FrozenCharacters.of(trained.model)
    return SpellingModel(trained.alphabet, characters), figures


_MAKERS: dict[str, Callable[[Corpus, dict[str, Any], Progress], tuple[Any, Figures]]] = {
    "relation": _relations,
    "form": _forms,
    "spelling": _spelling,
}


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
