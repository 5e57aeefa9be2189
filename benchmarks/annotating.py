"""Time how fast a trained LRLM annotates documents, beside how fast it is evaluated on them.

    python -m benchmarks.annotating RUN --corpus DIR [--split test] [--repeats 5]

Both read every document once and spell its unknown words. Evaluation then sums over segmentations
once for each way to count spelling; annotation explains every candidate span and finds the best
path. Compare the ratio of the two, which is of CPU time on one core: absolute times depend on the
machine.
"""

import argparse
import time
from dataclasses import replace

import torch

from lrlm.annotation.annotate import annotate
from lrlm.corpora import LinkedDocument
from lrlm.evaluation.document_scores import score_documents
from lrlm.evaluation.side_by_side import corpus_for
from lrlm.runs.run import Run

GOAL = 0.85


def evaluate_all(run: Run, documents: list[LinkedDocument]) -> None:
    """Score all documents, their unknown words spelled in one go."""
    words = {word for document in documents for word in document.tokens.words}
    score_documents(
        run.model,
        replace(run.encoder, space=run.space.prepared_for(words)),
        run.collator,
        documents,
        unknown_words=len(run.space.words_to_spell(words)),
        batch_size=run.config.training.validation_batch_size,
    )


def annotate_all(run: Run, documents: list[LinkedDocument]) -> int:
    """Annotate all documents; give the number of candidate spans."""
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
