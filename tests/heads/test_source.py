"""The choice between a word and a relation."""

import pytest
import torch

from lrlm.errors import ShapeError
from lrlm.heads import SourceHead


@pytest.fixture
def head() -> SourceHead:
    torch.manual_seed(0)
    return SourceHead(5).double()


def test_both_sources_sum_to_one(head: SourceHead) -> None:
    log_word, log_relation = head(torch.randn(7, 5).double() * 30, torch.ones(7, dtype=torch.bool))
    torch.testing.assert_close(log_word.exp() + log_relation.exp(), torch.ones(7).double())


def test_without_relations_there_is_only_the_word(head: SourceHead) -> None:
    states = torch.randn(4, 5).double().requires_grad_()
    has_relations = torch.tensor([True, False, True, False])
    log_word, log_relation = head(states, has_relations)
    assert log_word[~has_relations].tolist() == [0.0, 0.0]
    assert log_relation[~has_relations].tolist() == [-torch.inf, -torch.inf]
    torch.autograd.backward(log_word.sum() + log_relation[has_relations].sum())
    assert states.grad is not None
    assert states.grad.isfinite().all()
    assert (states.grad[~has_relations] == 0).all()
    assert (states.grad[has_relations] != 0).any()


def test_gradient_is_the_slope(head: SourceHead) -> None:
    has_relations = torch.tensor([True, True, False])
    states = torch.randn(3, 5).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: head(x, has_relations)[0], states)
    assert torch.autograd.gradcheck(lambda x: head(x, has_relations)[1][:2], states)


def test_no_states(head: SourceHead) -> None:
    log_word, log_relation = head(torch.empty(0, 5).double(), torch.empty(0, dtype=torch.bool))
    assert log_word.shape == log_relation.shape == (0,)


def test_wrong_shapes_are_refused_by_name(head: SourceHead) -> None:
    with pytest.raises(ShapeError, match="states_XD"):
        head(torch.empty(2, 4).double(), torch.ones(2, dtype=torch.bool))
    with pytest.raises(ShapeError, match="has_relations_X"):
        head(torch.empty(2, 5).double(), torch.ones(3, dtype=torch.bool))
