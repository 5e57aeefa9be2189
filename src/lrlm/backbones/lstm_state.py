"""What an LSTM remembers of what each row has read.

Shapes: L layers, B rows, D hidden width.
"""

from dataclasses import dataclass

from torch import Tensor

from lrlm.backbones.backbone import State


@dataclass(frozen=True, slots=True)
class LstmState(State):
    """Hidden and cell vectors of every layer after the last token that a row has read."""

    hidden_LBD: Tensor
    cells_LBD: Tensor

    @property
    def rows(self) -> int:
        """How many rows are remembered."""
        return self.hidden_LBD.shape[1]

    def detach(self) -> "LstmState":
        """The same memory without the graph that made it."""
        return LstmState(self.hidden_LBD.detach(), self.cells_LBD.detach())

    def select(self, rows: Tensor) -> "LstmState":
        """The memory of the rows at these indices, in their order."""
        return LstmState(
            self.hidden_LBD.index_select(1, rows), self.cells_LBD.index_select(1, rows)
        )
