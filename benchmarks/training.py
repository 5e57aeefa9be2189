"""Time training steps of all models, and find where the time of a step goes.

    python -m benchmarks.training [--threads 2] [--repeats 5]

Compare the ratios within one run: absolute times depend on the machine and on other work on it.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

from benchmarks.synthetic import RandomFeatures, Shape, documents, zipf_counts
from lrlm.backbones import LstmConfig
from lrlm.batching import Collator, Parts, Window
from lrlm.heads import RelationConfig, WordConfig, WordHead, choose_cutoffs, measure_softmax_cost
from lrlm.lattice import Lattice, log_marginal
from lrlm.models import MODELS, LanguageModel, ModelConfig, ModelSizes, build_model

SHAPE = Shape()
ROWS = 30
SIZE = 400
WORDS = WordConfig(embedding_size=SIZE, projection_size=SIZE)
CONFIG = ModelConfig(
    backbone=LstmConfig(layers=2, hidden_size=SIZE, dropout=0.5),
    words=WORDS,
    relations=RelationConfig(type_size=100, object_size=100, hidden_size=SIZE),
)
COUNTS = zipf_counts(SHAPE.words)


@dataclass
class Step:
    """A whole training step of one model on one window."""

    model: LanguageModel
    window: Window

    def __post_init__(self) -> None:
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)

    def __call__(self) -> None:
        """Do one step."""
        scores, _ = self.model(self.window, self.model.begin(self.window))
        nats_B, _ = scores.nats(self.window)
        self.optimiser.zero_grad()
        torch.autograd.backward(nats_B.sum() / self.window.lengths_B.sum())
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()


def make_window(edge_factor: int = 1) -> Window:
    parts = Parts.RELATIONS | Parts.EDGES | Parts.COPIES | Parts.ALIASES | Parts.NAMED
    collator = Collator(0, RandomFeatures(), size=SHAPE.tokens + 1, parts=parts)
    (window,) = collator.windows(documents(SHAPE, ROWS, edge_factor=edge_factor))
    return window


def make_model(kind: str, cutoffs: tuple[int, ...], *, plus: bool = False) -> LanguageModel:
    torch.manual_seed(0)
    relations = replace(CONFIG.relations, named=plus, told=plus)
    config = replace(CONFIG, kind=kind, words=replace(WORDS, cutoffs=cutoffs), relations=relations)
    return build_model(
        config,
        ModelSizes(
            tokens=SHAPE.words,
            types=SHAPE.relations,
            form_features=RandomFeatures.width,
            token_counts=COUNTS,
            object_vectors=torch.randn(SHAPE.relations, 100),
        ),
    ).train()


def race(steps: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Time all in turn, again and again, so that a noisy moment hits all; give the best times."""
    best = dict.fromkeys(steps, float("inf"))
    for step in steps.values():
        step()
    for _ in range(repeats):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def lattice_step(model: LanguageModel, window: Window) -> Callable[[], None]:
    """Make a step of the lattice alone, on the scores that the model gives it."""
    scores, _ = model(window, model.begin(window))
    edges = window.edges
    assert edges is not None
    assert scores.score_E is not None
    words_BT = scores.words_BT(window.spelling_BT).detach().requires_grad_()
    score_E = scores.score_E.detach().requires_grad_()

    def step() -> None:
        lattice = Lattice(
            words_BT, window.lengths_B, edges.row_E, edges.start_E, edges.end_E, score_E,
            checked=False,
        )  # fmt: skip
        torch.autograd.backward(log_marginal(lattice).sum())

    return step


def softmax_step(cutoffs: tuple[int, ...], targets_X: torch.Tensor) -> Callable[[], None]:
    """Make a step of the word head alone."""
    head = WordHead(replace(WORDS, cutoffs=cutoffs), SIZE, SHAPE.words)
    states_XD = torch.randn(len(targets_X), SIZE, requires_grad=True)
    return lambda: torch.autograd.backward(head.log_probs(states_XD, targets_X).sum())


def products(cutoffs: tuple[int, ...], targets_X: torch.Tensor) -> float:
    """Count the multiply-adds of one pass of the vanilla model's matrix products."""
    tokens = len(targets_X)
    lstm = 2 * 4 * SIZE * (SIZE + SIZE)
    bounds = (*cutoffs, SHAPE.words)
    total = tokens * (lstm + SIZE * SIZE + SIZE * (bounds[0] + len(cutoffs)))
    for number in range(1, len(bounds)):
        first, last = bounds[number - 1], bounds[number]
        width = max(int(SIZE / WORDS.divisor**number), 1)
        inside = int(((targets_X >= first) & (targets_X < last)).sum())
        total += inside * width * (SIZE + last - first)
    return total


def matrix_product(size: int = 2048) -> Callable[[], None]:
    left, right = torch.randn(size, size), torch.randn(size, size)
    product = torch.empty(size, size)

    def multiply() -> None:
        torch.mm(left, right, out=product)

    return multiply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    cutoffs = choose_cutoffs(COUNTS, width=SIZE, divisor=WORDS.divisor, cost=measure_softmax_cost())
    window = make_window()
    targets_X = window.targets_BT[window.mask_BT]
    tokens = len(targets_X)
    assert window.edges is not None
    print(
        f"LSTM 2 x {SIZE}, {SHAPE.words:,} words, {ROWS} x {SHAPE.tokens + 1} tokens,"
        f" {len(window.edges.row_E)} candidates, {arguments.threads} threads;"
        f" cutoffs chosen here: {', '.join(map(str, cutoffs)) or 'none'}"
    )

    models = {kind: make_model(kind, cutoffs) for kind in MODELS}
    models["lrlm+"] = make_model("lrlm", cutoffs, plus=True)
    steps: dict[str, Callable[[], None]] = {
        kind: Step(model, window) for kind, model in models.items()
    }
    steps["lattice"] = lattice_step(models["lrlm"], window)
    steps["full softmax"] = softmax_step((), targets_X)
    steps["adaptive softmax"] = softmax_step(cutoffs, targets_X)
    steps["matrix product"] = matrix_product()
    times = race(steps, arguments.repeats)

    print("\ntraining tokens per second")
    for kind in models:
        print(f"  {kind:8} {tokens / times[kind]:10,.0f}")
    rate = 3 * 2 * products(cutoffs, targets_X) / times["vanilla"]
    peak = 2 * 2048**3 / times["matrix product"]
    print("\nratios")
    print(
        f"  LRLM / Vanilla                      {times['vanilla'] / times['lrlm']:6.2f}   goal 0.93"
    )
    print(
        f"  LRLM+ / LRLM                        {times['lrlm'] / times['lrlm+']:6.2f}   goal 0.90"
    )
    print(
        f"  lattice's share of an LRLM step     {times['lattice'] / times['lrlm']:6.1%}   goal 2 %"
    )
    print(f"  Vanilla's rate / matrix product's   {rate / peak:6.2f}   goal 0.70")
    print(f"     ({rate / 1e9:.0f} of {peak / 1e9:.0f} billion operations per second)")
    speed = times["full softmax"] / times["adaptive softmax"]
    print(f"  adaptive / full softmax             {speed:6.2f}   goal 3")

    print("\nLRLM step with more candidates")
    grown = race(
        {
            f"{factor:>3} x": Step(models["lrlm"], make_window(edge_factor=factor))
            for factor in (1, 10, 100)
        },
        arguments.repeats,
    )
    for name, seconds in grown.items():
        print(f"  {name} {seconds / grown['  1 x']:6.2f} times the step")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\npeak memory of this process {memory:.2f} GiB")


if __name__ == "__main__":
    main()
