"""How well relations fit: nothing at first or without relations, never anything of padding."""

import pytest
import torch

from lrlm.errors import InputError
from lrlm.heads import RelationConfig, RelationFit

D, W, R = 4, 3, 2


def head(*, named: bool, deep: bool, seed: int | None = 1) -> RelationFit:
    """A head with random weights, or as training finds it."""
    fit = RelationFit(D, W, named=named, deep=deep).double()
    if seed is not None:
        torch.manual_seed(seed)
        for parameter in fit.parameters():
            torch.nn.init.normal_(parameter)
    return fit


def ask(fit: RelationFit, known: torch.Tensor, *, padding: int = 0) -> torch.Tensor:
    """Ask at three places of each row, beside so many relations that are none."""
    draw = torch.Generator().manual_seed(2)
    states = torch.randn(len(known), 3, D, generator=draw).double()
    vectors = torch.randn(len(known), R, W, generator=draw).double()
    times = torch.tensor([[[0, 0], [1, 0], [2, 1]]]).expand(len(known), 3, R)
    since = torch.tensor([[[0, 0], [4, 0], [1, 7]]]).expand(len(known), 3, R)
    pad = torch.nn.functional.pad
    so_far = (pad(times, (0, padding)), pad(since, (0, padding))) if fit.is_named else ()
    found_BS: torch.Tensor = fit(
        states,
        pad(vectors, (0, 0, 0, padding), value=9.0),
        pad(known, (0, padding), value=False),
        *so_far,
    )
    return found_BS


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("deep", [False, True])
class TestEveryFit:
    def test_training_begins_where_nothing_is_added(self, *, named: bool, deep: bool) -> None:
        found = ask(head(named=named, deep=deep, seed=None), torch.ones(1, R, dtype=torch.bool))
        assert torch.allclose(found, torch.zeros(1, 3).double(), atol=1e-12)

    def test_padding_does_not_matter(self, *, named: bool, deep: bool) -> None:
        fit, known = head(named=named, deep=deep), torch.tensor([[True, True], [True, False]])
        short, long = ask(fit, known), ask(fit, known, padding=3)
        torch.testing.assert_close(short, long)
        assert (short != 0).all()

    def test_a_topic_without_relations_adds_nothing(self, *, named: bool, deep: bool) -> None:
        fit, known = head(named=named, deep=deep), torch.tensor([[True, True], [False, False]])
        found = ask(fit, known)
        assert not found[1].any()
        torch.autograd.backward(found.sum())
        assert all(p.grad is None or p.grad.isfinite().all() for p in fit.parameters())


def test_one_relation_that_fits_very_well_is_enough() -> None:
    fit = head(named=False, deep=False)
    with torch.no_grad():
        fit.by_state.weight.zero_()
        fit.by_state.bias[0] = 40.0
        fit.offered.weight.zero_()
        fit.offered.weight[0, 0] = 1.0  # the first number of a vector is what is compared
    vectors = torch.tensor([[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]]).double()
    known = torch.ones(1, 2, dtype=torch.bool)
    found = fit(torch.zeros(1, 1, D).double(), vectors, known)
    assert found.item() == pytest.approx(40 / (D // 2) ** 0.5 - torch.tensor(2.0).log().item())


def test_the_hidden_layer_sees_which_relations_fit_and_which_were_named() -> None:
    fit = head(named=True, deep=True)
    states, known = torch.zeros(1, 1, D).double(), torch.ones(1, 1, dtype=torch.bool)
    once, never = torch.ones(1, 1, 1, dtype=torch.long), torch.zeros(1, 1, 1, dtype=torch.long)
    with torch.no_grad():  # so that the score alone tells nothing
        fit.by_state.weight.zero_()
        fit.by_state.bias.zero_()
    one, other = torch.ones(1, 1, W).double(), -torch.ones(1, 1, W).double()
    for a, b in [((one, never), (other, never)), ((one, never), (one, once))]:
        left, right = (fit(states, vectors, known, times, times) for vectors, times in (a, b))
        assert (left - right).abs().item() > 1e-6


def test_a_hidden_layer_without_fit_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="deep_fit is for a model that has"):
        RelationConfig(deep_fit=True)
