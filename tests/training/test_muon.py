"""Muon does what PyTorch's own does, and needs no bfloat16 where that is slow."""

import pytest
import torch
from torch import nn

from lrlm.training import muon
from lrlm.training.muon import Muon, orthogonal

SHAPES = {"tall": (12, 5), "wide": (4, 9), "square": (6, 6)}


def weights() -> dict[str, nn.Parameter]:
    draw = torch.Generator().manual_seed(3)
    return {
        name: nn.Parameter(torch.randn(shape, generator=draw)) for name, shape in SHAPES.items()
    }


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_it_does_what_that_of_pytorch_does(
    monkeypatch: pytest.MonkeyPatch, weight_decay: float
) -> None:
    monkeypatch.setattr(muon, "is_made_for_bfloat16", lambda: True)
    ours, theirs = weights(), weights()
    own = Muon(ours, dict.fromkeys(ours, 0.5), weight_decay=weight_decay)
    reference = torch.optim.Muon(
        theirs.values(), lr=0.01, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"
    )
    draw = torch.Generator().manual_seed(4)
    for _ in range(4):
        for name, parameter in ours.items():
            parameter.grad = torch.randn(parameter.shape, generator=draw)
            theirs[name].grad = parameter.grad.clone()
        own.step(0.02)
        reference.step()  # type: ignore[no-untyped-call]
    for name, parameter in ours.items():
        torch.testing.assert_close(parameter, theirs[name])


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values())
def test_singular_vectors_stay_and_values_are_near_one(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], *, is_fast: bool
) -> None:
    monkeypatch.setattr(muon, "is_made_for_bfloat16", lambda: is_fast)
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    found = orthogonal(matrix)
    assert found.dtype == torch.float32
    assert (torch.linalg.svdvals(found) - 1).abs().max() < 0.4
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    turned = left.T @ found @ right.T  # diagonal where the singular vectors are the same
    outside = turned - torch.diag(turned.diagonal())
    assert outside.abs().max() < (0.1 if is_fast else 1e-4)


def test_a_matrix_without_a_gradient_stays_as_it_is() -> None:
    parameters = weights()
    before = {name: each.detach().clone() for name, each in parameters.items()}
    for each in parameters.values():
        each.grad = torch.zeros_like(each)
    Muon(parameters, dict.fromkeys(parameters, 1.0)).step(0.1)
    for name, each in parameters.items():
        assert torch.equal(each, before[name])
