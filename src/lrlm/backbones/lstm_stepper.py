"""One token a row and a state in, hidden states and the next state of a stacked LSTM out.

Windows are for training; text is written a token at a time, with weights that stay as they are.

Shapes: B rows, I input width, D hidden width.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from lrlm.backbones.backbone import State
from lrlm.backbones.lstm_state import LstmState
from lrlm.backbones.packed_linear import packed_linear
from lrlm.checks import check_shape
from lrlm.errors import InputError


class LstmStepper:
    """Reads with a copy of the weights of layers that stand on top of each other."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        self._cells = [_Cell(layer) for layer in layers]

    def __call__(self, inputs_BI: Tensor, state: State) -> tuple[Tensor, LstmState]:
        """Read one token a row: the hidden states (B, D) and the next state."""
        if not isinstance(state, LstmState):
            raise InputError(f"An LSTM continues from an LstmState, not {type(state).__name__}")
        check_shape("inputs_BI", inputs_BI, (state.rows, self._cells[0].input_size))
        values_BD, hidden, cells = inputs_BI, [], []
        for cell, *last in zip(self._cells, state.hidden_LBD, state.cells_LBD, strict=True):
            values_BD, cells_BD = cell(values_BD, *last)
            hidden.append(values_BD)
            cells.append(cells_BD)
        return values_BD, LstmState(torch.stack(hidden), torch.stack(cells))


class _Cell:
    """One layer: input and hidden state go through one product to all four gates."""

    def __init__(self, layer: nn.Module) -> None:
        assert isinstance(layer, nn.LSTM)
        self.input_size = layer.input_size
        self._width = layer.hidden_size
        read, kept, *biases = layer.all_weights[0]
        self._gates = packed_linear(
            _sigmoids_first(torch.cat([read, kept], dim=1)), _sigmoids_first(biases[0] + biases[1])
        )

    def __call__(
        self, inputs_BI: Tensor, hidden_BD: Tensor, cells_BD: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Give the next hidden and cell vectors."""
        gates = self._gates(torch.cat([inputs_BI, hidden_BD], dim=1))
        input_BD, forget_BD, output_BD = gates[:, : -self._width].sigmoid().chunk(3, dim=1)
        candidates_BD = gates[:, -self._width :].tanh()
        after_BD = torch.addcmul(forget_BD * cells_BD, input_BD, candidates_BD)
        return output_BD * after_BD.tanh(), after_BD


def _sigmoids_first(gates: Tensor) -> Tensor:
    """PyTorch's order input, forget, candidate, output → the candidate last."""
    input_gate, forget_gate, candidate, output_gate = gates.chunk(4)
    return torch.cat([input_gate, forget_gate, output_gate, candidate])
