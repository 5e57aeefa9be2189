"""Explain every span that an edge covers: what fills it, in all segmentations of the text.

A segmentation fills a span `[start, end)` in one of three ways: the span is a *copy*, one edge as a
whole; or each of its tokens is a WORD; or it is a *mixture*, several segments of which at least one
is an edge. With the sums over all ways that lead to the span and on from it, and the total of its
block (see sums.py):

    P(the span is filled by these segments) = exp(before + their scores + after − total)

What is left of one are the segmentations in which an edge *crosses* the start or the end of the
span.

Shape suffixes: E edges, P distinct spans in order of row, start and end, C copies (the distinct
labels of each span), M listed mixtures, N tokens of all spans, one span after the other, I pairs of
a span and another one within it, R spans with more mixtures than are listed.
"""

import math
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from lrlm.errors import InputError, ShapeError
from lrlm.lattice.structure import Lattice
from lrlm.lattice.sums import block_sums, in_working_form, sums_around
from lrlm.lattice.sweep import look_up, segment_logsumexp, segment_max


class Mixture(NamedTuple):
    """A way to fill a span with several segments, at least one of them an edge."""

    probability: float
    steps: tuple[tuple[int, int, int | None], ...]
    """Start, end and label of each segment, from left to right; the label of a WORD is None."""


class ExplainedSpan(NamedTuple):
    """The tokens `[start, end)` of a row, and the probability of everything that explains them.

    The probabilities sum to one: of copies, words and mixtures and, where they are not None, of
    other mixtures and crossing.
    """

    start: int
    end: int
    copies: tuple[tuple[int, float], ...]
    """Each label of the span's edges, and the probability that the span is one of these edges."""
    words: float
    """The probability that each token is a WORD."""
    mixtures: tuple[Mixture, ...]
    """Mixtures that are possible, the most probable first."""
    other_mixtures: float | None
    """The probability of all mixtures that are not listed; None if there are no others."""
    crossing: float | None
    """The probability that an edge crosses the span's start or end; None if no edge does."""


