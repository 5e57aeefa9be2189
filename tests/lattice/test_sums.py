"""Sums and posteriors: against a list of all segmentations, their gradients and their limits.

Shape suffixes: B rows, T tokens, E edges, K blocks.
"""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lrlm.lattice import Lattice, best_paths, block_sums, log_marginal, posteriors
from tests.lattice.lattices import INF, NAN, build, close, example, long_row, random_rows
from tests.oracles import lattice as oracle


# The three batches of seeds keep the failure of one kind of lattice from hiding the others.
@pytest.mark.parametrize(
    ("count", "impossible", "most_edges"), [(500, 0.1, 8), (300, 0.0, 12), (200, 0.5, 6)]
)
def test_agrees_with_enumeration(count: int, impossible: float, most_edges: int) -> None:
    rng = random.Random(f"{count} {impossible}")
    for _ in range(count):
        rows = random_rows(rng, impossible=impossible, most_edges=most_edges)
        lattice = build(rows, padding=rng.randint(0, 2))

        total_B = torch.tensor([oracle.log_marginal(row) for row in rows], dtype=torch.float64)
        assert close(log_marginal(lattice), total_B)

        words, edges = posteriors(lattice)
        expected_words, expected_edges = expected_posteriors(rows, lattice)
        assert close(words, expected_words)
        assert close(edges, expected_edges)


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


def test_blocks_agree_with_enumeration() -> None:
    rng = random.Random(8)
    for _ in range(200):
        rows = random_rows(rng, most_tokens=10, most_edges=5)
        sums = block_sums(build(rows, padding=rng.randint(0, 2)))
        expected = [
            (number, *block) for number, row in enumerate(rows) for block in oracle.blocks(row)
        ]
        spans = zip(sums.row_K.tolist(), sums.start_K.tolist(), sums.end_K.tolist(), strict=True)
        assert list(spans) == [block[:3] for block in expected]
        assert sums.total_K.tolist() == pytest.approx([block[3] for block in expected], abs=1e-10)
        assert sums.covered_K.tolist() == [
            any(start <= edge.start < end for edge in rows[number].edges)
            for number, start, end, _ in expected
        ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_blocks_add_up_to_their_rows(dtype: torch.dtype) -> None:
    rng = random.Random(9)
    rows = [long_row(rng, tokens=10_000, edges=2_000, chained=False), oracle.Row([], [])]
    lattice = build(rows, dtype=dtype)
    lattice.words_BT.requires_grad_()
    sums = block_sums(lattice)
    assert sums.total_K.dtype == torch.float64
    assert not sums.total_K.requires_grad
    total_B = torch.zeros(2, dtype=torch.float64).index_add_(0, sums.row_K, sums.total_K)
    assert close(total_B.to(dtype), log_marginal(lattice).detach(), 1e-6)
    assert bool((sums.row_K == 0).all())
    assert sums.start_K[1:].tolist() == sums.end_K[:-1].tolist()
    assert int(sums.start_K[0]) == 0
    assert int(sums.end_K[-1]) == 10_000
    assert bool((sums.covered_K | (sums.end_K - sums.start_K == 1)).all())


def test_a_block_without_a_path_leaves_the_others_theirs() -> None:
    row = oracle.Row([-1.0, -INF, -INF, -3.0], [oracle.Edge(1, 3, 0, -INF)])
    sums = block_sums(build([row]))
    assert sums.total_K.tolist() == [-1.0, -INF, -3.0]
    assert sums.covered_K.tolist() == [False, True, False]
