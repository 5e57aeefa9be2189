"""The lattice against enumeration of all segmentations, its symmetries, its limits and its errors.

Shape suffixes: B rows, T tokens, E edges.
"""

import math
import random
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import lrlm.lattice
from lrlm.errors import LrlmError, ShapeError
from lrlm.lattice import Lattice, Step, best_paths, log_marginal, posteriors, sample_paths
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


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> bool:
    return torch.allclose(actual, expected, rtol=tolerance, atol=tolerance)


def expected_posteriors(rows: list[oracle.Row], lattice: Lattice) -> tuple[Tensor, Tensor]:
    word_BT = torch.zeros_like(lattice.words_BT)
    edge_E = torch.zeros_like(lattice.score_E)
    for number, row in enumerate(rows):
        for (start, _, edge), share in oracle.posterior(row).items():
            if edge is None:
                word_BT[number, start] = share
            else:
                edge_E[edge] = share
    return word_BT, edge_E


# The three batches of seeds keep the failure of one kind of lattice from hiding the others.
@pytest.mark.parametrize(
    ("count", "impossible", "most_edges"), [(500, 0.1, 8), (300, 0.0, 12), (200, 0.5, 6)]
)
def test_agrees_with_enumeration(count: int, impossible: float, most_edges: int) -> None:
    rng = random.Random(f"{count} {impossible}")
    generator = torch.Generator().manual_seed(count)
    for _ in range(count):
        rows = random_rows(rng, impossible=impossible, most_edges=most_edges)
        lattice = build(rows, padding=rng.randint(0, 2))

        total_B = torch.tensor([oracle.log_marginal(row) for row in rows], dtype=torch.float64)
        assert close(log_marginal(lattice), total_B)

        words, edges = posteriors(lattice)
        expected_words, expected_edges = expected_posteriors(rows, lattice)
        assert close(words, expected_words)
        assert close(edges, expected_edges)

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


def test_gradient_is_the_posteriors() -> None:
    rng = random.Random(1)
    for _ in range(50):
        plain = build(random_rows(rng), padding=1)
        words_BT = plain.words_BT.clone().requires_grad_()
        score_E = plain.score_E.clone().requires_grad_()
        lattice = Lattice(
            words_BT, plain.lengths_B, plain.row_E, plain.start_E, plain.end_E, score_E
        )
        total_B = log_marginal(lattice)
        assert torch.equal(total_B.detach(), log_marginal(plain))
        weight_B = torch.randn(total_B.shape, dtype=torch.float64)
        grad_words, grad_edges = torch.autograd.grad(total_B, (words_BT, score_E), weight_B)
        words, edges = posteriors(lattice)
        assert close(grad_words, words * weight_B[:, None])
        assert close(grad_edges, edges * weight_B[plain.row_E])


def test_gradcheck() -> None:
    rng = random.Random(2)
    for _ in range(10):
        plain = build(random_rows(rng, impossible=0.0, most_tokens=5, most_edges=5))
        # Finite differences need numbers, also where the padding is.
        words_BT = plain.words_BT.nan_to_num(0.0).requires_grad_()

        def function(words_BT: Tensor, score_E: Tensor, plain: Lattice = plain) -> Tensor:
            indices = (plain.lengths_B, plain.row_E, plain.start_E, plain.end_E)
            return log_marginal(Lattice(words_BT, *indices, score_E))

        assert torch.autograd.gradcheck(function, (words_BT, plain.score_E.requires_grad_()))


def test_only_what_requires_a_gradient_gets_one() -> None:
    lattice = example()
    lattice.score_E.requires_grad_()
    torch.autograd.backward(log_marginal(lattice).sum())
    assert lattice.score_E.grad is not None
    assert lattice.words_BT.grad is None
    with torch.no_grad():
        assert not log_marginal(lattice).requires_grad
    assert not posteriors(lattice)[1].requires_grad
    assert not best_paths(lattice)[0].requires_grad