def explain(
    lattice: Lattice, label_E: Tensor, *, most_mixtures: int = 64
) -> list[list[ExplainedSpan]]:
    """Explain every distinct span that an edge covers, row by row, in order of start and end.

    `label_E` has an integer for what each edge stands for: edges of one span and one label are one
    explanation, and their probabilities add up. The labels of a span come in the order of its
    edges. Of its mixtures, the `most_mixtures` most probable ones are listed.

    A row that no path gets through has no explained spans. The work is done for all rows at once,
    and one row takes a quarter of the time of sixty: explain many texts in one call.

    >>> (shorter, longer), = explain(lattice, label_E=torch.tensor([7, 8]))
    >>> for label, probability in shorter.copies:
    ...     print(label, f"{probability:.3f}")
    7 0.867
    >>> f"words {shorter.words:.3f}, crossing {shorter.crossing:.3f}"
    'words 0.016, crossing 0.117'
    >>> [mixture.steps for mixture in longer.mixtures]
    [((0, 2, 7), (2, 3, None))]
    """
    _check(lattice, label_E, most_mixtures)
    rows: list[list[ExplainedSpan]] = [[] for _ in range(len(lattice.lengths_B))]
    if not len(label_E):
        return rows
    lattice = in_working_form(lattice)
    sums = sums_around(lattice)
    alive_E = look_up(~sums.total_B.isneginf(), lattice.row_E).nonzero().squeeze(1)
    spans = _distinct_spans(lattice, label_E, alive_E, sums.words_BT)
    mixtures = _find_mixtures(spans, most_mixtures + 1)
    listed = [(span, *way) for span, ways in mixtures.items() for way in ways[:most_mixtures]]
    abridged = {span for span, ways in mixtures.items() if len(ways) > most_mixtures}

    # The share of each explanation in all segmentations of its block.
    around_P = look_up(sums.before_BT, spans.first_P) + look_up(sums.after_BT, spans.last_P)
    around_P -= look_up(sums.block_BT, spans.first_P)
    device = around_P.device
    span_M = torch.tensor([span for span, _, _ in listed], dtype=torch.long, device=device)
    score_M = torch.tensor([score for _, score, _ in listed], dtype=torch.float64, device=device)
    copy_C = (look_up(around_P, spans.span_C) + spans.score_C).exp_()
    mixture_M = (look_up(around_P, span_M) + score_M).exp_()
    words_P = (around_P + spans.words_P).exp_()
    total_P = words_P.index_add(0, spans.span_C, copy_C).index_add_(0, span_M, mixture_M)
    other_P = torch.zeros_like(total_P)
    if abridged:
        span_R = torch.tensor(sorted(abridged), device=device)
        inside_R = (look_up(around_P, span_R) + _sums_inside(spans, span_R)).exp_()
        other_P.index_copy_(0, span_R, (inside_R - look_up(total_P, span_R)).clamp_(min=0.0))
        total_P += other_P
    # The edge of a span leaves no cut within it: if nothing crosses its ends, it is a block.
    opens_P = (spans.start_P == 0) | look_up(sums.closes_block_BT, (spans.first_P - 1).clamp(min=0))
    is_crossed_P = ~(opens_P & look_up(sums.closes_block_BT, spans.last_P))
    crossing_P = torch.where(is_crossed_P, 1.0 - total_P, 0.0).clamp_(min=0.0)
    total_P += crossing_P

    # To divide by the total takes out what rounding has left.
    copy_C /= look_up(total_P, spans.span_C)
    mixture_M /= look_up(total_P, span_M)
    words, others, crossing = (torch.stack((words_P, other_P, crossing_P)) / total_P).tolist()
    starts, ends, is_crossed = spans.start_P.tolist(), spans.end_P.tolist(), is_crossed_P.tolist()
    copies = list(zip(spans.label_C.tolist(), copy_C.tolist(), strict=True))
    first_copy = _offsets(spans.copies_P)
    mixed: dict[int, list[Mixture]] = {}
    for probability, (span, _, copied) in zip(mixture_M.tolist(), listed, strict=True):
        steps = _steps(copied, starts[span], ends[span])
        mixed.setdefault(span, []).append(Mixture(probability, steps))
    for span, row in enumerate(spans.row_P.tolist()):
        rows[row].append(
            ExplainedSpan(
                starts[span],
                ends[span],
                tuple(copies[first_copy[span] : first_copy[span + 1]]),
                words[span],
                tuple(mixed.get(span, ())),
                others[span] if span in abridged else None,
                crossing[span] if is_crossed[span] else None,
            )
        )
    return rows


def _check(lattice: Lattice, label_E: Tensor, most_mixtures: int) -> None:
    if label_E.shape != lattice.row_E.shape:
        raise ShapeError(
            f"label_E has the shape {tuple(label_E.shape)}, "
            f"but {tuple(lattice.row_E.shape)} is needed to agree with row_E"
        )
    if label_E.is_floating_point() or label_E.is_complex() or label_E.dtype == torch.bool:
        raise ShapeError(f"label_E holds {label_E.dtype}, but it must hold integers")
    if most_mixtures < 0:
        raise InputError(f"most_mixtures is {most_mixtures}, but it must be 0 or more")


@dataclass(frozen=True, eq=False)
class _Spans:
    """The distinct spans of a batch: their copies, their words, and which lie within which."""

    row_P: Tensor
    start_P: Tensor
    end_P: Tensor
    first_P: Tensor
    """The first token, counted through all rows with their padding."""
    last_P: Tensor
    """The last token, counted likewise."""
    copies_P: Tensor
    """How many copies a span has, at least one."""
    span_C: Tensor
    """The span of each copy, ascending."""
    label_C: Tensor
    score_C: Tensor
    """The log-sum of the scores of the edges with this span and label."""
    word_N: Tensor
    """The scores of the words of each span."""
    words_P: Tensor
    """Their sum."""
    outer_I: Tensor
    inner_I: Tensor
    """A span within the one of `outer_I`, which is another one; all such pairs, in order."""


