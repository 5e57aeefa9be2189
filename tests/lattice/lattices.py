"""Lattices to test with, made from plain lists.

Shape suffixes: B rows, T tokens, E edges.
"""

import math
import random

import torch
from torch import Tensor

from lrlm.lattice import Lattice
from tests.oracles import lattice as oracle

INF = math.inf
NAN = math.nan


def build(
    rows: list[oracle.Row], *, padding: int = 0, dtype: torch.dtype = torch.float64
) -> Lattice:
    """The tensors of some rows; padding is NaN, so that a look at it shows."""
    width = max((len(row.words) for row in rows), default=0) + padding
    words_BT = torch.tensor(
        [[*row.words, *[NAN] * (width - len(row.words))] for row in rows], dtype=dtype
    ).view(len(rows), width)
    edges = sorted(
        ((edge, number) for number, row in enumerate(rows) for edge in row.edges),
        key=lambda pair: pair[0].number,
    )
    return Lattice(
        words_BT,
        torch.tensor([len(row.words) for row in rows], dtype=torch.long),
        torch.tensor([number for _, number in edges], dtype=torch.long),
        torch.tensor([edge.start for edge, _ in edges], dtype=torch.long),
        torch.tensor([edge.end for edge, _ in edges], dtype=torch.long),
        torch.tensor([edge.score for edge, _ in edges], dtype=dtype),
    )


def random_rows(
    rng: random.Random, *, most_tokens: int = 8, most_edges: int = 8, impossible: float = 0.1
) -> list[oracle.Row]:
    """Rows with overlapping, nesting and coinciding edges, some of them empty, some scores −inf."""

    def score() -> float:
        return -INF if rng.random() < impossible else rng.gauss(0, 3)

    lengths = [rng.randint(0, most_tokens) for _ in range(rng.randint(1, 5))]
    spans: list[tuple[int, int, int]] = []
    for row, length in enumerate(lengths):
        for _ in range(rng.randint(0, most_edges) if length else 0):
            start = rng.randrange(length)
            spans.append((row, start, rng.randint(start + 1, length)))
            if rng.random() < 0.2:
                spans.append(spans[-1])
    rng.shuffle(spans)
    return [
        oracle.Row(
            [score() for _ in range(length)],
            [
                oracle.Edge(start, end, number, score())
                for number, (owner, start, end) in enumerate(spans)
                if owner == row
            ],
        )
        for row, length in enumerate(lengths)
    ]


def example() -> Lattice:
    """Two rows: the first with nested and coinciding edges, the second with −inf and padding."""
    return build(
        [
            oracle.Row(
                [-1.0, -2.0, -3.0, -1.5],
                [
                    oracle.Edge(0, 3, 0, -1.0),
                    oracle.Edge(1, 3, 1, -1.0),
                    oracle.Edge(1, 3, 2, -1.5),
                    oracle.Edge(2, 4, 4, -0.5),
                ],
            ),
            oracle.Row([-1.0, -INF], [oracle.Edge(0, 2, 3, -4.0)]),
        ]
    )


def long_row(rng: random.Random, *, tokens: int, edges: int, chained: bool) -> oracle.Row:
    """Scores of ±100 and −inf; `chained`: no boundary that an edge does not cross."""
    spans = [(start, min(start + 3, tokens)) for start in range(tokens)] if chained else []
    for _ in range(edges):
        start = rng.randrange(tokens)
        spans.append((start, min(tokens, start + rng.randint(1, 12))))
    impossible = set(rng.sample(range(tokens), tokens // 10))
    edges_somewhere = [
        oracle.Edge(start, end, number, -INF if rng.random() < 0.1 else rng.uniform(-100, 100))
        for number, (start, end) in enumerate(spans)
    ]
    # An impossible word has an edge in its place, or the whole row would be impossible.
    edges_in_place = [
        oracle.Edge(token, token + 1, number, rng.uniform(-100, 100))
        for number, token in enumerate(impossible, start=len(spans))
    ]
    words = [-INF if token in impossible else rng.uniform(-100, 100) for token in range(tokens)]
    return oracle.Row(words, edges_somewhere + edges_in_place)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> bool:
    return torch.allclose(actual, expected, rtol=tolerance, atol=tolerance)
