"""What one row of a lattice means, from plain lists and by listing every segmentation."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

Segment = tuple[int, int, int | None]
"""Start, end (half-open) and the number of the edge, or None for a WORD."""


class Edge(NamedTuple):
    """A span with its number in the batch."""

    start: int
    end: int
    number: int
    score: float


class Row(NamedTuple):
    """One text: the scores of its words, and the edges over it."""

    words: list[float]
    edges: list[Edge]


def segmentations(row: Row, start: int = 0) -> Iterator[tuple[float, list[Segment]]]:
    """Every way to cut the row from `start` to its end, with its score."""
    if start == len(row.words):
        yield 0.0, []
        return
    first: list[tuple[float, Segment]] = [(row.words[start], (start, start + 1, None))]
    first += [(edge.score, edge[:3]) for edge in row.edges if edge.start == start]
    for score, segment in first:
        for rest_score, rest in segmentations(row, segment[1]):
            yield score + rest_score, [segment, *rest]


def log_sum(scores: list[float]) -> float:
    """The log of the sum of the exponentials."""
    largest = max(scores, default=-math.inf)
    if largest == -math.inf:
        return -math.inf
    return largest + math.log(math.fsum(math.exp(score - largest) for score in scores))


def log_marginal(row: Row) -> float:
    """The log of the summed probability of all segmentations."""
    return log_sum([score for score, _ in segmentations(row)])


def posterior(row: Row) -> dict[Segment, float]:
    """The probability of each segment that occurs in some segmentation."""
    total = log_marginal(row)
    shares: dict[Segment, list[float]] = {}
    for score, path in segmentations(row):
        for segment in path:
            share = 0.0 if total == -math.inf else math.exp(score - total)
            shares.setdefault(segment, []).append(share)
    return {segment: math.fsum(values) for segment, values in shares.items()}


def best_score(row: Row) -> float:
    """The score of the best segmentation."""
    return max(score for score, _ in segmentations(row))


def path_score(row: Row, path: list[Segment]) -> float:
    """The score of one segmentation; an error if it is none of this row."""
    edges = {edge[:3]: edge.score for edge in row.edges}
    boundary, total = 0, 0.0
    for segment in path:
        start, end, number = segment
        if start != boundary or (number is None and end != start + 1):
            raise ValueError(f"{segment} cannot follow boundary {boundary}")
        total += row.words[start] if number is None else edges[start, end, number]
        boundary = end
    if boundary != len(row.words):
        raise ValueError(f"the path ends at {boundary}, the row at {len(row.words)}")
    return total


def blocks(row: Row) -> list[tuple[int, int, float]]:
    """Start, end and sum of each piece between boundaries that no edge crosses."""
    cuts = [
        place
        for place in range(len(row.words) + 1)
        if not any(edge.start < place < edge.end for edge in row.edges)
    ]
    found = []
    for start, end in pairwise(cuts):
        edges = [
            Edge(edge.start - start, edge.end - start, edge.number, edge.score)
            for edge in row.edges
            if start <= edge.start and edge.end <= end
        ]
        found.append((start, end, log_marginal(Row(row.words[start:end], edges))))
    return found


def log_marginal_by_boundary(row: Row) -> float:
    """The same as `log_marginal` for rows too long to enumerate: one boundary after the other."""
    ending: dict[int, list[Edge]] = {}
    for edge in row.edges:
        ending.setdefault(edge.end, []).append(edge)
    sums = [0.0]
    for boundary, word in enumerate(row.words, start=1):
        scores = [sums[boundary - 1] + word]
        scores += [sums[edge.start] + edge.score for edge in ending.get(boundary, [])]
        sums.append(log_sum(scores))
    return sums[-1]
