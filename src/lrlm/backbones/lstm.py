"""A stacked LSTM as a backbone.

Shapes: L layers, B rows, T tokens of a window, I input width, D hidden width; N rows that are
still being read, S steps of a piece of the window, G all four gates.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.backbones.backbone import Backbone, BackboneConfig, State, check_window
from lrlm.backbones.fast_cpu import Dropout, packed_linear
from lrlm.checks import DEEPEST, WIDEST, check_at_least, check_range, check_rate, check_shape
from lrlm.errors import InputError

LONGEST_PIECE = 40
"""Steps in one call of the fused LSTM: on a CPU its workspace then stays in the cache."""
_SHORTEST_FUSED = 3
"""Pieces of fewer steps are read step by step on a CPU, where each call of the fused LSTM first
lays out its weights anew."""


@dataclass(frozen=True, slots=True)
class LstmConfig(BackboneConfig):
    """The size of an LSTM; the defaults are the paper's for WikiFacts and WikiText-S.

    `lrlm.train(backbone=…)` takes one.

    >>> LstmConfig(layers=1, hidden_size=200, dropout=0.2).build(input_size=64).output_size
    200
    """

    name: ClassVar[str] = "lstm"
    label: ClassVar[str] = "LSTM"

    layers: int = 2
    """LSTM layers on top of each other."""
    hidden_size: int = 1000
    """Width D of the hidden state of each layer."""
    dropout: float = 0.5
    """Share of values dropped in training: of the inputs, between layers, and of the outputs."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        check_range("model.backbone.layers", self.layers, 1, DEEPEST)
        check_range("model.backbone.hidden_size", self.hidden_size, 1, WIDEST)
        check_rate("model.backbone.dropout", self.dropout)

    def build(self, input_size: int) -> "LstmBackbone":
        """Make an LSTM with fresh weights."""
        return LstmBackbone(self, input_size)


@dataclass(frozen=True, slots=True)
class LstmState(State):
    """Hidden and cell vectors of every layer after the last token that a row has read."""

    hidden_LBD: Tensor
    cells_LBD: Tensor

    @property
    def rows(self) -> int:
        """How many rows are remembered."""
        return self.hidden_LBD.shape[1]

    def tensors(self) -> dict[str, Tensor]:
        """Both tensors by name."""
        return {"hidden_LBD": self.hidden_LBD, "cells_LBD": self.cells_LBD}

    def detach(self) -> "LstmState":
        """The same memory without the graph that made it."""
        return LstmState(self.hidden_LBD.detach(), self.cells_LBD.detach())

    def select(self, rows: Tensor) -> "LstmState":
        """The memory of the rows at these indices, in their order."""
        return LstmState(
            self.hidden_LBD.index_select(1, rows), self.cells_LBD.index_select(1, rows)
        )


class LstmBackbone(Backbone):
    """A stacked LSTM that reads rows of different lengths without reading their padding.

    Rows are sorted by length, so the rows still being read are always the first ones, and the
    window is cut where one of them ends. Each piece is then a full rectangle for the fused LSTM, or
    a few single steps. A packed sequence would do the same, but runs at half the speed on a CPU.
    """

    remembers_all = True

    def __init__(self, config: LstmConfig, input_size: int) -> None:
        super().__init__()
        check_at_least("LstmBackbone.input_size", input_size, 1)
        self.config = config
        self.input_size = input_size
        self.output_size = config.hidden_size
        self.dropout = Dropout(config.dropout)
        widths = [input_size] + [config.hidden_size] * (config.layers - 1)
        self.layers = nn.ModuleList(nn.LSTM(width, config.hidden_size) for width in widths)

    def initial_state(self, rows: int) -> LstmState:
        """Zeros, on the module's device and in its number type."""
        weight = next(self.parameters())
        zeros_LBD = weight.new_zeros(self.config.layers, rows, self.config.hidden_size)
        return LstmState(zeros_LBD, zeros_LBD)

    def restore_state(self, tensors: Mapping[str, Tensor]) -> LstmState:
        """Take up the memory of a checkpoint."""
        device = next(self.parameters()).device
        return LstmState(tensors["hidden_LBD"].to(device), tensors["cells_LBD"].to(device))

    def forward(
        self, inputs_BTI: Tensor, lengths_B: Tensor, state: State
    ) -> tuple[Tensor, LstmState]:
        """Read a window: the hidden states (B, T, D), zero at padding, and the state after it."""
        if not isinstance(state, LstmState):
            raise InputError(f"an LSTM continues from an LstmState, not {type(state).__name__}")
        check_window(inputs_BTI, lengths_B, state.rows, self.input_size)
        order_B = torch.argsort(lengths_B, descending=True, stable=True)
        lengths: list[int] = lengths_B[order_B].tolist()
        longest = lengths[0] if lengths else 0
        values_TBI = inputs_BTI.transpose(0, 1)[:longest].index_select(1, order_B)
        before = state.select(order_B)

        hidden, cells = [], []
        with _own_precision(values_TBI.device):
            values_TBI = values_TBI.to(before.hidden_LBD.dtype)
            for layer, *last in zip(self.layers, before.hidden_LBD, before.cells_LBD, strict=True):
                values_TBI = self.dropout(values_TBI)
                values_TBI, hidden_BD, cells_BD = _read(layer, values_TBI, lengths, *last)
                hidden.append(hidden_BD)
                cells.append(cells_BD)

        place_B = torch.argsort(order_B)
        outputs_TBD = self.dropout(values_TBI)
        outputs_TBD = functional.pad(outputs_TBD, (0, 0, 0, 0, 0, inputs_BTI.shape[1] - longest))
        after = LstmState(torch.stack(hidden), torch.stack(cells)).select(place_B)
        return outputs_TBD.transpose(0, 1).index_select(0, place_B), after

    def stepper(self) -> "LstmStepper":
        """Give a function that reads one token a row, without what only windows need."""
        return LstmStepper(list(self.layers))