def test_one_autograd_function_and_no_graph_behind_it() -> None:
    lattice = example()
    lattice.words_BT.requires_grad_()
    function = log_marginal(lattice).grad_fn
    assert function is not None
    assert function.name() == "_LogMarginalBackward"
    assert [
        next_function.name() for next_function, _ in function.next_functions if next_function
    ] == ["torch::autograd::AccumulateGrad"]


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


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_posteriors_of_what_covers_a_token_sum_to_one(seed: int) -> None:
    lattice = build(random_rows(random.Random(seed), most_tokens=40, most_edges=60))
    word_BT, edge_E = posteriors(lattice)
    covered_BT = word_BT.clone()
    for edge, (row, start, end) in enumerate(
        zip(lattice.row_E, lattice.start_E, lattice.end_E, strict=True)
    ):
        covered_BT[row, start:end] += edge_E[edge]
    alive_B = ~log_marginal(lattice).isneginf()
    inside_BT = torch.arange(word_BT.shape[1]) < lattice.lengths_B[:, None]
    assert close(covered_BT, (inside_BT & alive_B[:, None]).double())


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_padding_row_order_and_edge_order_do_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    rows = random_rows(rng, most_tokens=20, most_edges=20)
    lattice = build(rows)
    word_BT, edge_E = posteriors(lattice)
    total_B, best_B = log_marginal(lattice), best_paths(lattice)[0]

    row_order = torch.tensor(rng.sample(range(len(rows)), len(rows)))
    edge_order = torch.tensor(rng.sample(range(len(edge_E)), len(edge_E)), dtype=torch.long)
    padding = torch.full((len(rows), 3), rng.choice([NAN, INF, -INF, 1e30]), dtype=torch.float64)
    other = Lattice(
        torch.cat((lattice.words_BT, padding), dim=1)[row_order],
        lattice.lengths_B[row_order],
        row_order.argsort()[lattice.row_E[edge_order]],
        lattice.start_E[edge_order],
        lattice.end_E[edge_order],
        lattice.score_E[edge_order],
    )
    assert close(log_marginal(other), total_B[row_order], 1e-13)
    assert close(best_paths(other)[0], best_B[row_order], 1e-13)
    other_word_BT, other_edge_E = posteriors(other)
    assert close(other_word_BT[:, :-3], word_BT[row_order], 1e-12)
    assert bool((other_word_BT[:, -3:] == 0).all())
    assert close(other_edge_E, edge_E[edge_order], 1e-12)


def test_batch_mates_do_not_change_a_score() -> None:
    rng = random.Random(6)
    for _ in range(20):
        rows = random_rows(rng, most_tokens=20, most_edges=20)
        together = log_marginal(build(rows))
        for row, total in zip(rows, together, strict=True):
            assert float(log_marginal(build([row]))[0]) == pytest.approx(float(total), rel=1e-14)


def test_rows_without_a_path() -> None:
    words_BT = torch.full((3, 4), -INF, dtype=torch.float64, requires_grad=True)
    score_E = torch.tensor([-INF, 0.5, -1.0], dtype=torch.float64, requires_grad=True)
    lattice = Lattice(
        words_BT,
        torch.tensor([4, 4, 4]),
        torch.tensor([0, 1, 2]),
        torch.tensor([0, 0, 0]),
        torch.tensor([4, 2, 4]),
        score_E,
    )
    total_B = log_marginal(lattice)
    assert total_B.tolist() == [-INF, -INF, -1.0]
    # A loss that has an infinite gradient at −inf must not turn into NaN either.
    torch.autograd.backward(total_B, torch.tensor([INF, NAN, 2.0], dtype=torch.float64))
    assert words_BT.grad is not None
    assert score_E.grad is not None
    assert bool((words_BT.grad == 0).all())
    assert score_E.grad.tolist() == [0.0, 0.0, 2.0]
    assert best_paths(lattice)[0].tolist() == [-INF, -INF, -1.0]
    assert best_paths(lattice)[1] == [[], [], [Step(0, 4, 2)]]
    assert sample_paths(lattice)[1] == [[], [], [Step(0, 4, 2)]]


@pytest.mark.parametrize(("rows", "width"), [(0, 0), (0, 3), (2, 0), (2, 3)])
def test_nothing_to_do(rows: int, width: int) -> None:
    none = torch.zeros(0, dtype=torch.long)
    words_BT = torch.full((rows, width), NAN, requires_grad=True)
    lengths_B = torch.zeros(rows, dtype=torch.long)
    lattice = Lattice(words_BT, lengths_B, none, none, none, torch.zeros(0))
    total_B = log_marginal(lattice)
    assert total_B.tolist() == [0.0] * rows
    torch.autograd.backward(total_B.sum())
    assert words_BT.grad is not None
    assert bool((words_BT.grad == 0).all())
    assert posteriors(lattice)[0].shape == (rows, width)
    assert best_paths(lattice)[1] == [[]] * rows
    assert sample_paths(lattice)[0].tolist() == [0.0] * rows


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


