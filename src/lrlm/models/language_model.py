"""What every language model answers: a window and a state in, nats of each document out.

Shapes: B rows (documents of the window), T tokens, X tokens of all rows without padding, D width.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, State
from lrlm.batching import Window
from lrlm.lattice import Lattice


@dataclass(frozen=True)
class WindowScore:
    """−log P of a window's tokens given all before them, document by document."""

    nats_B: Tensor
    """Of all tokens of the row, `</s>` included where the document ends; differentiable."""
    end_nats_B: Tensor
    """Of `</s>` alone; 0 where the document goes on."""
    nats_BT: Tensor | None = None
    """Of each token, where a model makes them one at a time; 0 at padding."""
    lattice: Lattice | None = None
    """All segmentations of the window, where a model sums over them."""
    copied_BT: Tensor | None = None
    """Which tokens were copied, where that is decided for each; they are not spelled."""


class LanguageModel(nn.Module, ABC):
    """A composition of a backbone and heads that gives every text about a topic a probability."""

    backbone: Backbone

    def begin(self, window: Window) -> State:
        """Give the state before the first window of a batch."""
        return self.backbone.initial_state(len(window.lengths_B))

    @abstractmethod
    def forward(self, window: Window, state: State) -> tuple[WindowScore, State]:
        """Score a window and give the state after it; `state` has the window's rows."""


def flat(values_BTD: Tensor, window: Window) -> Tensor:
    """List the vectors or values at real tokens, row by row: (X, …)."""
    return values_BTD[window.mask_BT]


def unflat(values_X: Tensor, window: Window) -> Tensor:
    """Put values of real tokens back into their rows, with 0 at padding: (B, T)."""
    mask_BT = window.mask_BT
    return values_X.new_zeros(mask_BT.shape).masked_scatter(mask_BT, values_X)


def last_token(values_BT: Tensor, window: Window) -> Tensor:
    """Take the value at `</s>` where the document ends, 0 where it goes on: (B,)."""
    last_B1 = (window.lengths_B - 1)[:, None]
    return torch.where(window.ends_B, values_BT.gather(1, last_B1).squeeze(1), 0.0)


def token_by_token(
    log_probs_X: Tensor, window: Window, *, copied_BT: Tensor | None = None
) -> WindowScore:
    """Score a window whose tokens are made one at a time, some of them perhaps by copying."""
    nats_BT = unflat(-log_probs_X, window)
    return WindowScore(
        nats_BT.sum(1), last_token(nats_BT, window), nats_BT=nats_BT, copied_BT=copied_BT
    )