def _own_precision(device: torch.device) -> AbstractContextManager[object]:
    """Give a block in which a CPU computes in the weights' own numbers, whatever is around it.

    The fused LSTM lays out its weights anew for every piece that it reads in bfloat16, which takes
    longer than what is gained.
    """
    return torch.autocast("cpu", enabled=False) if device.type == "cpu" else nullcontext()


def _read(
    layer: nn.Module, values_TBI: Tensor, lengths: list[int], hidden_BD: Tensor, cells_BD: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer over rows of descending lengths: outputs (T, B, D), then the last of each row."""
    rows, width = hidden_BD.shape
    hidden_1ND, cells_1ND = hidden_BD[None], cells_BD[None]
    outputs, ended = [values_TBI.new_zeros(0, rows, width)], []
    for start, stop, reading in _pieces(lengths):
        ended.append((hidden_1ND[:, reading:], cells_1ND[:, reading:]))
        states = (hidden_1ND[:, :reading].contiguous(), cells_1ND[:, :reading].contiguous())
        is_short = stop - start < _SHORTEST_FUSED and values_TBI.device.type == "cpu"
        read = partial(_step_by_step, layer) if is_short else layer
        outputs_SND, (hidden_1ND, cells_1ND) = read(values_TBI[start:stop, :reading], states)
        outputs.append(functional.pad(outputs_SND, (0, 0, 0, rows - reading)))
    ended.append((hidden_1ND, cells_1ND))
    hidden, cells = zip(*reversed(ended), strict=True)
    return torch.cat(outputs), torch.cat(hidden, dim=1)[0], torch.cat(cells, dim=1)[0]


def _step_by_step(
    layer: nn.Module, values_SNI: Tensor, states: tuple[Tensor, Tensor]
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Do what a fused LSTM does, with one product for each step."""
    assert isinstance(layer, nn.LSTM)
    of_inputs, of_hidden, *biases = layer.all_weights[0]
    seen_SNG = functional.linear(values_SNI, of_inputs, biases[0] + biases[1])
    (hidden_ND, cells_ND), outputs = (state[0] for state in states), []
    for seen_NG in seen_SNG:
        gates_NG = seen_NG + functional.linear(hidden_ND, of_hidden)
        input_ND, forget_ND, candidate_ND, output_ND = gates_NG.chunk(4, dim=1)
        hidden_ND, cells_ND = _after_gates(
            input_ND.sigmoid(),
            forget_ND.sigmoid(),
            output_ND.sigmoid(),
            candidate_ND.tanh(),
            cells_ND,
        )
        outputs.append(hidden_ND)
    return torch.stack(outputs), (hidden_ND[None], cells_ND[None])


def _pieces(lengths: list[int]) -> Iterator[tuple[int, int, int]]:
    """Descending row lengths → pieces (start, stop, rows still being read) that cover them."""
    start = 0
    for reading in range(len(lengths), 0, -1):
        stop = lengths[reading - 1]
        while start < stop:
            end = min(start + LONGEST_PIECE, stop)
            yield start, end, reading
            start = end


class LstmStepper:
    """Reads one token a row, for generating text, with a copy of the weights as they are now."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        self._cells = [_Cell(layer) for layer in layers]

    def __call__(self, inputs_BI: Tensor, state: State) -> tuple[Tensor, LstmState]:
        """Read one token a row: the hidden states (B, D) and the next state."""
        if not isinstance(state, LstmState):
            raise InputError(f"an LSTM continues from an LstmState, not {type(state).__name__}")
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
        return _after_gates(input_BD, forget_BD, output_BD, candidates_BD, cells_BD)


def _after_gates(
    input_BD: Tensor, forget_BD: Tensor, output_BD: Tensor, candidates_BD: Tensor, cells_BD: Tensor
) -> tuple[Tensor, Tensor]:
    """Give the next hidden and cell vectors."""
    after_BD = torch.addcmul(forget_BD * cells_BD, input_BD, candidates_BD)
    return output_BD * after_BD.tanh(), after_BD


def _sigmoids_first(gates: Tensor) -> Tensor:
    """PyTorch's order input, forget, candidate, output → the candidate last."""
    input_gate, forget_gate, candidate, output_gate = gates.chunk(4)
    return torch.cat([input_gate, forget_gate, output_gate, candidate])
