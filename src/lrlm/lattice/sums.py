"""Sum over all segmentations of a text: in all, block by block, and each segment's share of it.

Shape suffixes: B rows, T tokens, E edges, J junctions, K blocks.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lrlm.lattice.structure import Lattice
from lrlm.lattice.sweep import block_totals, cut_into_blocks, look_up, sweep


def log_marginal(lattice: Lattice) -> Tensor:
    """Return (B,) the log of the summed probability of all segmentations of each row.

    It can be differentiated once with respect to `words_BT` and `score_E`; the gradient is the
    posteriors. An empty row gives 0. A row that no path gets through gives −inf and zero gradients.

    >>> log_marginal(lattice)
    tensor([-1.8571])
    """
    words_BT, score_E = lattice.words_BT, lattice.score_E
    if torch.is_grad_enabled() and (words_BT.requires_grad or score_E.requires_grad):
        total_B: Tensor = _LogMarginal.apply(words_BT, score_E, lattice)  # type: ignore[no-untyped-call]
        return total_B
    blocks = cut_into_blocks(in_working_form(lattice))
    total_B = block_totals(blocks, sweep(blocks)).sum(1)
    return total_B.to(words_BT.device, result_type(lattice))


@dataclass(frozen=True, eq=False)
class BlockSums:
    """The independent blocks of all rows with the sum of each, in order of row and start.

    A block is a piece of a row between two boundaries that no edge crosses, with none inside it.
    The blocks of a row cover it from its first token to its last, and most are a single word.
    """

    row_K: Tensor
    """The row of each block."""
    start_K: Tensor
    """The first token of each block."""
    end_K: Tensor
    """The token after the last of each block."""
    covered_K: Tensor
    """Whether edges cover the block; if not, it is one token, always a WORD."""
    total_K: Tensor
    """The log of the summed probability of all segmentations of each block, in float64."""


def block_sums(lattice: Lattice) -> BlockSums:
    """Cut every row where no edge crosses, and sum over all segmentations of each piece.

    The total of a row is the sum of its blocks' totals. An empty row has no blocks. Results are
    detached, and on the CPU where the lattice's device has no float64.

    >>> blocks = block_sums(lattice)
    >>> blocks.start_K, blocks.end_K
    (tensor([0]), tensor([3]))
    """
    blocks = cut_into_blocks(in_working_form(lattice))
    totals_BT = block_totals(blocks, sweep(blocks))
    row_K, last_K = (blocks.closes_block_BT & blocks.inside_BT).nonzero(as_tuple=True)
    place_K = row_K * totals_BT.shape[1] + last_K
    end_K = last_K + 1
    # A block starts where the one before it ends, or at the beginning of its row.
    start_K = torch.zeros_like(end_K)
    start_K[1:] = torch.where(row_K[1:] == row_K[:-1], end_K[:-1], 0)
    return BlockSums(
        row_K=row_K,
        start_K=start_K,
        end_K=end_K,
        covered_K=look_up(blocks.junction_BT, place_K) > 0,
        total_K=look_up(totals_BT, place_K),
    )


def posteriors(lattice: Lattice) -> tuple[Tensor, Tensor]:
    """Return the probability of each WORD (B, T) and of each edge (E,), detached.

    It is the probability that a segmentation, drawn in proportion to its score, holds the segment.
    Padding has probability 0, and so has all of a row that no path gets through.

    >>> word_BT, edge_E = posteriors(lattice)
    >>> edge_E
    tensor([0.8668, 0.1173])
    """
    word_BT, edge_E = _shares(in_working_form(lattice))[1:]
    return (
        word_BT.to(lattice.words_BT.device, lattice.words_BT.dtype),
        edge_E.to(lattice.score_E.device, lattice.score_E.dtype),
    )


class _LogMarginal(torch.autograd.Function):
    """The log-marginal, and its gradient: worked out beside it, kept until it is asked for."""

    @staticmethod
    def forward(ctx: Any, words_BT: Tensor, score_E: Tensor, lattice: Lattice) -> Tensor:
        total_B, word_BT, edge_E = _shares(in_working_form(lattice))
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
    """Return the lattice detached, with int64 indices, on a device that has float64."""
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
    """Return the type of what is made of words and edges together."""
    return torch.promote_types(lattice.words_BT.dtype, lattice.score_E.dtype)


@dataclass(frozen=True, eq=False)
class SumsAround:
    """The sums of all ways that lead to each token and on from it, within its block.

    Blocks are independent: `before + score + after − block` is the log-probability of a segment in
    the whole row, and is as exact in a long row as in a short one.
    """

    words_BT: Tensor
    """The words' scores in float64, 0 beyond a row's length."""
    inside_BT: Tensor
    """Whether a token lies within its row's length."""
    closes_block_BT: Tensor
    """Whether a token is the last of its block."""
    before_BT: Tensor
    """The log-sum of all ways from the block's start to the beginning of each token."""
    after_BT: Tensor
    """The log-sum of all ways from the end of each token to the block's end."""
    block_BT: Tensor
    """The log-sum of all ways through the token's block."""
    total_B: Tensor
    """The log-sum of all ways through each row."""


def sums_around(lattice: Lattice) -> SumsAround:
    """Sum forward and backward over a lattice in working form."""
    rows, width = lattice.words_BT.shape
    # Sums from a boundary to its row's end are sums from the beginning of the mirrored row. The
    # mirrors join the batch as more rows: both directions then take no more steps than one.
    position_T = torch.arange(width, device=lattice.row_E.device)
    mirror_BT = (lattice.lengths_B[:, None] - 1 - position_T).clamp(min=0)
    blocks = cut_into_blocks(_with_mirror(lattice, mirror_BT))
    value_J = sweep(blocks)
    reached_BT = look_up(value_J, blocks.anchor_BT) + blocks.lead_BT
    totals_BT = block_totals(blocks, value_J)[:rows]
    return SumsAround(
        words_BT=blocks.words_BT[:rows],
        inside_BT=blocks.inside_BT[:rows],
        closes_block_BT=blocks.closes_block_BT[:rows],
        before_BT=reached_BT[:rows],
        after_BT=reached_BT[rows:].gather(1, mirror_BT),
        block_BT=totals_BT.gather(1, blocks.last_BT[:rows]),
        total_B=totals_BT.sum(1),
    )


def _shares(lattice: Lattice) -> tuple[Tensor, Tensor, Tensor]:
    """Return (B,) log-marginals, (B, T) and (E,) posteriors, all in float64."""
    row_E = lattice.row_E
    width = lattice.words_BT.shape[1]
    sums = sums_around(lattice)
    # One block without a path leaves the whole row without one.
    alive_B = ~sums.total_B.isneginf()
    word_BT = sums.before_BT + sums.words_BT + sums.after_BT - sums.block_BT
    word_BT = word_BT.exp_().clamp_(max=1.0)
    word_BT = torch.where(sums.inside_BT & alive_B[:, None], word_BT, 0.0)
    first_E, last_E = row_E * width + lattice.start_E, row_E * width + lattice.end_E - 1
    around_E = look_up(sums.before_BT, first_E) + look_up(sums.after_BT, last_E)
    edge_E = (around_E + lattice.score_E - look_up(sums.block_BT, first_E)).exp_().clamp_(max=1.0)
    return sums.total_B, word_BT, torch.where(look_up(alive_B, row_E), edge_E, 0.0)


def _with_mirror(lattice: Lattice, mirror_BT: Tensor) -> Lattice:
    """Return the lattice followed by its mirrored rows, given where each token goes."""
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
