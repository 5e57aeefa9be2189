"""Find the best segmentation of each text, or draw one from the posterior.

Shape suffixes: B rows, T tokens, E edges, J junctions, L links (as in sweep.py).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from lrlm.lattice.structure import Lattice
from lrlm.lattice.sums import in_working_form, result_type
from lrlm.lattice.sweep import Blocks, block_totals, cut_into_blocks, look_up, segment_max, sweep


class Step(NamedTuple):
    """One segment of a path: tokens `[start, end)` and the number of its edge, None for a WORD."""

    start: int
    end: int
    edge: int | None


def best_paths(lattice: Lattice) -> tuple[Tensor, list[list[Step]]]:
    """Return (B,) the log score of the best segmentation of each row, and its steps.

    Ties are broken from the end of a row backwards: of equally good last segments the WORD is
    taken, else the shorter edge, else the edge with the smaller number; then the same for the
    segments before it. A row that no path gets through has the score −inf and no steps. Scores are
    detached.

    >>> scores_B, paths = best_paths(lattice)
    >>> paths[0]
    [Step(start=0, end=2, edge=0), Step(start=2, end=3, edge=None)]
    """
    working = in_working_form(lattice)
    blocks = cut_into_blocks(working)
    value_J = sweep(blocks, best=True)
    merit_L = look_up(value_J, blocks.source_L) + blocks.gain_L
    scores, paths = _follow(working, blocks, _alive(blocks, value_J), merit_L)
    return scores.to(lattice.words_BT.device, result_type(lattice)), paths


def sample_paths(
    lattice: Lattice, *, generator: torch.Generator | None = None
) -> tuple[Tensor, list[list[Step]]]:
    """Draw a segmentation of each row; return (B,) their log scores, and their steps.

    Draws are exact and independent: a path has the probability exp(score − log-marginal of its
    row). The same lattice and state of the generator give the same paths. A row that no path gets
    through has the score −inf and no steps. Scores are detached.

    >>> scores_B, paths = sample_paths(lattice, generator=torch.Generator().manual_seed(1))
    >>> paths[0][-1].end
    3
    """
    working = in_working_form(lattice)
    blocks = cut_into_blocks(working)
    value_J = sweep(blocks)
    # Paths are drawn from their ends: a path that passes a junction came by each of its links with
    # a probability that does not depend on the rest of the path. So all junctions draw at once,
    # those that the path will pass and those that it will not. Of log-probabilities with Gumbel
    # noise added, the largest is an exact draw.
    incoming_L = look_up(value_J, blocks.source_L) + blocks.gain_L
    noise_device = incoming_L.device if generator is None else generator.device
    exponential_L = torch.empty(incoming_L.shape, dtype=torch.float64, device=noise_device)
    gumbel_L = -exponential_L.exponential_(generator=generator).log_()
    merit_L = incoming_L + gumbel_L.to(incoming_L.device)
    scores, paths = _follow(working, blocks, _alive(blocks, value_J), merit_L)
    return scores.to(lattice.words_BT.device, result_type(lattice)), paths


def _alive(blocks: Blocks, value_J: Tensor) -> list[bool]:
    """Tell for each row whether any path gets through it."""
    alive: list[bool] = (~block_totals(blocks, value_J).sum(1).isneginf()).tolist()
    return alive


def _follow(
    lattice: Lattice, blocks: Blocks, alive: list[bool], merit_L: Tensor
) -> tuple[Tensor, list[list[Step]]]:
    """Return the paths that everywhere take the link of most merit, with their scores."""
    rows, width = blocks.words_BT.shape
    edges, junctions = len(lattice.row_E), len(blocks.level_J)
    device = merit_L.device

    # Of the links with the most merit, take the first in the order that best_paths promises. The
    # order is a number: −1 for a run of words, else made of the edge's length and number.
    length_E = lattice.end_E - lattice.start_E
    order_E = length_E * edges + torch.arange(edges, device=device)
    order_L = torch.cat((order_E, order_E.new_full((junctions,), -1)))
    target_L = blocks.target_L - 1
    most_J = segment_max(merit_L, target_L, junctions)
    is_most_L = merit_L == look_up(most_J, target_L)
    order_L = torch.where(is_most_L, order_L, torch.iinfo(torch.long).max)
    chosen_J = -segment_max(-order_L, target_L, junctions)

    # For each token, the segment by which a path comes to the end of that token.
    edge_J = chosen_J[chosen_J >= 0] % max(edges, 1)
    token_J = look_up(lattice.row_E, edge_J) * width + look_up(lattice.end_E, edge_J) - 1
    position_BT = torch.arange(width, device=device).repeat(rows)
    start_BT = position_BT.index_copy(0, token_J, look_up(lattice.start_E, edge_J))
    edge_BT = torch.full_like(position_BT, -1).index_copy_(0, token_J, edge_J)
    score_J = look_up(lattice.score_E, edge_J).double()
    score_BT = blocks.words_BT.view(-1).index_copy(0, token_J, score_J)

    starts, edge_numbers, scores = (
        table.view(rows, width).tolist() for table in (start_BT, edge_BT, score_BT)
    )
    words = [Step(place, place + 1, None) for place in range(width)]  # all rows share them
    totals: list[float] = []
    paths: list[list[Step]] = []
    for row, length in enumerate(lattice.lengths_B.tolist()):
        if alive[row]:
            total, path = _walk_back(length, starts[row], edge_numbers[row], scores[row], words)
        else:
            total, path = -math.inf, []
        totals.append(total)
        paths.append(path)
    return torch.tensor(totals, dtype=torch.float64), paths


def _walk_back(
    length: int, starts: list[int], edges: list[int], scores: list[float], words: list[Step]
) -> tuple[float, list[Step]]:
    """Return the score and the steps of a path, given the segment that ends with each token."""
    total, path, boundary = 0.0, [], length
    while boundary > 0:
        last = boundary - 1
        start, edge = starts[last], edges[last]
        path.append(words[last] if edge < 0 else Step(start, boundary, edge))
        total += scores[last]
        boundary = start
    path.reverse()
    return total, path
