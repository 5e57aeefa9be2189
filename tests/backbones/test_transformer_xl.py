"""Transformer-XL against the contract of backbones and against attention written out in loops."""

import pytest
import torch
from torch import Tensor

from lrlm.backbones import TransformerXlBackbone, TransformerXlConfig, TransformerXlState
from lrlm.errors import InputError
from tests.backbones.contract import INPUT_SIZE, BackboneContract, close, random_inputs
from tests.oracles.relative_attention import read_document


def small(**changes: float) -> TransformerXlConfig:
    sizes: dict[str, float] = {
        "layers": 3,
        "heads": 2,
        "head_size": 3,
        "model_size": 6,
        "feed_forward_size": 8,
        "dropout": 0.0,
        "memory": 70,
        "evaluation_memory": 70,
    }
    return TransformerXlConfig(**{**sizes, **changes})  # type: ignore[arg-type]


def build(input_size: int = INPUT_SIZE, **changes: float) -> TransformerXlBackbone:
    torch.manual_seed(0)
    backbone = TransformerXlBackbone(small(**changes), input_size).double().eval()
    for bias in (backbone.content_bias_HA, backbone.distance_bias_HA):
        torch.nn.init.normal_(bias)
    return backbone


class TestTransformerXl(BackboneContract):
    def build(self, *, dropout: float = 0.0) -> TransformerXlBackbone:
        return TransformerXlBackbone(small(dropout=dropout), INPUT_SIZE)


@pytest.mark.parametrize(("input_size", "model_size"), [(5, 6), (6, 6), (5, 7)])
def test_equals_attention_in_loops(input_size: int, model_size: int) -> None:
    backbone = build(input_size, model_size=model_size)
    inputs = random_inputs(2, 9, width=input_size)
    expected = torch.stack([read_document(backbone, row) for row in inputs])
    outputs, _ = backbone(inputs, torch.tensor([9, 9]), backbone.initial_state(2))
    close(outputs, expected)
    outputs, state = backbone(inputs[:, :4], torch.tensor([4, 2]), backbone.initial_state(2))
    close(outputs[0], expected[0, :4])
    following = torch.stack([inputs[0, 4:9], inputs[1, 2:7]])
    outputs, _ = backbone(following, torch.tensor([5, 5]), state)
    close(outputs[0], expected[0, 4:])
    close(outputs[1], expected[1, 2:7])


def test_memory_of_every_layer_is_what_went_into_it() -> None:
    backbone = build()
    inputs = random_inputs(2, 30)
    whole = backbone(inputs, torch.tensor([30, 21]), backbone.initial_state(2))[1]
    state = backbone.initial_state(2)
    for start, first, second in ((0, 7, 7), (7, 1, 0), (8, 12, 4), (20, 10, 10)):
        offset = {0: 0, 7: 7, 8: 7, 20: 11}[start]
        part = torch.zeros(2, max(first, second), INPUT_SIZE, dtype=torch.float64)
        part[0, :first] = inputs[0, start : start + first]
        part[1, :second] = inputs[1, offset : offset + second]
        state = backbone(part, torch.tensor([first, second]), state)[1]
    assert state.filled_B.tolist() == whole.filled_B.tolist() == [30, 21]
    for layer in range(3):
        for row, filled in enumerate((30, 21)):
            close(state.memory_LBMD[layer, row, -filled:], whole.memory_LBMD[layer, row, -filled:])


@pytest.mark.parametrize("training", [True, False])
def test_memory_has_its_own_length_in_evaluation(training: bool) -> None:
    backbone = build(memory=4, evaluation_memory=9).train(training)
    state = backbone.initial_state(2)
    for _ in range(3):
        state = backbone(random_inputs(2, 5), torch.tensor([5, 1]), state)[1]
    slots = 4 if training else 9
    assert state.memory_LBMD.shape == (3, 2, slots, 6)
    assert state.filled_B.tolist() == [slots, 3]
    assert not state.detach().memory_LBMD.requires_grad


def test_memory_longer_than_the_mode_keeps_is_cut() -> None:
    backbone = build(memory=4, evaluation_memory=9)
    _, state = backbone(random_inputs(1, 9), torch.tensor([9]), backbone.initial_state(1))
    backbone.train()
    outputs, after = backbone(random_inputs(1, 2), torch.tensor([2]), state)
    assert after.memory_LBMD.shape[2] == 4
    assert outputs.isfinite().all()


def test_without_memory_every_window_is_read_alone() -> None:
    backbone = build(memory=0, evaluation_memory=0)
    inputs, lengths = random_inputs(1, 4), torch.tensor([4])
    first, state = backbone(inputs, lengths, backbone.initial_state(1))
    again, _ = backbone(inputs, lengths, state)
    assert torch.equal(first, again)


def test_what_lies_beyond_the_memory_is_forgotten() -> None:
    backbone = build(layers=1, memory=3, evaluation_memory=3)
    lengths, probe = torch.tensor([6]), random_inputs(1, 2, seed=5)
    early, recent = random_inputs(1, 6), random_inputs(1, 6)
    early[0, 2] += 1
    recent[0, 3] += 1
    outputs = []
    for inputs in (random_inputs(1, 6), early, recent):
        state = backbone(inputs, lengths, backbone.initial_state(1))[1]
        outputs.append(backbone(probe, torch.tensor([2]), state)[0])
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.allclose(outputs[0], outputs[2])


def test_empty_slots_are_never_looked_at() -> None:
    backbone = build()
    _, state = backbone(random_inputs(2, 6), torch.tensor([6, 2]), backbone.initial_state(2))
    spoiled_LBMD = state.memory_LBMD.clone()
    spoiled_LBMD[:, 1, :4] = 1e6
    spoiled = TransformerXlState(spoiled_LBMD, state.filled_B)
    probe, lengths = random_inputs(2, 3), torch.tensor([3, 3])
    assert torch.equal(backbone(probe, lengths, state)[0], backbone(probe, lengths, spoiled)[0])


@pytest.mark.parametrize("rates", [{"dropout": 0.5}, {"attention_dropout": 0.5}])
def test_both_dropouts_act_in_training_only(rates: dict[str, float]) -> None:
    backbone = build(INPUT_SIZE, **rates)
    inputs, lengths = random_inputs(1, 6), torch.tensor([6])

    def outputs() -> Tensor:
        result: Tensor = backbone(inputs, lengths, backbone.initial_state(1))[0]
        return result

    assert torch.equal(outputs(), outputs())
    close(outputs(), build()(inputs, lengths, backbone.initial_state(1))[0])
    backbone.train()
    assert not torch.equal(outputs(), outputs())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, 0)
            for name in ("layers", "heads", "head_size", "model_size", "feed_forward_size")
        ),
        ("memory", -1),
        ("evaluation_memory", -1),
        ("dropout", 1.0),
        ("attention_dropout", -0.5),
    ],
)
def test_config_errors_name_the_field(field: str, value: float) -> None:
    with pytest.raises(InputError, match=f"model.backbone.{field}"):
        small(**{field: value})
