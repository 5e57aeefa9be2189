"""Time the lattice alone: run `python -m benchmarks.lattice`.

Each row of the first table is a batch, each column the best of several runs in milliseconds.
"levels" is how many sequential steps the sweep takes. The second table is about explaining spans,
in batches whose spans lie as candidate names do.

One thread unless `--threads` says otherwise: a batch is too small to gain from more, and on a busy
machine the time that threads wait for each other would hide the time of the work.
"""

import argparse
import random
import time
from collections.abc import Callable
from functools import partial

import torch

from lrlm.lattice import (
    Lattice,
    best_paths,
    block_sums,
    explain,
    log_marginal,
    posteriors,
    sample_paths,
)
from lrlm.lattice.sums import in_working_form
from lrlm.lattice.sweep import cut_into_blocks

ROWS, TOKENS = 30, 150
TOKENS_PER_EDGE = 15
"""About ten candidate spans in a text of 150 tokens."""


def random_lattice(rows: int, tokens: int, edges: int, *, longest: int = 5) -> Lattice:
    generator = torch.Generator().manual_seed(0)
    start_E = torch.randint(tokens - longest, (edges,), generator=generator)
    length_E = torch.randint(1, longest + 1, (edges,), generator=generator)
    return Lattice(
        torch.randn(rows, tokens, generator=generator).sub_(7).requires_grad_(),
        torch.full((rows,), tokens),
        torch.randint(rows, (edges,), generator=generator),
        start_E,
        start_E + length_E,
        torch.randn(edges, generator=generator).sub_(9).requires_grad_(),
    )


def lattice_of_names(
    rows: int, *, tokens: int = 165, spans: int = 8, relations: int = 2, overlapping: float = 0.25
) -> Lattice:
    """Make texts with candidate names; each span has an edge for each of some relations."""
    rng = random.Random(0)
    edges: list[tuple[int, int, int]] = []
    for row in range(rows):
        found: set[tuple[int, int]] = set()
        while len(found) < spans:
            if found and rng.random() < overlapping:  # one token more or less than another
                start, end = rng.choice(sorted(found))
                start = max(start + rng.randint(-1, 1), 0)
                found.add((start, min(max(end + rng.randint(-1, 1), start + 1), tokens)))
            else:
                start = rng.randrange(tokens - 5)
                found.add((start, start + rng.choice([1, 1, 2, 2, 2, 3, 3, 4, 5])))
        edges += [(row, *span) for span in sorted(found) for _ in range(relations)]
    row_E, start_E, end_E = torch.tensor(edges).T.contiguous()
    generator = torch.Generator().manual_seed(0)
    return Lattice(
        torch.randn(rows, tokens, generator=generator).mul_(2).sub_(7),
        torch.full((rows,), tokens),
        row_E,
        start_E,
        end_E,
        torch.randn(len(edges), generator=generator).mul_(3).sub_(9),
    )


def milliseconds(action: Callable[[], object], *, seconds: float = 1.0, least: int = 3) -> float:
    """Return the time of the fastest run: other work on the machine only ever adds to it."""
    action()
    fastest, runs, end = float("inf"), 0, time.perf_counter() + seconds
    while runs < least or time.perf_counter() < end:
        begin = time.perf_counter()
        action()
        fastest = min(fastest, time.perf_counter() - begin)
        runs += 1
    return 1000 * fastest


def forward_and_gradient(lattice: Lattice) -> None:
    torch.autograd.grad(log_marginal(lattice).sum(), (lattice.words_BT, lattice.score_E))


def check(lattice: Lattice) -> None:
    indices = (lattice.lengths_B, lattice.row_E, lattice.start_E, lattice.end_E)
    Lattice(lattice.words_BT, *indices, lattice.score_E)


COLUMNS: tuple[tuple[str, Callable[[Lattice], object]], ...] = (
    ("check", check),
    ("sum + gradient", forward_and_gradient),
    ("posteriors", posteriors),
    ("blocks", block_sums),
    ("best", best_paths),
    ("sample", sample_paths),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the lattice alone.")
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)

    usual = ROWS * TOKENS // TOKENS_PER_EDGE
    batches = [
        (f"{ROWS} × {TOKENS}, no edges", random_lattice(ROWS, TOKENS, 0)),
        (f"{ROWS} × {TOKENS}, 1 × edges", random_lattice(ROWS, TOKENS, usual)),
        (f"{ROWS} × {TOKENS}, 10 × edges", random_lattice(ROWS, TOKENS, 10 * usual)),
        (f"{ROWS} × {TOKENS}, 100 × edges", random_lattice(ROWS, TOKENS, 100 * usual)),
        ("1 × 10,000, 1 × edges", random_lattice(1, 10_000, 10_000 // TOKENS_PER_EDGE)),
        ("1 × 10,000, 10 × edges", random_lattice(1, 10_000, 10 * 10_000 // TOKENS_PER_EDGE)),
        ("1 × 10,000, 100 × edges", random_lattice(1, 10_000, 100 * 10_000 // TOKENS_PER_EDGE)),
    ]
    print(f"float32, threads: {torch.get_num_threads()}, milliseconds")
    heading = "".join(f"{name:>16}" for name, _ in COLUMNS)
    print(f"{'batch':<26}{'edges':>8}{'levels':>8}{heading}")
    for name, lattice in batches:
        level_J = cut_into_blocks(in_working_form(lattice)).level_J
        levels = int(level_J[-1]) + 1 if len(level_J) else 0
        times = "".join(
            f"{milliseconds(lambda act=action, on=lattice: act(on)):>16.2f}"  # type: ignore[misc]
            for _, action in COLUMNS
        )
        print(f"{name:<26}{len(lattice.row_E):>8,}{levels:>8,}{times}")

    print(f"\n{'explaining spans':<26}{'edges':>8}{'64 mixtures':>16}{'none listed':>16}")
    for rows in (1, ROWS, 2 * ROWS, 8 * ROWS):
        lattice = lattice_of_names(rows)
        label_E = torch.arange(len(lattice.row_E)) % 2
        times = "".join(
            f"{milliseconds(partial(explain, lattice, label_E, most_mixtures=most)):>16.2f}"
            for most in (64, 0)
        )
        name = f"{rows} × {lattice.words_BT.shape[1]}"
        print(f"{name:<26}{len(label_E):>8,}{times}")


if __name__ == "__main__":
    main()
