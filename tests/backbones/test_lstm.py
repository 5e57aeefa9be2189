"""The LSTM against the contract of backbones and against PyTorch's own packed sequences."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lrlm.backbones import LstmBackbone, LstmConfig, LstmState
from lrlm.errors import InputError
from tests.backbones.contract import INPUT_SIZE, BackboneContract, close, random_inputs


class TestLstm(BackboneContract):
    def build(self, *, dropout: float = 0.0) -> LstmBackbone:
        return LstmBackbone(LstmConfig(layers=2, hidden_size=4, dropout=dropout), INPUT_SIZE)

    @pytest.mark.parametrize("lengths", [[9, 9, 9], [3, 90, 41], [1, 2, 3], [3, 45, 5]])
    def test_equals_a_packed_sequence(self, lengths: list[int]) -> None:
        torch.manual_seed(0)
        backbone = self.build().double()
        reference = nn.LSTM(INPUT_SIZE, 4, 2, batch_first=True).double()
        for layer, module in enumerate(backbone.layers):
            for name, parameter in module.named_parameters():
                getattr(reference, name.replace("_l0", f"_l{layer}")).data.copy_(parameter.data)
        inputs = random_inputs(3, max(lengths))
        state = LstmState(
            random_inputs(2, 3, width=4, seed=1), random_inputs(2, 3, width=4, seed=2)
        )
        packed = pack_padded_sequence(
            inputs, torch.tensor(lengths), batch_first=True, enforce_sorted=False
        )
        packed_outputs, (hidden, cells) = reference(packed, (state.hidden_LBD, state.cells_LBD))
        expected, _ = pad_packed_sequence(packed_outputs, batch_first=True)
        outputs, after = backbone(inputs, torch.tensor(lengths), state)
        close(outputs, expected)
        assert isinstance(after, LstmState)
        close(after.hidden_LBD, hidden)
        close(after.cells_LBD, cells)
        # Their gradients are the same, also where few steps are read one by one.
        parameters = list(backbone.layers.parameters())
        gradients = torch.autograd.grad((outputs**2).sum(), parameters)
        of_packed = torch.autograd.grad((expected**2).sum(), list(reference.parameters()))
        for gradient, other in zip(gradients, of_packed, strict=True):
            close(gradient, other)

    def test_steps_in_single_precision_are_a_window(self) -> None:
        torch.manual_seed(0)
        backbone = LstmBackbone(LstmConfig(layers=2, hidden_size=50, dropout=0.5), 30).eval()
        inputs = torch.randn(10, 40, 30)
        window, last = backbone(inputs, torch.full((10,), 40), backbone.initial_state(10))
        step, state = backbone.stepper(), backbone.initial_state(10)
        with torch.inference_mode():
            for place in range(40):
                outputs, state = step(inputs[:, place], state)
                torch.testing.assert_close(outputs, window[:, place], rtol=0, atol=1e-6)
        torch.testing.assert_close(state.cells_LBD, last.cells_LBD, rtol=0, atol=1e-6)

    def test_gradient_flows_through_the_state(self) -> None:
        torch.manual_seed(0)
        backbone = self.build().double()
        inputs = random_inputs(2, 4).requires_grad_()
        _, state = backbone(inputs, torch.tensor([4, 2]), backbone.initial_state(2))
        backbone(random_inputs(2, 1), torch.tensor([1, 1]), state)[0].sum().backward()
        assert inputs.grad is not None
        assert (inputs.grad[0, 3] != 0).all()
        assert (inputs.grad[1, 1] != 0).all()
        assert (inputs.grad[1, 2:] == 0).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layers", 0),
        ("hidden_size", 0),
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("dropout", float("nan")),
    ],
)
def test_config_errors_name_the_field(field: str, value: float) -> None:
    with pytest.raises(InputError, match=f"model.backbone.{field}"):
        LstmConfig(**{field: value})  # type: ignore[arg-type]


def test_input_size_is_checked() -> None:
    with pytest.raises(InputError, match="input_size"):
        LstmBackbone(LstmConfig(), 0)
