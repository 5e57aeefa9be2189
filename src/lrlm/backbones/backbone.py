"""The contract of every backbone: vectors and a state in, hidden states and the next state out.

Shapes: B rows, T tokens of a window, I input width, D output width.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from lrlm.checks import check_shape
from lrlm.errors import ShapeError


class State(ABC):
    """What a backbone remembers of what each row has read; a value, never changed in place."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows are remembered."""

    @abstractmethod
    def detach(self) -> Self:
        """The same memory without the graph that made it, for truncated backpropagation."""

    @abstractmethod
    def select(self, rows: Tensor) -> Self:
        """The memory of the rows at these indices, in their order; an index may come twice."""


Stepper = Callable[[Tensor, State], tuple[Tensor, State]]
"""Vectors (B, I) and a state in, the hidden states (B, D) and the next state out."""


class Backbone(nn.Module, ABC):
    """A causal sequence model: output `t` is the hidden state after reading input `t`.

    Rows of a window may have different lengths, also none. What stands in the padding after a
    row's end is never read; outputs there are zero. The returned state of a row is the one after
    its own last token, so that a document read in many windows is the same as in one.
    """

    input_size: int
    """Width I of the vectors that are read."""

    output_size: int
    """Width D of the hidden states."""

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """The state before anything was read, on the module's device and in its number type."""

    @abstractmethod
    def forward(self, inputs_BTI: Tensor, lengths_B: Tensor, state: State) -> tuple[Tensor, State]:
        """Read a window: the hidden states (B, T, D), zero at padding, and the state after it."""

    def stepper(self) -> Stepper:
        """Give what reads one token a row as `forward` does, to write text with.

        It drops nothing, gives no gradients, and may keep the weights as they are now.
        """
        return self._step

    def _step(self, inputs_BI: Tensor, state: State) -> tuple[Tensor, State]:
        lengths_B = torch.ones(len(inputs_BI), dtype=torch.long, device=inputs_BI.device)
        outputs_B1D, after = self(inputs_BI[:, None], lengths_B, state)
        return outputs_B1D[:, 0], after


def check_window(inputs_BTI: Tensor, lengths_B: Tensor, state_rows: int, input_size: int) -> None:
    """Refuse a window whose parts disagree with each other or with the backbone."""
    check_shape("inputs_BTI", inputs_BTI, (None, None, input_size))
    rows, steps, _ = inputs_BTI.shape
    check_shape("lengths_B", lengths_B, (rows,))
    if state_rows != rows:
        raise ShapeError(f"state remembers {state_rows} rows, but inputs_BTI has {rows}")
    wrong = ((lengths_B < 0) | (lengths_B > steps)).nonzero()
    if len(wrong):
        row = int(wrong[0])
        raise ShapeError(
            f"lengths_B[{row}] is {int(lengths_B[row])}, but inputs_BTI has {steps} tokens a row"
        )
