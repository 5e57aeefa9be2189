"""Time how features are made and used: run `python -m benchmarks.features CORPUS`.

Rates are per CPU second, not per second of the clock, so other work on the machine does not count.
Set `OMP_NUM_THREADS=1` where there is other work: threads that wait for each other use CPU time.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from lrlm.arrays import Integers
from lrlm.corpora.corpus import Corpus
from lrlm.features import (
    FeatureConfig,
    FormVectorConfig,
    RelationVectorConfig,
    SpellingConfig,
    SpellingModel,
    TripleTable,
)
from lrlm.features.character_model import (
    Alphabet,
    CharacterModel,
    FrozenCharacters,
    train_characters,
)
from lrlm.features.fasttext import train_fasttext
from lrlm.features.form_vectors import hashed_featuriser
from lrlm.features.transe import train_transe
from lrlm.text.vocabulary import END, UNKNOWN
from tests.oracles.link_prediction import mean_reciprocal_rank, rank

HELD_OUT = 500
"""Triples that link prediction is measured on."""


def cpu_seconds(action: Callable[[], object], *, runs: int = 1) -> float:
    """Give the CPU time of the cheapest run."""
    fastest = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        action()
        fastest = min(fastest, time.process_time() - begin)
    return fastest


def report(what: str, count: int, unit: str, seconds: float) -> None:
    print(f"{what:<44}{count:>12,} {unit:<8}{seconds:>9.2f} s{count / seconds:>12,.0f} a second")


def hold_out(graph: TripleTable, count: int) -> tuple[TripleTable, Integers]:
    """Take triples out whose nodes are still known from others."""
    uses = np.bincount(graph.triples_N3[:, [0, 2]].ravel(), minlength=len(graph.nodes))
    taken: list[int] = []
    for place in np.random.default_rng(0).permutation(len(graph.triples_N3)).tolist():
        head, _, tail = graph.triples_N3[place]
        if uses[head] > 1 and uses[tail] > 1 and len(taken) < count:
            uses[head] -= 1
            uses[tail] -= 1
            taken.append(place)
    rest = np.delete(graph.triples_N3, taken, axis=0)
    return replace(graph, triples_N3=rest), graph.triples_N3[taken]


def time_transe(corpus: Corpus, config: RelationVectorConfig) -> None:
    whole = TripleTable.of(corpus)
    report(
        "reading the graph",
        len(whole.triples_N3),
        "triples",
        cpu_seconds(lambda: TripleTable.of(corpus)),
    )
    graph, held_B3 = hold_out(whole, HELD_OUT)
    begin = time.process_time()
    learned = train_transe(graph, config)
    seconds = time.process_time() - begin
    seen = len(graph.triples_N3) * config.epochs
    report(f"TransE, width {config.width}, {config.epochs} epochs", seen, "triples", seconds)
    tails, heads = (
        mean_reciprocal_rank(
            [
                rank(
                    learned.nodes_MD.double().numpy(),
                    learned.types_TD.double().numpy(),
                    (head, kind, tail),
                    whole.triples_N3,
                    side=side,
                    norm=config.norm,
                )
                for head, kind, tail in held_B3.tolist()
            ]
        )
        for side in ("tail", "head")
    )
    print(
        f"    mean reciprocal rank of {len(held_B3)} held-out triples among"
        f" {len(graph.nodes):,} nodes: tails {tails:.3f}, heads {heads:.3f}"
    )


def time_forms(corpus: Corpus, config: FormVectorConfig) -> None:
    forms = list(
        dict.fromkeys(
            form
            for document in corpus.documents("train")
            for relation in document.relations
            for form in relation.forms
        )
    )
    hashed = hashed_featuriser(replace(config, source="hashed"))
    report(f"form vectors, width {config.width}, new", len(forms), "forms",
           cpu_seconds(lambda: hashed.vectors(forms)))  # fmt: skip
    report("form vectors, in the cache", len(forms), "forms",
           cpu_seconds(lambda: hashed.vectors(forms), runs=3))  # fmt: skip
    texts = [document.tokens.words for document in corpus.documents("train")]
    words = sum(map(len, texts)) * config.epochs
    report(f"fastText, {config.epochs} epochs", words, "words",
           cpu_seconds(lambda: train_fasttext(lambda: texts, config)))  # fmt: skip


def time_spelling(corpus: Corpus, config: SpellingConfig) -> None:
    words = [word for word in corpus.words.words if word not in (UNKNOWN, END)]
    for hidden_size in (96, 128, 256):
        alphabet = Alphabet.of(words, min_count=config.min_count)
        model = CharacterModel(len(alphabet), embedding_size=32, hidden_size=hidden_size)
        characters = FrozenCharacters.of(model)

        def score(alphabet: Alphabet = alphabet, characters: FrozenCharacters = characters) -> None:
            SpellingModel(alphabet, characters).log_probs(words)

        what = f"spelling scores, state {hidden_size}, {len(alphabet)} symbols"
        report(what, len(words), "words", cpu_seconds(score, runs=3))
    begin = time.process_time()
    trained = train_characters(words, config)
    seconds = time.process_time() - begin
    report(f"spelling model, state {config.hidden_size}, {config.epochs} epochs",
           len(words) * config.epochs, "words", seconds)  # fmt: skip
    print(
        f"    held-out types: {trained.held_out_nats:.3f} nats,"
        f" {trained.held_out_nats / trained.held_out_symbols:.4f} a symbol"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    corpus = Corpus.open(parser.parse_args().corpus)
    config = FeatureConfig()
    print(f"{torch.get_num_threads()} threads; CPU seconds")
    time_spelling(corpus, config.spelling)
    time_forms(corpus, config.forms)
    time_transe(corpus, config.relations)


if __name__ == "__main__":
    main()