def _distinct_spans(lattice: Lattice, label_E: Tensor, keep_E: Tensor, words_BT: Tensor) -> _Spans:
    """Find the distinct spans of some edges, and the distinct labels of each span."""
    width = words_BT.shape[1]
    label_E = look_up(label_E.to(keep_E.device), keep_E)
    row_E, start_E, end_E, score_E = (
        look_up(tensor, keep_E)
        for tensor in (lattice.row_E, lattice.start_E, lattice.end_E, lattice.score_E.double())
    )
    number_E = torch.arange(len(keep_E), device=keep_E.device)
    key_P, span_E = torch.unique(
        (row_E * width + start_E) * (width + 1) + end_E, return_inverse=True
    )
    first_P, end_P = key_P // (width + 1), key_P % (width + 1)
    row_P, start_P = first_P // width, first_P % width

    _, label_number_E = torch.unique(label_E, return_inverse=True)
    key_C, copy_E = torch.unique(span_E * len(keep_E) + label_number_E, return_inverse=True)
    score_C = segment_logsumexp(score_E, copy_E, len(key_C))
    edge_C = -segment_max(-number_E, copy_E, len(key_C))  # the first edge of each copy
    span_C = look_up(span_E, edge_C)
    order_C = (span_C * len(keep_E) + edge_C).argsort()

    last_P = first_P + (end_P - start_P) - 1
    owner_N, token_N = _ranges(first_P, end_P - start_P)
    word_N = look_up(words_BT, token_N)
    outer_I, inner_I = _nested(first_P, last_P)
    return _Spans(
        row_P=row_P,
        start_P=start_P,
        end_P=end_P,
        first_P=first_P,
        last_P=last_P,
        copies_P=torch.bincount(span_C, minlength=len(key_P)),
        span_C=look_up(span_C, order_C),
        label_C=look_up(label_E, look_up(edge_C, order_C)),
        score_C=look_up(score_C, order_C),
        word_N=word_N,
        words_P=word_N.new_zeros(len(key_P)).index_add_(0, owner_N, word_N),
        outer_I=outer_I,
        inner_I=inner_I,
    )


class _Copied(NamedTuple):
    """The last edge of a way to fill a span, and the edges before it."""

    before: "_Copied | None"
    start: int
    end: int
    label: int


_Way = tuple[float, _Copied]
"""The score of a mixture, and its edges; words stand between them."""

_Ending = dict[int, list[tuple[int, list[tuple[int, float]]]]]
"""For a boundary, the starts of the spans that end there, each with its labels and their scores."""


def _find_mixtures(spans: _Spans, most: int) -> dict[int, list[_Way]]:
    """List the `most` best mixtures of each span, for those that have any."""
    starts, ends = spans.start_P.tolist(), spans.end_P.tolist()
    copies = list(zip(spans.label_C.tolist(), spans.score_C.tolist(), strict=True))
    first_copy = _offsets(spans.copies_P)
    ending: dict[int, _Ending] = {}
    for outer, inner in zip(spans.outer_I.tolist(), spans.inner_I.tolist(), strict=True):
        copied = (starts[inner], copies[first_copy[inner] : first_copy[inner + 1]])
        ending.setdefault(outer, {}).setdefault(ends[inner], []).append(copied)
    words, first_word = spans.word_N.tolist(), _offsets(spans.end_P - spans.start_P)
    found = {
        span: _mixtures(starts[span], words[first_word[span] : first_word[span + 1]], within, most)
        for span, within in ending.items()
    }
    return {span: ways for span, ways in found.items() if ways}


