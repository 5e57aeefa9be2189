"""Pretrained language models against the contract of backbones, and beyond their context."""

import copy
import gc
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from lrlm.backbones import Backbone, Pretrained, PretrainedBackbone, State
from lrlm.backbones.causal_lm import CausalLM
from lrlm.errors import InputError
from lrlm.tensor_files import write_tensors
from tests.backbones.contract import INPUT_SIZE, BackboneContract, close, random_inputs
from tests.generators.tiny_backbones import (
    folder_of_this_process,
    save_tiny_gemma,
    save_tiny_gpt2,
    save_tiny_hybrid,
    save_tiny_llama,
    save_tiny_mamba,
)

Saver = Callable[..., Path]


@cache
def saved(save: Saver, **options: float) -> str:
    """Make a tiny LM once for all tests of this process."""
    folder = folder_of_this_process()
    return str(save(folder, width=INPUT_SIZE, **options))


def built(save: Saver, **settings: object) -> PretrainedBackbone:
    config = Pretrained(saved(save), **settings)  # type: ignore[arg-type]
    return config.build(INPUT_SIZE)


class PretrainedContract(BackboneContract):
    """What does not learn has no gradient and drops nothing."""

    save: Saver

    def build(self, *, dropout: float = 0.0) -> Backbone:
        return built(type(self).save, context=200)

    def test_a_state_can_be_written(self, backbone: Backbone, tmp_path: Path) -> None:
        _, state = backbone(random_inputs(1, 1), torch.tensor([1]), backbone.initial_state(1))
        write_tensors(tmp_path / "state", state.tensors())
        assert load_file(tmp_path / "state").keys() == state.tensors().keys()

    def test_every_parameter_gets_a_gradient(self, backbone: Backbone) -> None:
        assert list(backbone.parameters()) == []
        backbone.train()
        inputs = random_inputs(2, 6).requires_grad_()
        _, state = backbone(inputs, torch.tensor([6, 3]), backbone.initial_state(2))
        outputs, _ = backbone(random_inputs(2, 6), torch.tensor([6, 3]), state)
        outputs.square().sum().backward()
        assert inputs.grad is not None
        assert (inputs.grad[0] != 0).any()

    def test_dropout_is_inactive_in_evaluation(self) -> None:
        backbone = self.build(dropout=0.5).double().train()
        inputs, lengths = random_inputs(2, 6), torch.tensor([6, 3])
        one, other = (backbone(inputs, lengths, backbone.initial_state(2))[0] for _ in range(2))
        assert torch.equal(one, other)


class TestLlama(PretrainedContract):
    save = staticmethod(save_tiny_llama)


class TestGpt2(PretrainedContract):
    save = staticmethod(save_tiny_gpt2)

    def build(self, *, dropout: float = 0.0) -> Backbone:
        return Pretrained(saved(save_tiny_gpt2, dropout=dropout)).build(INPUT_SIZE)


class TestGemma(PretrainedContract):
    """Sliding windows, capped scores."""

    save = staticmethod(save_tiny_gemma)


class TestMamba(PretrainedContract):
    """No keys and values: everything is read again."""

    save = staticmethod(save_tiny_mamba)


class TestHybrid(PretrainedContract):
    save = staticmethod(save_tiny_hybrid)


class TestLora(BackboneContract):
    def build(self, *, dropout: float = 0.0) -> Backbone:
        backbone = built(save_tiny_llama, tuning="lora", lora_rank=2, lora_dropout=dropout)
        for parameter in backbone.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
        return backbone

    def test_only_adapters_learn(self) -> None:
        backbone = self.build()
        names = [name for name, _ in backbone.named_parameters()]
        assert len(names) == 2 * 7 * 2
        assert names[0] == "adapters.model-layers-0-self_attn-q_proj.A.weight"
        assert all(parameter.requires_grad for parameter in backbone.parameters())
        assert names == [name for name, _ in self.build().named_parameters()]
        assert set(backbone.state_dict()) == set(names)

    def test_adapters_begin_without_effect(self) -> None:
        plain = built(save_tiny_llama).double()
        adapted = built(save_tiny_llama, tuning="lora").double()
        inputs, lengths = random_inputs(2, 5), torch.tensor([5, 3])
        close(
            adapted(inputs, lengths, adapted.initial_state(2))[0],
            plain(inputs, lengths, plain.initial_state(2))[0],
        )


