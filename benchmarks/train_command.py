"""Time `lrlm train` beside the bare model, to see what reading, logging and saving cost.

    python -m benchmarks.train_command [CORPUS] [--size mini] [--model lrlm] [--threads 2]

The command reads the corpus, makes batches while it trains, logs, clips gradients and writes
checkpoints. The bare model gets windows that were made beforehand, and does nothing but forward,
backward and Adam. Both are timed twice in turn, because other work on the machine comes and goes;
where there is any, the ratio of CPU time is steadier than that of wall time.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from lrlm.batching import Window, training_batches
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.miniworld.corpus import build_miniworld
from lrlm.models import LanguageModel
from lrlm.progress import silent
from lrlm.runs.config import RunConfig
from lrlm.runs.run import RunSetup, read_setup
from lrlm.runs.sizes import change, load_size
from lrlm.training.environment import Position
from lrlm.training.loop import Trainer
from lrlm.training.train import _read_documents, train
from lrlm.training.validation import Validation

LEAST_TOKENS = 60_000


class Speed(NamedTuple):
    """Tokens per second."""

    wall: float
    cpu: float


class Stopwatch:
    """Adds up wall and CPU time."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def time(self, action: Callable[[], object]) -> None:
        """Do something, and add its time."""
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu

    def speed(self, tokens: int) -> Speed:
        """Give the speed at which so many tokens were read."""
        return Speed(tokens / self.wall, tokens / self.cpu)


def bare(setup: RunSetup, batches: list[list[Window]]) -> Speed:
    """Train a fresh model on windows that are there already."""
    model = setup.new_model().train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    watch = Stopwatch()
    learn(model, optimiser, batches[0])  # the first time is slower
    for windows in batches:
        watch.time(lambda windows=windows: learn(model, optimiser, windows))  # type: ignore[misc]
    return watch.speed(sum(int(window.lengths_B.sum()) for each in batches for window in each))


def learn(model: LanguageModel, optimiser: torch.optim.Optimizer, windows: list[Window]) -> None:
    state = model.begin(windows[0])
    for window in windows:
        scores, state = model(window, state.select(window.kept_B))
        nats_B, _ = scores.nats(window)
        optimiser.zero_grad()
        torch.autograd.backward(nats_B.sum() / window.lengths_B.sum())
        optimiser.step()
        state = state.detach()


def collated(setup: RunSetup, corpus: Corpus, least: int) -> list[list[Window]]:
    """Make the windows of the first batches that the command will read."""
    documents, _ = _read_documents(corpus, setup, silent, lambda _message: None)
    config, collator = setup.config.training, setup.collator()
    found: list[list[Window]] = []
    tokens = 0
    for batch in training_batches(documents.lengths, config.batch_size, seed=config.seed, epoch=0):
        found.append(list(collator.windows([documents.documents[number] for number in batch])))
        tokens += sum(int(window.lengths_B.sum()) for window in found[-1])
        if tokens >= least:
            break
    return found


def through_the_command(corpus: Path, out: Path, config: RunConfig, cache: Path) -> Speed:
    """Time training; validation, which the bare model does not have, is not counted."""
    watch, validating = Stopwatch(), Stopwatch()
    run, validation = Trainer.run, Trainer._validation  # noqa: SLF001

    def timed_run(self: Trainer) -> Position:
        watch.time(lambda: run(self))
        return self.position

    def timed_validation(self: Trainer) -> Validation:
        found: list[Validation] = []
        validating.time(lambda: found.append(validation(self)))
        return found[0]

    Trainer.run, Trainer._validation = timed_run, timed_validation  # type: ignore[method-assign]  # noqa: SLF001
    try:
        trained = train(corpus, out, config=config, features_cache=cache)
    finally:
        Trainer.run, Trainer._validation = run, validation  # type: ignore[method-assign]  # noqa: SLF001
    watch.wall -= validating.wall
    watch.cpu -= validating.cpu
    return watch.speed(trained.position.tokens)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", nargs="?", type=Path, help="default: miniworld")
    parser.add_argument("--size", default="mini")
    parser.add_argument("--model", default="lrlm")
    parser.add_argument("--backbone", default="lstm")
    parser.add_argument("--minutes", type=float, default=1.5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--features-cache", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        corpus = options.corpus or build_miniworld(folder / "miniworld").folder
        cache = options.features_cache or folder / "features"
        config = change(
            load_size(options.size, options.backbone),
            (
                f"model.kind={options.model}",
                f"training.minutes={options.minutes}",
                "training.checkpoint_minutes=0.5",
            ),
        )
        command = through_the_command(corpus, folder / "run", config, cache)
        setup = read_setup(folder / "run")
        windows = collated(setup, Corpus.open(corpus), LEAST_TOKENS)
        first = bare(setup, windows)
        again = through_the_command(corpus, folder / "again", config, cache)
        second = bare(setup, windows)
    print(f"{options.model}, {options.backbone}, {options.size}; threads: {options.threads}")
    print(f"{'tokens per second':<20}{'wall':>10}{'CPU':>10}")
    for name, speed in (
        ("command", command),
        ("bare", first),
        ("command", again),
        ("bare", second),
    ):
        print(f"{name:<20}{speed.wall:>10,.0f}{speed.cpu:>10,.0f}")
    ratio = Speed(
        *((a + b) / (c + d) for a, b, c, d in zip(command, again, first, second, strict=True))
    )
    print(f"{'command / bare':<20}{ratio.wall:>10.3f}{ratio.cpu:>10.3f}")


if __name__ == "__main__":
    main()
