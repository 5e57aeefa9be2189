"""What all functions of a lattice have in common: nothing to do, no path, types, public names."""

import pytest
import torch

import lrlm.lattice
from lrlm.lattice import (
    Lattice,
    Step,
    best_paths,
    block_sums,
    explain,
    log_marginal,
    posteriors,
    sample_paths,
)
from tests.lattice.lattices import INF, NAN, example


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
    assert posteriors(lattice)[0].tolist() == [[0.0] * 4] * 3
    assert posteriors(lattice)[1].tolist() == [0.0, 0.0, 1.0]
    assert [len(spans) for spans in explain(lattice, torch.zeros(3).long())] == [0, 0, 1]


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
    assert block_sums(lattice).total_K.tolist() == []
    assert explain(lattice, none) == [[]] * rows


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
    block_sums(lattice)
    explain(lattice, torch.zeros(len(lattice.row_E)).int(), most_mixtures=0)
    for name, tensor in zip(names, before, strict=True):
        assert torch.allclose(getattr(lattice, name), tensor, rtol=0.0, atol=0.0, equal_nan=True)


def test_the_public_names() -> None:
    assert sorted(lrlm.lattice.__all__) == [
        "BlockSums",
        "ExplainedSpan",
        "Lattice",
        "Mixture",
        "Step",
        "best_paths",
        "block_sums",
        "explain",
        "log_marginal",
        "posteriors",
        "sample_paths",
    ]