class TestFull(BackboneContract):
    def build(self, *, dropout: float = 0.0) -> Backbone:
        config = Pretrained(saved(save_tiny_gpt2, dropout=dropout), tuning="full")
        return config.build(INPUT_SIZE)

    def test_every_parameter_gets_a_gradient(self, backbone: Backbone) -> None:
        outputs, _ = backbone(random_inputs(2, 6), torch.tensor([6, 3]), backbone.initial_state(2))
        (outputs * random_inputs(2, 6, seed=3)).sum().backward()
        without = [name for name, each in backbone.named_parameters() if each.grad is None]
        assert without == ["language_model.transformer.wte.weight"]  # vectors were given


EVERY_KIND = pytest.mark.parametrize(
    "save", [save_tiny_llama, save_tiny_gpt2, save_tiny_gemma, save_tiny_mamba, save_tiny_hybrid]
)


def in_blocks(backbone: PretrainedBackbone, inputs_TI: Tensor, context: int) -> Tensor:
    """Read a document as it is defined: block by block, each from its beginning."""
    outputs: list[Tensor] = []
    again = context // 2
    begin = 0
    while len(outputs) < len(inputs_TI):
        block = inputs_TI[begin : begin + context]
        states = backbone._lm.read(block[None])[0][0]
        outputs.extend(states[len(outputs) - begin :])
        begin += context - again
    return torch.stack(outputs)


@EVERY_KIND
@pytest.mark.parametrize("context", [8, 7])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_beyond_the_context_only_the_place_matters(
    save: Saver, context: int, dtype: torch.dtype, tolerance: float
) -> None:
    backbone = built(save, context=context).to(dtype)
    lengths = torch.tensor([31, 8, 17, 0, 4])
    inputs = random_inputs(5, 31).to(dtype)
    expected = [
        in_blocks(backbone, row[:length], context)
        for row, length in zip(inputs, lengths, strict=True)
        if length
    ]
    whole, whole_state = backbone(inputs, lengths, backbone.initial_state(5))
    for row, rows_expected in zip((0, 1, 2, 4), expected, strict=True):
        close(whole[row, : len(rows_expected)], rows_expected, tolerance)
        assert (whole[row, len(rows_expected) :] == 0).all()

    generator = torch.Generator().manual_seed(2)
    read, state = torch.zeros(5, dtype=torch.long), backbone.initial_state(5)
    while (read < lengths).any():
        window = torch.minimum(torch.randint(0, 14, (5,), generator=generator), lengths - read)
        part = torch.full((5, int(window.max()), INPUT_SIZE), torch.nan, dtype=dtype)
        for row in range(5):
            part[row, : window[row]] = inputs[row, read[row] : read[row] + window[row]]
        outputs, state = backbone(part, window, state)
        for row in range(5):
            close(
                outputs[row, : window[row]],
                whole[row, read[row] : read[row] + window[row]],
                tolerance,
            )
        read += window
    assert state.filled == whole_state.filled
    step = backbone.stepper()
    one, other = state, whole_state
    for place in range(6):
        token = random_inputs(5, 6, seed=4).to(dtype)[:, place]
        (first, one), (second, other) = step(token, one), step(token, other)
        close(first, second, tolerance)


