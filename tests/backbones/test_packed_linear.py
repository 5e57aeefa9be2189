"""Packed weights give the products of the ones they were made from."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lrlm.backbones import packed_linear
from lrlm.backbones.fast_cpu import PackedLinear, can_be_packed

ROWS = (0, 1, 3, 10, 64)


def weights(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(37, 23, generator=generator, dtype=dtype)
    return weight, torch.randn(37, generator=generator, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("has_bias", [True, False])
def test_the_product_is_the_same_for_any_number_of_rows(dtype: torch.dtype, has_bias: bool) -> None:
    weight, bias = weights(dtype)
    given = bias if has_bias else None
    multiply = packed_linear(weight, given)
    for rows in ROWS:
        values = torch.randn(rows, 23, dtype=dtype)
        torch.testing.assert_close(multiply(values), functional.linear(values, weight, given))


def test_rows_may_lie_apart_in_memory() -> None:
    weight, bias = weights(torch.float32)
    values = torch.randn(10, 60)[:, 20:43]
    expected = functional.linear(values, weight, bias)
    torch.testing.assert_close(packed_linear(weight, bias)(values), expected)


def test_later_changes_of_the_weights_are_not_seen() -> None:
    for dtype in (torch.float32, torch.float64):
        weight, bias = weights(dtype)
        values = torch.randn(4, 23, dtype=dtype)
        expected = functional.linear(values, weight, bias)
        multiply = packed_linear(weight, bias)
        weight.zero_()
        bias.zero_()
        torch.testing.assert_close(multiply(values), expected)


def test_a_build_without_the_kernel_multiplies_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, bias = weights(torch.float32)
    monkeypatch.setattr(torch.ops, "mkldnn", object())
    values = torch.randn(4, 23)
    expected = functional.linear(values, weight, bias)
    assert torch.equal(packed_linear(weight, bias)(values), expected)


def test_a_kernel_that_is_called_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed:
        @staticmethod
        def _reorder_linear_weight(weight: Tensor) -> Tensor:
            return weight

        _linear_pointwise = _reorder_linear_weight

    weight, bias = weights(torch.float32)
    monkeypatch.setattr(torch.ops, "mkldnn", Changed())
    values = torch.randn(4, 23)
    assert torch.equal(packed_linear(weight, bias)(values), functional.linear(values, weight, bias))


@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_layer_is_the_layer(bias: bool) -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(7, 11, bias=bias)
    if not can_be_packed(linear.weight):
        pytest.skip("there is no kernel for it here")
    packed = PackedLinear(linear)
    assert list(packed.parameters()) == []
    assert torch.equal(packed.weight, linear.weight)
    for shape in ((7,), (1, 7), (3, 4, 7), (0, 7), (300, 7)):
        values = torch.randn(shape, requires_grad=True)
        expected = linear(values)
        torch.testing.assert_close(packed(values.detach()), expected)
        torch.testing.assert_close(packed(values), expected)
        weights = torch.randn_like(expected)
        (wanted,) = torch.autograd.grad((expected * weights).sum(), values)
        (found,) = torch.autograd.grad((packed(values) * weights).sum(), values)
        torch.testing.assert_close(found, wanted)
    assert not can_be_packed(linear.weight.double())
    assert not can_be_packed(linear.weight.to("meta"))
