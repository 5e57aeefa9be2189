"""Best and sampled paths: against a list of all segmentations, and how ties are broken."""

import math
import random
from collections import Counter

import pytest
import torch

from lrlm.lattice import Lattice, Step, best_paths, log_marginal, sample_paths
from tests.lattice.lattices import INF, build, close, example, random_rows
from tests.oracles import lattice as oracle


@pytest.mark.parametrize(
    ("count", "impossible", "most_edges"), [(500, 0.1, 8), (300, 0.0, 12), (200, 0.5, 6)]
)
def test_agrees_with_enumeration(count: int, impossible: float, most_edges: int) -> None:
    rng = random.Random(f"{count} {impossible}")
    generator = torch.Generator().manual_seed(count)
    for _ in range(count):
        rows = random_rows(rng, impossible=impossible, most_edges=most_edges)
        lattice = build(rows, padding=rng.randint(0, 2))
        total_B = log_marginal(lattice)

        best_B, best = best_paths(lattice)
        expected_B = torch.tensor([oracle.best_score(row) for row in rows], dtype=torch.float64)
        assert close(best_B, expected_B)
        drawn_B, drawn = sample_paths(lattice, generator=generator)
        for scores_B, paths in ((best_B, best), (drawn_B, drawn)):
            for row, total, score, path in zip(rows, total_B, scores_B, paths, strict=True):
                if total == -INF:
                    assert score == -INF
                    assert path == []
                else:
                    assert oracle.path_score(row, list(path)) == pytest.approx(
                        float(score), abs=1e-10
                    )


def test_sampled_paths_follow_the_posterior() -> None:
    row = oracle.Row(
        [-1.0, -1.2, -0.7, -INF, -0.9, -1.1],
        [
            oracle.Edge(0, 2, 0, -1.5),
            oracle.Edge(0, 2, 1, -2.0),
            oracle.Edge(1, 4, 2, -1.0),
            oracle.Edge(2, 4, 3, -0.5),
            oracle.Edge(3, 4, 4, -1.3),
            oracle.Edge(3, 6, 5, -1.0),
            oracle.Edge(4, 6, 6, -INF),
            oracle.Edge(5, 6, 7, -2.0),
        ],
    )
    draws = 20_000
    one = build([row])
    lattice = Lattice(
        one.words_BT.expand(draws, -1),
        one.lengths_B.expand(draws),
        torch.arange(draws).repeat_interleave(len(row.edges)),
        one.start_E.repeat(draws),
        one.end_E.repeat(draws),
        one.score_E.repeat(draws),
    )
    scores_B, paths = sample_paths(lattice, generator=torch.Generator().manual_seed(3))
    drawn = [tuple(_in_first_row(step, len(row.edges)) for step in path) for path in paths]
    counts = Counter(drawn)
    possible = {tuple(path): score for score, path in oracle.segmentations(row) if score > -INF}
    assert set(counts) <= set(possible)
    assert len(possible) > 10
    assert scores_B.tolist() == pytest.approx([possible[path] for path in drawn], abs=1e-12)

    total = oracle.log_marginal(row)
    expected = {path: draws * math.exp(score - total) for path, score in possible.items()}
    statistic = sum((counts[path] - count) ** 2 / count for path, count in expected.items())
    # The upper tail of the chi-square distribution.
    halves = torch.tensor([len(possible) - 1, statistic], dtype=torch.float64) / 2
    assert float(torch.special.gammaincc(halves[0], halves[1])) > 0.01


def _in_first_row(step: Step, edges: int) -> oracle.Segment:
    return step.start, step.end, None if step.edge is None else step.edge % edges


def test_sampling_is_reproducible() -> None:
    lattice = example()
    first = sample_paths(lattice, generator=torch.Generator().manual_seed(5))[1]
    assert sample_paths(lattice, generator=torch.Generator().manual_seed(5))[1] == first
    assert len(sample_paths(lattice)[1]) == 2


def test_a_known_best_path() -> None:
    scores_B, paths = best_paths(example())
    assert paths == [[Step(0, 3, 0), Step(3, 4, None)], [Step(0, 2, 3)]]
    assert scores_B.tolist() == [-2.5, -4.0]


def test_ties_are_broken_as_promised() -> None:
    # Scores are whole numbers: equal sums are equal to the bit.
    words = [-1.0, -1.0, -1.0]
    edges = [
        oracle.Edge(0, 3, 0, -3.0),
        oracle.Edge(1, 3, 1, -2.0),
        oracle.Edge(1, 3, 2, -2.0),
        oracle.Edge(2, 3, 3, -1.0),
    ]
    assert best_paths(build([oracle.Row(words, edges)]))[1] == [
        [Step(0, 1, None), Step(1, 2, None), Step(2, 3, None)]
    ]
    impossible = [-1.0, -1.0, -INF]
    assert best_paths(build([oracle.Row(impossible, edges)]))[1] == [
        [Step(0, 1, None), Step(1, 2, None), Step(2, 3, 3)]
    ]
    assert best_paths(build([oracle.Row(impossible, edges[:3])]))[1] == [
        [Step(0, 1, None), Step(1, 3, 1)]
    ]