@EVERY_KIND
def test_gradients_cross_windows_and_blocks(save: Saver) -> None:
    backbone = built(save, context=6).double()
    inputs = random_inputs(2, 10).requires_grad_()
    lengths = torch.tensor([10, 7])
    whole, _ = backbone(inputs, lengths, backbone.initial_state(2))
    weights = random_inputs(2, 10, seed=3)
    (expected,) = torch.autograd.grad((whole * weights).sum(), inputs)
    state: State = backbone.initial_state(2)
    parts = []
    for begin in (0, 4, 8):
        part = inputs[:, begin : begin + 4]
        outputs, state = backbone(part, (lengths - begin).clamp(0, part.shape[1]), state)
        parts.append(outputs)
    (actual,) = torch.autograd.grad((torch.cat(parts, 1) * weights).sum(), inputs)
    close(actual, expected)


def test_gradients_go_through_weights_that_are_laid_out_for_speed() -> None:
    results = []
    for dtype in (torch.float32, torch.float64):
        backbone = built(save_tiny_llama).to(dtype)
        inputs = random_inputs(2, 5).to(dtype).requires_grad_()
        outputs, _ = backbone(inputs, torch.tensor([5, 3]), backbone.initial_state(2))
        (outputs * random_inputs(2, 5, seed=1).to(dtype)).sum().backward()
        assert inputs.grad is not None
        results.append(inputs.grad.double())
    close(results[0], results[1], 1e-4)


def test_a_state_is_a_value() -> None:
    """Two continuations of one state do not see each other, though they share its memory."""
    backbone = built(save_tiny_llama).double()
    inputs = random_inputs(2, 12)
    step = backbone.stepper()
    with torch.inference_mode():
        state: State = backbone.initial_state(2)
        for place in range(3):
            _, state = step(inputs[:, place], state)
        _, left = step(inputs[:, 3], state)
        _, right = step(inputs[:, 4], state)
        _, left = step(inputs[:, 5], left)
        actual, _ = step(inputs[:, 6], right)
        again, _ = step(inputs[:, 6], left)
    full = torch.full((2,), 5)
    for order, found in (([0, 1, 2, 4, 6], actual), ([0, 1, 2, 3, 5, 6], again)):
        full = torch.full((2,), len(order))
        expected, _ = backbone(inputs[:, order], full, backbone.initial_state(2))
        close(found, expected[:, -1])


def test_states_made_in_inference_mode_can_be_gone_on_from_outside() -> None:
    backbone = built(save_tiny_llama).double()
    inputs = random_inputs(1, 9)
    step = backbone.stepper()
    with torch.inference_mode():
        state: State = backbone.initial_state(1)
        for place in range(4):
            _, state = step(inputs[:, place], state)
    for place in range(4, 9):
        outputs, state = step(inputs[:, place], state)
    expected, _ = backbone(inputs, torch.tensor([9]), backbone.initial_state(1))
    close(outputs, expected[:, -1])


def test_all_rows_in_order_are_the_state_itself() -> None:
    backbone = built(save_tiny_llama)
    _, state = backbone(
        random_inputs(2, 3).float(), torch.tensor([3, 2]), backbone.initial_state(2)
    )
    assert state.select(torch.tensor([0, 1])) is state
    assert state.select(torch.tensor([1, 0])) is not state


def test_frozen_models_of_the_same_files_are_one() -> None:
    one, other = built(save_tiny_llama), built(save_tiny_llama)
    assert one._lm is other._lm
    double = built(save_tiny_llama).double()
    assert double._lm is not one._lm
    assert one._lm.dtype == torch.float32
    assert double.float()._lm is one._lm
    assert copy.deepcopy(one)._lm is one._lm
    tuned = built(save_tiny_llama, tuning="lora")
    assert tuned._lm is not one._lm


def test_a_frozen_model_that_nobody_uses_is_let_go() -> None:
    from lrlm.backbones.causal_lm import _SHARED

    folder = save_tiny_llama(folder_of_this_process(), width=8)
    backbone = Pretrained(str(folder)).build(8)
    key = next(key for key in _SHARED if key[0] == backbone.files.fingerprint)
    del backbone
    gc.collect()
    assert key not in _SHARED


