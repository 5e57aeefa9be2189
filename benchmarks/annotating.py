"""How fast a trained LRLM annotates, beside how fast it is evaluated on the same documents.

    python -m benchmarks.annotating RUN --corpus DIR [--split test] [--repeats 5]

Both read every document once and spell its unknown words; evaluation then sums over segmentations
for each way to count spelling, annotation explains every candidate span and finds the best path.
The figure is a ratio within one run, of CPU time on one core: absolute times depend on the machine.
"""

import argparse
import time
from dataclasses import replace

import torch
from lrlm.training.data import SpelledWords

from lrlm.annotation.annotate import annotate
from lrlm.corpora import LinkedDocument
from lrlm.evaluation.comparable_runs import corpus_for
from lrlm.evaluation.document_scores import score
from lrlm.runs.run import Run

GOAL = 0.8


def evaluate_all(run: Run, documents: list[LinkedDocument]) -> None:
    words = {word for document in documents for word in document.tokens.words}
    unknown = {word for word in words if word not in run.vocabulary}
    encoder = replace(run.encoder, speller=SpelledWords(run.speller, unknown))
    score(
        run.model,
        encoder,
        run.collator,
        documents,
        unknown_words=len(unknown),
        batch_size=run.config.training.validation_batch_size,
    )


def annotate_all(run: Run, documents: list[LinkedDocument]) -> int:
    return sum(len(annotation.spans) for annotation in annotate(run, documents))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--corpus")
    parser.add_argument("--split", default="test")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    run = Run.open(arguments.run)
    documents = list(corpus_for([run], arguments.corpus).documents(arguments.split))
    tokens = sum(len(document.tokens) for document in documents)

    best = {"evaluation": float("inf"), "annotation": float("inf")}
    spans = 0
    for _ in range(arguments.repeats):  # in turn, so that a noisy moment hits both
        begin = time.process_time()
        evaluate_all(run, documents)
        middle = time.process_time()
        spans = annotate_all(run, documents)
        end = time.process_time()
        best["evaluation"] = min(best["evaluation"], middle - begin)
        best["annotation"] = min(best["annotation"], end - middle)

    print(f"{len(documents):,} documents, {tokens:,} tokens, {spans:,} candidate spans")
    for name, seconds in best.items():
        print(f"{name:12}{tokens / seconds:>12,.0f} tokens per CPU second")
    ratio = best["evaluation"] / best["annotation"]
    print(f"annotation / evaluation {ratio:.2f} (goal {GOAL})")


if __name__ == "__main__":
    main()
