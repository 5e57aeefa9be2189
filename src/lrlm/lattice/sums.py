"""Takes a lattice; gives the log of the sum over all paths, and each segment's share of that sum.

Shape suffixes: B rows, T tokens, E edges, J junctions.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lrlm.lattice.structure import Lattice
from lrlm.lattice.sweep import block_totals, cut_into_blocks, look_up, sweep


def log_marginal(lattice: Lattice) -> Tensor:
    """Take a lattice; give (B,) the log of the summed probability of all segmentations of each row.

    It can be differentiated once with respect to `words_BT` and `score_E`; the gradient is the
    posteriors. An empty row gives 0. A row that no path gets through gives −inf and zero gradients.
    """
    words_BT, score_E = lattice.words_BT, lattice.score_E
    if torch.is_grad_enabled() and (words_BT.requires_grad or score_E.requires_grad):
        total_B: Tensor = _LogMarginal.apply(words_BT, score_E, lattice)  # type: ignore[no-untyped-call]
        return total_B
    blocks = cut_into_blocks(in_working_form(lattice))
    total_B = block_totals(blocks, sweep(blocks)).sum(1)
    return total_B.to(words_BT.device, result_type(lattice))


def posteriors(lattice: Lattice) -> tuple[Tensor, Tensor]:
    """Take a lattice; give the probability of each WORD (B, T) and of each edge (E,), detached.

    It is the probability that a segmentation, drawn in proportion to its score, holds the segment.
    Padding has probability 0, and so has all of a row that no path gets through.
    """
    _, word_BT, edge_E = _total_and_posteriors(lattice)
    return (
        word_BT.to(lattice.words_BT.device, lattice.words_BT.dtype),
        edge_E.to(lattice.score_E.device, lattice.score_E.dtype),
    )


class _LogMarginal(torch.autograd.Function):
    """The log-marginal, and its gradient: worked out beside it, kept until it is asked for."""

    @staticmethod
    def forward(ctx: Any, words_BT: Tensor, score_E: Tensor, lattice: Lattice) -> Tensor:
        total_B, word_BT, edge_E = _total_and_posteriors(lattice)
        ctx.save_for_backward(
            word_BT.to(words_BT.device, words_BT.dtype),
            edge_E.to(score_E.device, score_E.dtype),
            lattice.row_E.long(),
            total_B.isneginf().to(words_BT.device),
        )
        return total_B.to(words_BT.device, result_type(lattice))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_B: Tensor) -> tuple[Tensor, Tensor, None]:
        word_BT, edge_E, row_E, dead_B = ctx.saved_tensors
        # The gradient of a loss at −inf may be infinite, and 0 × inf would be NaN.
        grad_B = torch.where(dead_B, 0.0, grad_B)
        return word_BT * grad_B[:, None], edge_E * look_up(grad_B, row_E), None


def in_working_form(lattice: Lattice) -> Lattice:
    """Take a lattice; give it detached, with int64 indices, on a device that has float64."""
    # Apple's devices have no float64. A lattice is small enough to be worked out on the CPU.
    device = lattice.words_BT.device
    if device.type == "mps":
        device = torch.device("cpu")
    return Lattice(
        lattice.words_BT.detach().to(device),
        lattice.lengths_B.to(device, torch.long),
        lattice.row_E.to(device, torch.long),
        lattice.start_E.to(device, torch.long),
        lattice.end_E.to(device, torch.long),
        lattice.score_E.detach().to(device),
        checked=False,
    )


def result_type(lattice: Lattice) -> torch.dtype:
    """Take a lattice; give the type of what is made of words and edges together."""
    return torch.promote_types(lattice.words_BT.dtype, lattice.score_E.dtype)


def _total_and_posteriors(lattice: Lattice) -> tuple[Tensor, Tensor, Tensor]:
    """Take a lattice; give (B,) log-marginals, (B, T) and (E,) posteriors, all in float64."""
    lattice = in_working_form(lattice)
    row_E = lattice.row_E
    rows, width = lattice.words_BT.shape

    # Sums from a boundary to its row's end are sums from the beginning of the mirrored row. The
    # mirrors join the batch as more rows: both directions then take no more steps than one.
    position_T = torch.arange(width, device=row_E.device)
    mirror_BT = (lattice.lengths_B[:, None] - 1 - position_T).clamp(min=0)
    blocks = cut_into_blocks(_with_mirror(lattice, mirror_BT))
    value_J = sweep(blocks)
    reached_BT = look_up(value_J, blocks.anchor_BT) + blocks.lead_BT
    before_BT, after_BT = reached_BT[:rows], reached_BT[rows:].gather(1, mirror_BT)
    totals_BT = block_totals(blocks, value_J)[:rows]
    total_B = totals_BT.sum(1)

    # Blocks are independent, so the posterior of a segment depends on its own block alone and is
    # as exact in a long row as in a short one. But one block without a path leaves the row without.
    block_BT = totals_BT.gather(1, blocks.last_BT[:rows])
    alive_B = ~total_B.isneginf()
    word_BT = (before_BT + blocks.words_BT[:rows] + after_BT - block_BT).exp_().clamp_(max=1.0)
    word_BT = torch.where(blocks.inside_BT[:rows] & alive_B[:, None], word_BT, 0.0)
    first_E, last_E = row_E * width + lattice.start_E, row_E * width + lattice.end_E - 1
    around_E = look_up(before_BT, first_E) + look_up(after_BT, last_E)
    edge_E = (around_E + lattice.score_E - look_up(block_BT, first_E)).exp_().clamp_(max=1.0)
    return total_B, word_BT, torch.where(look_up(alive_B, row_E), edge_E, 0.0)


def _with_mirror(lattice: Lattice, mirror_BT: Tensor) -> Lattice:
    """Take a lattice and where each token goes; give the lattice followed by its mirrored rows."""
    length_E = look_up(lattice.lengths_B, lattice.row_E)
    return Lattice(
        torch.cat((lattice.words_BT, lattice.words_BT.gather(1, mirror_BT))),
        lattice.lengths_B.repeat(2),
        torch.cat((lattice.row_E, lattice.row_E + len(lattice.lengths_B))),
        torch.cat((lattice.start_E, length_E - lattice.end_E)),
        torch.cat((lattice.end_E, length_E - lattice.start_E)),
        lattice.score_E.repeat(2),
        checked=False,
    )
