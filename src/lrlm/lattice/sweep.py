"""Sum, or take the maximum, over all paths to every place in a batch where paths meet.

Going boundary by boundary would cost T sequential steps, although spans are rare. Three facts
leave few steps, and none of them is an approximation:

1. A boundary that no span crosses cuts a lattice into two independent ones. Every piece without
   such a cut inside is a *block*; the score of a row is the sum of its blocks', and most blocks
   are one word. All blocks of all rows are worked on at once, as if each were a row of its own.
2. Inside a block, paths only meet where a span ends. Such a boundary is a *junction*. Between
   junctions there are only words, whose scores simply add up: a *run* of words. The *level* of a
   junction is the number of junctions that come before it in its block.
3. Between two junctions all *links* (a span with the run of words that leads to it, or a run
   alone) are parallel, and are merged before the sweep. A junction of level k is then left with at
   most k + 1 links: from the junctions before it and from the block's beginning.

What remains sequential is one step per level for the whole batch, usually two or three steps.

Everything is added in float64: the sum of 10,000 scores around 100 is wrong by 0.1 to 1 in
float32, and a posterior is the exponential of a difference of such sums. Scores are only ever
added, and never subtracted to undo an addition (no differences of prefix sums), so −inf needs no
special care and a huge score cannot wipe out the small ones after it.

Shape suffixes: B rows, T tokens, S = T + 1 boundaries, E edges, J junctions, K levels, M merged
links, L = E + J links: one per edge in the edges' order, then the run of words into each junction.
Junctions are numbered from 1, by level; number 0 stands for the beginning of any block.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lrlm.lattice.structure import Lattice


@dataclass(frozen=True, eq=False)
class Blocks:
    """A batch of lattices cut into blocks, and the links between their junctions."""

    words_BT: Tensor
    """The words' scores in float64, 0 beyond a row's length."""
    inside_BT: Tensor
    """Whether a token lies within its row's length."""
    closes_block_BT: Tensor
    """Whether a token is the last of its block."""
    last_BT: Tensor
    """The last token of each token's block."""
    junction_BT: Tensor
    """The junction at the end of each token, 0 where no edge ends there."""
    anchor_BT: Tensor
    """The last junction of its block at or before the beginning of each token, 0 without one."""
    lead_BT: Tensor
    """The sum of the words between that anchor and the beginning of the token."""
    source_L: Tensor
    """The junction a link comes from, or 0."""
    target_L: Tensor
    """The junction a link leads to, always a larger number."""
    gain_L: Tensor
    """The score of a link: its run of words and, for the first E links, its edge."""
    level_J: Tensor
    """The levels of junctions 1 to J, ascending."""


def cut_into_blocks(lattice: Lattice) -> Blocks:
    """Cut a lattice with int64 indices into blocks, and find their junctions and links."""
    rows, width = lattice.words_BT.shape
    row_E, start_E, end_E = lattice.row_E, lattice.start_E, lattice.end_E
    device = row_E.device
    position_T = torch.arange(width, device=device)
    inside_BT = position_T < lattice.lengths_B[:, None]
    words_BT = torch.where(inside_BT, lattice.words_BT, 0.0).double()
    score_E = lattice.score_E.double()

    # Which boundaries cut the row, and which end an edge. Edge [i, j) crosses i + 1 … j − 1.
    boundaries = width + 1
    one_E = torch.ones_like(row_E)
    crossing_BS = torch.zeros(rows * boundaries, dtype=torch.long, device=device)
    crossing_BS.index_add_(0, row_E * boundaries + start_E + 1, one_E)
    crossing_BS.index_add_(0, row_E * boundaries + end_E, one_E, alpha=-1)
    cut_BS = crossing_BS.view(rows, boundaries).cumsum(1) == 0
    ends_BS = torch.zeros(rows * boundaries, dtype=torch.bool, device=device)
    ends_BS.index_fill_(0, row_E * boundaries + end_E, True)
    ends_BS = ends_BS.view(rows, boundaries)
    cut_before_BT, cut_after_BT = cut_BS[:, :-1], cut_BS[:, 1:]

    # Runs of words: where each begins, and the sum of its words.
    begins_run_BT = cut_before_BT | ends_BS[:, :-1]
    run_BT = torch.where(begins_run_BT, position_T, 0).cummax(1).values
    run_sum_BT = _sum_within_runs(words_BT, position_T - run_BT)
    lead_BT = torch.zeros_like(words_BT)
    lead_BT[:, 1:] = torch.where(begins_run_BT[:, 1:], 0.0, run_sum_BT[:, :-1])

    # Junctions, numbered by level: how many edge ends there are since the block's beginning.
    block_BT = torch.where(cut_before_BT, position_T, 0).cummax(1).values
    count_BS = ends_BS.cumsum(1)
    level_BT = count_BS[:, 1:] - count_BS.gather(1, block_BT) - 1
    token_J = ends_BS[:, 1:].reshape(-1).nonzero().squeeze(1)
    level_J, order_J = look_up(level_BT, token_J).sort(stable=True)
    token_J = look_up(token_J, order_J)
    number_J = torch.arange(1, len(token_J) + 1, device=device)
    junction_BT = torch.zeros(rows * width, dtype=torch.long, device=device)
    junction_BT = junction_BT.index_copy_(0, token_J, number_J).view(rows, width)
    behind_BT = torch.zeros_like(junction_BT)
    behind_BT[:, 1:] = torch.where(cut_before_BT[:, 1:], 0, junction_BT[:, :-1])
    anchor_BT = behind_BT.gather(1, run_BT)

    first_E, last_E = row_E * width + start_E, row_E * width + end_E - 1
    return Blocks(
        words_BT=words_BT,
        inside_BT=inside_BT,
        closes_block_BT=cut_after_BT,
        last_BT=_next_where(cut_after_BT, position_T),
        junction_BT=junction_BT,
        anchor_BT=anchor_BT,
        lead_BT=lead_BT,
        source_L=torch.cat((look_up(anchor_BT, first_E), look_up(anchor_BT, token_J))),
        target_L=torch.cat((look_up(junction_BT, last_E), number_J)),
        gain_L=torch.cat((score_E + look_up(lead_BT, first_E), look_up(run_sum_BT, token_J))),
        level_J=level_J,
    )


