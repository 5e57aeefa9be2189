"""The choice of a surface form among those of one object."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lrlm.errors import ShapeError
from lrlm.heads import FormHead


@pytest.fixture
def head() -> FormHead:
    return build()


def build() -> FormHead:
    torch.manual_seed(0)
    return FormHead(4, 3).double()


def queries(counts: list[int]) -> Tensor:
    return torch.arange(len(counts)).repeat_interleave(torch.tensor(counts, dtype=torch.long))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=6), st.sampled_from([1.0, 300.0]))
def test_equals_a_softmax_over_the_forms_of_each_choice(counts: list[int], size: float) -> None:
    head = build()
    states = torch.randn(len(counts), 4).double() * size
    features = torch.randn(sum(counts), 3).double()
    log_probs = head.log_probs(states, features, queries(counts))
    start = 0
    for state, count in zip(states, counts, strict=True):
        own = slice(start, start + count)
        expected = (features[own] @ head.linear(state)).log_softmax(0)
        torch.testing.assert_close(log_probs[own], expected, rtol=1e-10, atol=1e-10)
        start += count


def test_a_lone_form_is_certain(head: FormHead) -> None:
    log_probs = head.log_probs(
        torch.randn(3, 4).double() * 1e3, torch.randn(4, 3).double(), torch.tensor([0, 1, 1, 2])
    )
    assert log_probs[0] == 0.0
    assert log_probs[3] == 0.0
    assert float(log_probs[1:3].detach().exp().sum()) == pytest.approx(1.0)


def test_gradient_is_the_slope(head: FormHead) -> None:
    states = torch.randn(3, 4).double().requires_grad_()
    features = torch.randn(5, 3).double()
    query = torch.tensor([0, 0, 0, 2, 2])
    assert torch.autograd.gradcheck(lambda x: head.log_probs(x, features, query), states)


@pytest.mark.parametrize("choices", [0, 2])
def test_no_forms(head: FormHead, choices: int) -> None:
    none = torch.empty(0, dtype=torch.long)
    states = torch.randn(choices, 4).double().requires_grad_()
    log_probs = head.log_probs(states, torch.empty(0, 3).double(), none)
    assert log_probs.shape == (0,)
    torch.autograd.backward(log_probs.sum())
    assert head.linear.weight.grad is not None
    assert (head.linear.weight.grad == 0).all()


def test_wrong_input_is_refused_by_name(head: FormHead) -> None:
    states, features = torch.randn(2, 4).double(), torch.randn(3, 3).double()
    query = torch.tensor([0, 0, 1])
    with pytest.raises(ShapeError, match="states_QD"):
        head.log_probs(states[:, :3], features, query)
    with pytest.raises(ShapeError, match="features_FW"):
        head.log_probs(states, features[:, :2], query)
    with pytest.raises(ShapeError, match="query_F"):
        head.log_probs(states, features, query[:2])


def test_choices_among_shared_forms_are_the_same() -> None:
    torch.manual_seed(0)
    head = FormHead(3, 2).double()
    states, features = torch.randn(2, 3).double(), torch.randn(5, 2).double()
    mask = torch.tensor([[True, True, False, False, False], [False, False, True, True, True]])
    shared = head.masked_log_probs(states, features, mask)
    alone = head.log_probs(states, features, torch.tensor([0, 0, 1, 1, 1]))
    torch.testing.assert_close(shared[mask], alone)
    assert (shared[~mask] == -torch.inf).all()
