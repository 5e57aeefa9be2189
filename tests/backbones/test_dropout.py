"""Dropout: the share it drops, its scale, its gradient, and its silence in evaluation."""

import pytest
import torch

from lrlm.backbones.fast_cpu import Dropout, dropout


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_share_and_scale(rate: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    values = torch.ones(301, 333, dtype=dtype, requires_grad=True)
    dropped = dropout(values, rate, training=True)
    assert dropped.dtype == dtype
    assert float((dropped.detach() == 0).double().mean()) == pytest.approx(rate, abs=0.006)
    assert float(dropped.detach().max()) == pytest.approx(1 / (1 - rate), rel=1e-3)
    assert float(dropped.detach().double().mean()) == pytest.approx(1.0, abs=0.03)
    torch.autograd.backward(dropped.sum())
    assert values.grad is not None
    assert torch.equal(values.grad, dropped.detach())


def test_neighbours_are_independent() -> None:
    torch.manual_seed(0)
    kept = (dropout(torch.ones(400_000), 0.5, training=True) > 0).double()
    for distance in range(1, 9):
        both = float((kept[:-distance] * kept[distance:]).mean())
        assert both == pytest.approx(0.25, abs=0.004)


def test_the_seed_decides() -> None:
    values = torch.ones(7, 3)
    torch.manual_seed(5)
    first = dropout(values, 0.5, training=True)
    torch.manual_seed(5)
    assert torch.equal(first, dropout(values, 0.5, training=True))


def test_evaluation_and_rate_zero_return_the_values_themselves() -> None:
    values = torch.ones(4)
    assert dropout(values, 0.5, training=False) is values
    assert dropout(values, 0.0, training=True) is values


def test_no_values_at_all() -> None:
    assert dropout(torch.ones(0, 3), 0.5, training=True).shape == (0, 3)


def test_rate_that_rounds_to_one() -> None:
    assert (dropout(torch.ones(9), 0.9999999, training=True) == 0).all()


def test_training_may_lower_the_rate_for_a_while() -> None:
    layer = Dropout(0.6)
    values = torch.ones(100_000)
    assert float((layer(values) == 0).double().mean()) == pytest.approx(0.6, abs=0.01)
    layer.share = 0.5
    assert float((layer(values) == 0).double().mean()) == pytest.approx(0.3, abs=0.01)
    layer.share = 0.0
    assert layer(values) is values
    assert Dropout(0.6).eval()(values) is values
