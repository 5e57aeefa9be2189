"""Time the softmax over words, full and in clusters: run `python -m benchmarks.softmax`.

Each row of the table is one training step of the word head alone, forward and backward, over the
states of one batch; the targets follow Zipf's law. "ratio" is the full softmax's time over the
row's. Rows take turns and each row's time is its best, so other work on the machine hits all alike.
"""

import argparse
import time

import torch

from lrlm.heads import WordConfig, WordHead, choose_cutoffs

WORDS, STATES, WIDTH, DIVISOR = 24_000, 4_500, 400, 4.0


def zipf_counts(words: int) -> list[int]:
    return [100_000_000 // rank for rank in range(1, words + 1)]


def step_seconds(head: WordHead, states_XD: torch.Tensor, targets_X: torch.Tensor) -> float:
    head.zero_grad(set_to_none=True)
    start = time.perf_counter()
    torch.autograd.backward(head.log_probs(states_XD, targets_X).sum())
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--states", type=int, default=STATES)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)

    counts = zipf_counts(arguments.words)
    chosen = choose_cutoffs(counts, width=arguments.width, divisor=DIVISOR)
    states_XD = torch.randn(arguments.states, arguments.width, requires_grad=True)
    targets_X = torch.multinomial(torch.tensor(counts).double(), arguments.states, replacement=True)
    cutoffs_of: dict[str, tuple[int, ...]] = {"full": (), "clusters": chosen}
    heads = {}
    for name, cutoffs in cutoffs_of.items():
        config = WordConfig(projection_size=arguments.width, cutoffs=cutoffs, divisor=DIVISOR)
        heads[name] = WordHead(config, arguments.width, arguments.words)
    best = dict.fromkeys(heads, float("inf"))
    for _ in range(arguments.rounds):
        for name, head in heads.items():
            best[name] = min(best[name], step_seconds(head, states_XD, targets_X))

    print(
        f"{arguments.words} words, {arguments.states} states of width {arguments.width}, "
        f"{arguments.threads} threads"
    )
    print(f"{'softmax':<10} {'step ms':>9} {'states/s':>10} {'ratio':>6}  cutoffs")
    for name, seconds in best.items():
        print(
            f"{name:<10} {seconds * 1e3:>9.1f} {arguments.states / seconds:>10.0f} "
            f"{best['full'] / seconds:>6.2f}  {cutoffs_of[name]}"
        )


if __name__ == "__main__":
    main()
