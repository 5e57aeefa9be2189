"""Muon for the matrices between layers, Adam for all else; what they remember can be taken up."""

import pytest
import torch
from torch import Tensor, nn

from lrlm.runs.config import ADAM, MUON
from lrlm.training.optimiser import Optimiser, copies

SIZE, WORDS = 64, 2000


class Network(nn.Module):
    """A table of words, two layers and a small choice."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.ParameterList([torch.randn(WORDS, SIZE)])
        self.lstm = nn.LSTM(SIZE, SIZE)
        self.linear = nn.Linear(SIZE, 2 * SIZE)
        self.choice = nn.Linear(2 * SIZE, 2)
        self.words = nn.Linear(SIZE, WORDS)

    def loss(self) -> Tensor:
        states, _ = self.lstm(self.table[0][:9, None])
        hidden = torch.tanh(self.linear(states))
        chosen: Tensor = self.choice(hidden).square().sum()
        return chosen + torch.logsumexp(self.words(states), 2).sum()


def optimiser(model: Network, method: str) -> Optimiser:
    return Optimiser(model, method=method, shares={"lstm.": 0.5})


def learn(model: Network, optimiser: Optimiser, steps: int) -> None:
    for _ in range(steps):
        optimiser.clear()
        torch.autograd.backward(model.loss())
        optimiser.step(0.01)


def test_muon_learns_the_matrices_between_layers() -> None:
    remembered = optimiser(Network(), MUON).tensors()
    momentum = {name for name in remembered if name.startswith("momentum/")}
    assert momentum == {
        f"momentum/{name}" for name in ("lstm.weight_ih_l0", "lstm.weight_hh_l0", "linear.weight")
    }
    assert {"exp_avg/table.0", "exp_avg/choice.weight", "exp_avg/words.weight"} <= set(remembered)
    assert not any("momentum" in name for name in optimiser(Network(), ADAM).tensors())


def test_parts_may_learn_with_adam_where_others_learn_with_muon() -> None:
    remembered = Optimiser(Network(), method=MUON, with_adam=["lstm"]).tensors()
    momentum = {name for name in remembered if name.startswith("momentum/")}
    assert momentum == {"momentum/linear.weight"}
    assert "exp_avg/lstm.weight_ih_l0" in remembered


def test_an_update_of_muon_is_orthogonal_and_as_large_as_one_of_adam() -> None:
    model = Network()
    before = {name: weights.detach().clone() for name, weights in model.named_parameters()}
    learn(model, optimiser(model, MUON), 1)
    for name, share in (("linear.weight", 1.0), ("lstm.weight_ih_l0", 0.5)):
        update = (before[name] - model.get_parameter(name).detach()) / (0.01 * share)
        singular = torch.linalg.svdvals(update) / (0.2 * max(update.shape) ** 0.5)
        assert 0.4 < singular[: len(singular) // 8].mean().item() < 1.3
        assert 0.02 < update.square().mean().sqrt().item() < 0.3


@pytest.mark.parametrize("method", [ADAM, MUON])
def test_both_learn_and_go_on_from_what_they_remember(method: str) -> None:
    model = Network()
    first = model.loss().item()
    own = optimiser(model, method)
    learn(model, own, 3)
    weights, remembered = copies(dict(model.named_parameters())), copies(own.tensors())
    learn(model, own, 3)
    assert model.loss().item() < first

    other = Network()
    other.load_state_dict(weights)
    resumed = optimiser(other, method)
    resumed.restore(remembered)
    learn(other, resumed, 3)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, other.get_parameter(name)), name