@pytest.mark.parametrize("chained", [False, True])
def test_ten_thousand_tokens_with_large_scores(chained: bool) -> None:
    rng = random.Random(7)
    rows = [long_row(rng, tokens=10_000, edges=2_000, chained=chained) for _ in range(2)]
    expected_B = torch.tensor(
        [oracle.log_marginal_by_boundary(row) for row in rows], dtype=torch.float64
    )
    results = {}
    for dtype in (torch.float64, torch.float32):
        plain = build(rows, dtype=dtype)
        words_BT = plain.words_BT.clone().requires_grad_()
        score_E = plain.score_E.clone().requires_grad_()
        lattice = Lattice(
            words_BT, plain.lengths_B, plain.row_E, plain.start_E, plain.end_E, score_E
        )
        total_B = log_marginal(lattice)
        grads = torch.autograd.grad(total_B.sum(), (words_BT, score_E))
        assert total_B.dtype == grads[0].dtype == grads[1].dtype == dtype
        results[dtype] = [result.detach().double() for result in (total_B, *grads)]
        assert all(bool(result.isfinite().all()) for result in results[dtype])
    total_B, word_BT, edge_E = results[torch.float64]
    assert torch.allclose(total_B, expected_B, rtol=1e-12)
    assert torch.allclose(results[torch.float32][0], total_B, rtol=1e-5, atol=0.0)
    # The gradient differs by the rounding of the scores themselves, some 1e-5 in a sum of several.
    assert torch.allclose(results[torch.float32][1], word_BT, rtol=0.0, atol=1e-4)
    assert torch.allclose(results[torch.float32][2], edge_E, rtol=0.0, atol=1e-4)
    mass_B = torch.stack([word_BT[row].sum() for row in range(2)])
    size_E = (plain.end_E - plain.start_E).double()
    mass_B.index_add_(0, plain.row_E, edge_E * size_E)
    assert torch.allclose(mass_B, torch.full((2,), 10_000.0, dtype=torch.float64), rtol=1e-9)


def test_a_huge_score_does_not_wipe_out_its_neighbours() -> None:
    lowest = torch.finfo(torch.float64).min / 4
    row = oracle.Row(
        [lowest, -1.0, -2.0, -3.0],
        [oracle.Edge(0, 1, 0, -0.5), oracle.Edge(1, 3, 1, -1.0), oracle.Edge(2, 4, 2, -2.0)],
    )
    lattice = build([row])
    assert float(log_marginal(lattice)[0]) == pytest.approx(oracle.log_marginal(row), abs=1e-12)
    word_BT, edge_E = posteriors(lattice)
    expected_words, expected_edges = expected_posteriors([row], lattice)
    assert close(word_BT, expected_words)
    assert close(edge_E, expected_edges)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_type_of_the_scores(dtype: torch.dtype) -> None:
    exact = example()
    lattice = Lattice(
        exact.words_BT.to(dtype),
        exact.lengths_B.int(),
        exact.row_E.to(torch.uint8),
        exact.start_E.short(),
        exact.end_E.int(),
        exact.score_E.to(dtype),
    )
    words, edges = posteriors(lattice)
    for result in (log_marginal(lattice), words, edges, best_paths(lattice)[0]):
        assert result.dtype == dtype
    assert torch.allclose(words.double(), posteriors(exact)[0], atol=1e-2)


def test_the_callers_tensors_stay_as_they_are() -> None:
    lattice = example()
    names = ("words_BT", "lengths_B", "row_E", "start_E", "end_E", "score_E")
    before = [getattr(lattice, name).clone() for name in names]
    log_marginal(lattice)
    posteriors(lattice)
    best_paths(lattice)
    sample_paths(lattice)
    for name, tensor in zip(names, before, strict=True):
        assert torch.allclose(getattr(lattice, name), tensor, rtol=0.0, atol=0.0, equal_nan=True)


class CountedOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the tensor operations inside a `with`."""

    count: int = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def operations(rows: list[oracle.Row]) -> int:
    lattice = build(rows)
    lattice.words_BT.requires_grad_()
    counted = CountedOperations()  # type: ignore[no-untyped-call]
    with counted:
        torch.autograd.backward(log_marginal(lattice).sum())
    return counted.count


def test_work_does_not_grow_with_edges_rows_or_independent_tokens() -> None:
    def row(blocks: int, repeats: int) -> oracle.Row:
        spans = [
            (4 * block + start, 4 * block + end)
            for block in range(blocks)
            for start, end in [(0, 2), (1, 4), (2, 3)]
        ]
        edges = [oracle.Edge(*span, number, -1.0) for number, span in enumerate(spans * repeats)]
        return oracle.Row([-1.0] * (4 * blocks), edges)

    few = operations([row(1, 1)])
    assert operations([row(1, 200)]) == few
    assert operations([row(200, 1)]) == few
    assert operations([row(1, 1)] * 50) == few


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"words_BT": torch.zeros(3)},
            r"words_BT must have the shape \(rows, tokens\), not \(3,\)",
        ),
        (
            {"row_E": torch.zeros(2, 1).long()},
            r"row_E must have the shape \(edges,\), not \(2, 1\)",
        ),
        ({"lengths_B": torch.tensor([3])}, r"lengths_B has the shape \(1,\), but \(2,\)"),
        ({"start_E": torch.tensor([0])}, r"start_E has the shape \(1,\), but \(2,\) .* row_E"),
        ({"end_E": torch.tensor([1, 2, 3])}, r"end_E has the shape \(3,\)"),
        ({"score_E": torch.zeros(2, 2)}, r"score_E has the shape \(2, 2\)"),
        ({"words_BT": torch.zeros(2, 3).long()}, r"words_BT holds torch.int64"),
        ({"score_E": torch.zeros(2).long()}, r"score_E holds torch.int64"),
        ({"lengths_B": torch.tensor([3.0, 2.0])}, r"lengths_B holds torch.float32"),
        ({"row_E": torch.tensor([True, False])}, r"row_E holds torch.bool"),
        ({"start_E": torch.zeros(2)}, r"start_E holds torch.float32"),
        ({"end_E": torch.ones(2)}, r"end_E holds torch.float32"),
        ({"score_E": torch.zeros(2, device="meta")}, r"score_E is on meta, but words_BT is on cpu"),
        ({"lengths_B": torch.tensor([3, 4])}, r"lengths_B\[1\] is 4, .* 0 to 3 tokens"),
        ({"lengths_B": torch.tensor([-1, 2])}, r"lengths_B\[0\] is -1"),
        (
            {"row_E": torch.tensor([0, 2])},
            r"row_E\[1\] is 2 \(row 2, span \[0, 2\)\): there are 2 rows",
        ),
        ({"row_E": torch.tensor([-1, 0])}, r"row_E\[0\] is -1"),
        ({"start_E": torch.tensor([-1, 0])}, r"start_E\[0\] is -1 \(row 0, span \[-1, 3\)\)"),
        (
            {"end_E": torch.tensor([1, 2])},
            r"end_E\[0\] is 1 \(row 0, span \[1, 1\)\): .* one token",
        ),
        ({"end_E": torch.tensor([3, 3])}, r"end_E\[1\] is 3 \(row 1, .* beyond the 2 tokens"),
        ({"score_E": torch.tensor([0.0, NAN])}, r"score_E\[1\] is nan \(row 1, span \[0, 2\)\)"),
        ({"score_E": torch.tensor([INF, 0.0])}, r"score_E\[0\] is inf \(row 0, span \[1, 3\)\)"),
        ({"words_BT": torch.tensor([[0.0, 0, 0], [0, NAN, 0]])}, r"words_BT\[1, 1\] is nan"),
        ({"words_BT": torch.tensor([[0.0, INF, 0], [0, 0, 0]])}, r"words_BT\[0, 1\] is inf"),
    ],
)
def test_bad_tensors_are_named(changes: dict[str, Any], message: str) -> None:
    tensors: dict[str, Any] = {
        "words_BT": torch.zeros(2, 3),
        "lengths_B": torch.tensor([3, 2]),
        "row_E": torch.tensor([0, 1]),
        "start_E": torch.tensor([1, 0]),
        "end_E": torch.tensor([3, 2]),
        "score_E": torch.tensor([-1.0, -INF]),
    }
    Lattice(**tensors)
    with pytest.raises(ShapeError, match=message) as caught:
        Lattice(**(tensors | changes))
    assert isinstance(caught.value, LrlmError)


def test_an_edge_without_any_row_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"row_E\[0\] is 0 .* there are 0 rows"):
        Lattice(
            torch.zeros(0, 3),
            torch.zeros(0).long(),
            torch.tensor([0]),
            torch.tensor([0]),
            torch.tensor([1]),
            torch.zeros(1),
        )


def test_values_are_not_looked_at_when_told_so() -> None:
    words_BT, lengths_B = torch.full((1, 1), NAN), torch.tensor([1])
    none, no_score = torch.zeros(0, dtype=torch.long), torch.zeros(0)
    Lattice(words_BT, lengths_B, none, none, none, no_score, checked=False)
    with pytest.raises(ShapeError, match="start_E has the shape"):
        Lattice(words_BT, lengths_B, none, lengths_B, none, no_score, checked=False)


def test_the_public_names() -> None:
    assert sorted(lrlm.lattice.__all__) == [
        "Lattice",
        "Step",
        "best_paths",
        "log_marginal",
        "posteriors",
        "sample_paths",
    ]