def _mixtures(start: int, words: list[float], ending: _Ending, most: int) -> list[_Way]:
    """List the best mixtures of one span, given its words and the spans within it."""
    ways: list[list[_Way]] = [[]]  # to each boundary, with at least one edge
    runs = [0.0]  # to each boundary, with words alone
    for place, word in enumerate(words, start=start + 1):
        found = [(score + word, copied) for score, copied in ways[-1]]
        for begin, copies in ending.get(place, ()):
            before: list[tuple[float, _Copied | None]] = [(runs[begin - start], None)]
            before += ways[begin - start]
            found += [
                (earlier + score, _Copied(copied, begin, place, label))
                for label, score in copies
                for earlier, copied in before
            ]
        possible = [way for way in found if way[0] > -math.inf]
        ways.append(sorted(possible, key=_score, reverse=True)[:most])
        runs.append(runs[-1] + word)
    return ways[-1]


def _steps(copied: _Copied | None, start: int, end: int) -> tuple[tuple[int, int, int | None], ...]:
    """Write out a way to fill a span, with the words that stand between its edges."""
    steps: list[tuple[int, int, int | None]] = []
    while end > start:
        if copied is not None and copied.end == end:
            steps.append((copied.start, end, copied.label))
            copied = copied.before
        else:
            steps.append((end - 1, end, None))
        end = steps[-1][0]
    return tuple(reversed(steps))


def _sums_inside(spans: _Spans, span_R: Tensor) -> Tensor:
    """Return (R,) the log-sum of all ways to fill each of some spans."""
    # The spans stand one after the other in a row of their own. Each holds an edge over all of its
    # tokens, so each is one block.
    length_P = spans.end_P - spans.start_P
    length_R = look_up(length_P, span_R)
    offset_R = length_R.cumsum(0) - length_R
    first_word_P = length_P.cumsum(0) - length_P
    _, word_N = _ranges(look_up(first_word_P, span_R), length_R)
    place_P = torch.full_like(length_P, -1).index_copy_(0, span_R, offset_R)
    is_needed_I = look_up(place_P, spans.outer_I) >= 0
    outer_I = torch.cat((span_R, spans.outer_I[is_needed_I]))
    inner_I = torch.cat((span_R, spans.inner_I[is_needed_I]))
    start_I = look_up(place_P - spans.first_P, outer_I) + look_up(spans.first_P, inner_I)
    score_P = segment_logsumexp(spans.score_C, spans.span_C, len(length_P))
    side_by_side = Lattice(
        look_up(spans.word_N, word_N)[None],
        length_R.sum()[None],
        torch.zeros_like(start_I),
        start_I,
        start_I + look_up(length_P, inner_I),
        look_up(score_P, inner_I),
        checked=False,
    )
    return block_sums(side_by_side).total_K


def _nested(first_P: Tensor, last_P: Tensor) -> tuple[Tensor, Tensor]:
    """Return all pairs of a span and another one that lies within it, in order."""
    # Spans are sorted: those that start within a span follow one another.
    begin_P = torch.searchsorted(first_P, first_P)
    stop_P = torch.searchsorted(first_P, last_P, right=True)
    outer_I, inner_I = _ranges(begin_P, stop_P - begin_P)
    is_within_I = look_up(last_P, inner_I) <= look_up(last_P, outer_I)
    is_pair_I = is_within_I & (inner_I != outer_I)
    return outer_I[is_pair_I], inner_I[is_pair_I]


def _ranges(begin_P: Tensor, length_P: Tensor) -> tuple[Tensor, Tensor]:
    """Write out ranges of numbers one after the other: whose each number is, and the numbers."""
    owner_N = torch.repeat_interleave(length_P)
    shift_P = begin_P - (length_P.cumsum(0) - length_P)
    return owner_N, torch.arange(len(owner_N), device=owner_N.device) + look_up(shift_P, owner_N)


def _offsets(length_P: Tensor) -> list[int]:
    """Return where each of several pieces begins that stand one after the other, and their end."""
    return [0, *length_P.cumsum(0).tolist()]


_score = itemgetter(0)
