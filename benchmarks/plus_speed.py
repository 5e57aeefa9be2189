"""Compare the speed of training of several runs on the texts of their corpus, by CPU time.

    python -m benchmarks.plus_speed CORPUS RUN RUN … [--tokens 30000] [--repeats 3]

For each run a fresh model with its settings learns from the same first batches, as in training, in
turn with the others, so that what else the machine does slows all of them alike. Making the
windows is counted, though training does it in a thread of its own. Speeds are told beside that of
the first run.
"""

import argparse
import statistics
from pathlib import Path

import torch

from benchmarks.train_command import Stopwatch
from lrlm.batching import training_batches
from lrlm.corpora import Corpus
from lrlm.models import LanguageModel
from lrlm.progress import silent
from lrlm.runs.devices import Precision
from lrlm.runs.run import RunSetup, read_setup
from lrlm.training.optimiser import GradientAccumulator, Optimiser
from lrlm.training.train import _read_documents


class Learner:
    """A fresh model with the settings of a run, and the texts that it learns from."""

    def __init__(self, folder: Path, corpus: Corpus, tokens: int) -> None:
        self.name = str(folder)
        self.setup: RunSetup = read_setup(folder)
        self.model: LanguageModel = self.setup.first_model().train()
        config, device = self.setup.config.training, torch.device("cpu")
        self.optimiser = Optimiser(
            self.model, method=config.optimiser, with_adam=self.model.learned_with_adam
        )
        precision = Precision(config.precision, device, self.model)
        self.gradients = GradientAccumulator(self.model, precision, device)
        documents, _ = _read_documents(corpus, self.setup, silent, lambda _message: None)
        batches = training_batches(documents.lengths, config.batch_size, seed=config.seed, epoch=0)
        self.batches, self.tokens = [], 0
        for batch in batches:
            self.batches.append([documents.documents[number] for number in batch])
            self.tokens += sum(documents.lengths[number] for number in batch)
            if self.tokens >= tokens:
                break

    def learn(self) -> None:
        """Learn once from all batches."""
        collator = self.setup.collator()
        for batch in self.batches:
            windows = list(collator.windows(batch))
            self.gradients.begin([windows])
            for number in range(len(windows)):
                self.optimiser.clear()
                self.gradients.add(number, self.tokens / len(self.batches))
                self.optimiser.step(1e-4)
        self.gradients.end()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--tokens", type=int, default=30_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    corpus = Corpus.open(options.corpus)
    learners = [Learner(run, corpus, options.tokens) for run in options.runs]
    seconds: dict[str, list[float]] = {learner.name: [] for learner in learners}
    for number in range(options.repeats + 1):
        for learner in learners:
            watch = Stopwatch()
            watch.time(learner.learn)
            if number:  # the first time is slower
                seconds[learner.name].append(watch.cpu)
    first = statistics.median(seconds[learners[0].name]) / learners[0].tokens
    for learner in learners:
        own = statistics.median(seconds[learner.name]) / learner.tokens
        print(f"{learner.name:24} {1 / own:8,.0f} tokens per CPU second   {first / own:5.2f}")


if __name__ == "__main__":
    main()