def sweep(blocks: Blocks, *, best: bool = False) -> Tensor:
    """Return (1 + J,) the log-sum of all paths from its block's start to each junction.

    With `best`, it is their maximum. Entry 0 belongs to the beginning of any block and is 0.
    """
    device = blocks.gain_L.device
    junctions = len(blocks.level_J)
    value_J = torch.zeros(junctions + 1, dtype=torch.float64, device=device)
    if junctions == 0:
        return value_J

    # Merge the links between the same two junctions.
    pair_L = blocks.target_L * (junctions + 1) + blocks.source_L
    pair_M, merged_L = torch.unique(pair_L, return_inverse=True)
    target_M, source_M = pair_M // (junctions + 1), pair_M % (junctions + 1)
    merge = segment_max if best else segment_logsumexp
    gain_M = merge(blocks.gain_L, merged_L, len(pair_M))

    # Lay the links of each level out as a rectangle, junctions × links, filled up with −inf. Pairs
    # are sorted by target, so the column of a link is its distance from its target's first.
    links_J = torch.bincount(target_M, minlength=junctions + 1)
    first_J = links_J.cumsum(0) - links_J
    column_M = torch.arange(len(pair_M), device=device) - look_up(first_J, target_M)
    lines_K = torch.bincount(blocks.level_J)
    columns_K = segment_max(links_J[1:], blocks.level_J, len(lines_K))
    area_K = lines_K * columns_K
    level_M = look_up(blocks.level_J, target_M - 1)
    line_M = target_M - 1 - look_up(lines_K.cumsum(0) - lines_K, level_M)
    rectangle_M = look_up(area_K.cumsum(0) - area_K, level_M)
    cell_M = rectangle_M + line_M * look_up(columns_K, level_M) + column_M
    lines, columns, areas = torch.stack((lines_K, columns_K, area_K)).tolist()
    source = torch.zeros(sum(areas), dtype=torch.long, device=device)
    source.index_copy_(0, cell_M, source_M)
    gain = torch.full((sum(areas),), -torch.inf, dtype=torch.float64, device=device)
    gain.index_copy_(0, cell_M, gain_M)

    for level_value, level_source, level_gain, links in zip(
        torch.split(value_J[1:], lines),
        torch.split(source, areas),
        torch.split(gain, areas),
        columns,
        strict=True,
    ):
        incoming = value_J.index_select(0, level_source).add_(level_gain).view(-1, links)
        if best:
            torch.amax(incoming, 1, out=level_value)
        else:
            torch.logsumexp(incoming, 1, out=level_value)
    return value_J


def block_totals(blocks: Blocks, value_J: Tensor) -> Tensor:
    """Return (B, T) the total of each block at its last token, 0 elsewhere.

    The total of a row is the sum over its tokens. The last boundary of a block is a junction,
    unless the block is one word that no edge covers.
    """
    value_BT = look_up(value_J, blocks.junction_BT)
    ending_BT = torch.where(blocks.junction_BT > 0, value_BT, blocks.words_BT)
    return torch.where(blocks.closes_block_BT, ending_BT, 0.0)


def look_up(table: Tensor, index: Tensor) -> Tensor:
    """Return what stands at places of a flattened table, in the shape of `index`."""
    # Faster than `table[index]` and `table.take(index)`, which wake up threads for a thousand
    # entries: on a busy machine waiting for them costs more than the rest of the lattice.
    return table.reshape(-1).index_select(0, index.reshape(-1)).view(index.shape)


def segment_max(value_L: Tensor, segment_L: Tensor, segments: int) -> Tensor:
    """Return the largest value of each segment, none of which may be empty."""
    largest = value_L.new_zeros(segments)
    return largest.scatter_reduce_(0, segment_L, value_L, "amax", include_self=False)


def segment_logsumexp(value_L: Tensor, segment_L: Tensor, segments: int) -> Tensor:
    """Return the log-sum-exp of each segment, none of which may be empty."""
    largest = segment_max(value_L, segment_L, segments)
    # A segment of nothing but −inf is measured from 0: −inf − (−inf) would be NaN.
    peak = torch.where(largest.isneginf(), 0.0, largest)
    share_L = (value_L - look_up(peak, segment_L)).exp_()
    sums = torch.zeros_like(peak).index_add_(0, segment_L, share_L)
    return sums.log_().add_(peak)


def _sum_within_runs(words_BT: Tensor, since_BT: Tensor) -> Tensor:
    """Return the sum of each word and those of its run before it, given how many those are."""
    sum_BT = words_BT.clone()
    longest = int(since_BT.max()) if since_BT.numel() else 0
    # After each round an entry is the sum of twice as many words, never reaching beyond its run.
    distance = 1
    while distance <= longest:
        reaches = since_BT[:, distance:] >= distance
        sum_BT[:, distance:] += torch.where(reaches, sum_BT[:, :-distance], 0.0)
        distance *= 2
    return sum_BT


def _next_where(mask_BT: Tensor, position_T: Tensor) -> Tensor:
    """Return for each place the first, itself or later, where the row's mask is true."""
    place_BT = torch.where(mask_BT, position_T, len(position_T) - 1)
    return place_BT.flip(1).cummin(1).values.flip(1)