def test_computing_the_states_twice_changes_nothing() -> None:
    results = []
    for twice in (False, True):
        torch.manual_seed(0)
        backbone = built(
            save_tiny_llama, tuning="lora", lora_rank=2, gradient_checkpointing=twice
        ).train()
        for parameter in backbone.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
        inputs = random_inputs(2, 8).float()
        lengths = torch.tensor([4, 3])
        first, state = backbone(inputs[:, :4], lengths, backbone.initial_state(2))
        second, state = backbone(inputs[:, 4:], lengths, state)
        (first.square().sum() + second.sum()).backward()
        gradients = [each.grad for each in backbone.parameters()]
        backbone.eval()
        third, _ = backbone(inputs[:, :4], lengths, state)
        results.append([first, second, third, *gradients])
    for one, other in zip(*results, strict=True):
        assert one is not None
        assert other is not None
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_bfloat16_and_autocast_give_the_type_of_the_inputs() -> None:
    inputs, lengths = random_inputs(2, 6).float(), torch.tensor([6, 3])
    exact = built(save_tiny_llama)
    expected, _ = exact(inputs, lengths, exact.initial_state(2))
    low = built(save_tiny_llama, precision="bfloat16")
    assert low._lm.dtype == torch.bfloat16
    outputs, state = low(inputs, lengths, low.initial_state(2))
    assert outputs.dtype == torch.float32
    assert low.embed(torch.tensor([3])).dtype == torch.float32
    torch.testing.assert_close(outputs, expected, rtol=0.2, atol=0.2)
    assert low.float()._lm.dtype == torch.bfloat16
    assert low.double()._lm.dtype == torch.float64
    for tuning in ("frozen", "lora", "full"):
        backbone = built(save_tiny_llama, tuning=tuning)
        with torch.autocast("cpu", torch.bfloat16):
            outputs, state = backbone(inputs, lengths, backbone.initial_state(2))
            outputs, _ = backbone(inputs, lengths, state)
        assert outputs.dtype == torch.float32
        assert outputs.isfinite().all()
    full = built(save_tiny_llama, tuning="full", precision="bfloat16")
    assert full._lm.dtype == torch.float32
    torch.testing.assert_close(
        full(inputs, lengths, full.initial_state(2))[0], expected, rtol=0.2, atol=0.2
    )


def test_the_context_is_never_longer_than_the_models_own() -> None:
    assert built(save_tiny_gpt2, context=10_000).context == 64
    assert built(save_tiny_gpt2, context=10).context == 10
    assert built(save_tiny_mamba, context=10).context == 10


def test_wrong_settings_are_refused_by_name() -> None:
    for settings in (
        {"tuning": "some"},
        {"precision": "float16"},
        {"context": 1},
        {"lora_rank": 0},
        {"lora_dropout": 1.0},
    ):
        with pytest.raises(InputError, match=rf"model\.backbone\.{next(iter(settings))}"):
            Pretrained("x", **settings)
    with pytest.raises(InputError, match=r"model\.backbone\.source is not set"):
        Pretrained().fixed_input_size()
    with pytest.raises(InputError, match="reads vectors of width 6, not 7"):
        Pretrained(saved(save_tiny_llama)).build(7)


def test_models_that_look_ahead_or_score_otherwise_are_refused() -> None:
    lm = built(save_tiny_llama, tuning="full")._lm
    with pytest.raises(InputError, match="looks ahead"):
        _spoil(
            lm, "last_hidden_state", lambda states: states + states.mean(1, keepdim=True)
        ).check()
    lm = built(save_tiny_llama, tuning="full")._lm
    with pytest.raises(InputError, match="own scores"):
        _spoil(lm, "logits", lambda scores: scores * scores).check()


def _spoil(lm: CausalLM, name: str, change: Callable[[Tensor], Tensor]) -> CausalLM:
    def hook(_: object, __: object, outputs: object) -> object:
        setattr(outputs, name, change(getattr(outputs, name)))
        return outputs

    (lm.module if name == "logits" else lm.body).register_forward_hook(hook)
    return lm
