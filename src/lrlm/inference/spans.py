"""A linked document and the log score of each segment in, every candidate span explained out.

Tokens that candidate spans join are a block. Blocks are independent of one another, so what is
probable inside one is worked out from its own segments, and is exact for the whole document. For a
span `[i, j)` of a block, with the sums `before` and `after` over all ways to come to a boundary
and to go on from it:

    P(the span is filled by these segments) = exp(before_i + their scores + after_j − total)

What is left of one are the segmentations in which a segment crosses `i` or `j`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from operator import itemgetter

from lrlm.corpora import LinkedDocument
from lrlm.inference.annotation import Explanation, Fact, Kind, Segment, Span

MOST_MIXTURES = 64
"""Mixtures of a span that are listed one by one; the less probable ones are one explanation."""

Copies = Sequence[tuple[Fact, float]]
"""Facts that a span may be a copy of, no two of one type and object, with their log scores."""


def explain_spans(
    document: LinkedDocument, words: Sequence[float], mentions: Sequence[float]
) -> tuple[tuple[Span, ...], float]:
    """Explain all candidate spans, and give −log P of the text.

    Takes the log scores of the document's tokens as words, and of its mentions, both in order.
    """
    spans: list[Span] = []
    nats: list[float] = []
    free = 0  # the first token that no block before has covered
    for first, last, copies in _blocks(document, mentions):
        nats += [-score for score in words[free:first]]
        block = _Block(document, first, words[first:last], copies)
        spans += block.explained()
        nats.append(-block.total)
        free = last
    nats += [-score for score in words[free : len(document.tokens)]]
    return tuple(spans), math.fsum(nats)


def _blocks(
    document: LinkedDocument, scores: Sequence[float]
) -> Iterator[tuple[int, int, dict[tuple[int, int], Copies]]]:
    """Give the tokens `[first, last)` of each block, and the copies of its spans within it."""
    mentions = document.mentions
    bounds = [0]
    reach = 0
    for number, mention in enumerate(mentions):
        if number and mention.start >= reach:
            bounds.append(number)
        reach = max(reach, mention.end)
    bounds.append(len(mentions))
    for begin, stop in pairwise(bounds):
        if begin == stop:
            continue
        here = mentions[begin:stop]
        first = here[0].start
        found: dict[tuple[int, int], dict[tuple[str, str], tuple[Fact, list[float]]]] = {}
        for mention, score in zip(here, scores[begin:stop], strict=True):
            relation = document.relations[mention.relation]
            fact = Fact(relation.type, relation.object, relation.texts[mention.form])
            facts = found.setdefault((mention.start - first, mention.end - first), {})
            facts.setdefault(fact[:2], (fact, []))[1].append(score)
        copies: dict[tuple[int, int], Copies] = {
            span: [(fact, log_sum(alike)) for fact, alike in facts.values()]
            for span, facts in found.items()
        }
        yield first, max(mention.end for mention in here), copies


class _Block:
    """The lattice of tokens that candidate spans join; boundaries count from its beginning."""

    def __init__(
        self,
        document: LinkedDocument,
        first: int,
        words: Sequence[float],
        copies: Mapping[tuple[int, int], Copies],
    ) -> None:
        self._document = document
        self._first = first
        self._words = words
        self._copies = copies
        self._ending: dict[int, list[tuple[int, Copies]]] = {}
        self._crossed: set[int] = set()
        length = len(words)
        if len(copies) == 1:  # a name that no other overlaps with, as most are
            ((_, listed),) = copies.items()
            self._before, self._after = [0.0], [0.0] * (length + 1)
            self.total = log_sum([sum(words), *[score for _, score in listed]])
            return
        edges: dict[int, list[tuple[int, float]]] = {}
        mirrored: dict[int, list[tuple[int, float]]] = {}
        for (start, end), listed in copies.items():
            score = log_sum([score for _, score in listed])
            edges.setdefault(end, []).append((start, score))
            mirrored.setdefault(length - start, []).append((length - end, score))
            self._crossed.update(range(start + 1, end))
            self._ending.setdefault(end, []).append((start, listed))
        self._before = _reach(words, edges)
        self._after = _reach(words[::-1], mirrored)[::-1]
        self.total = self._before[-1]

    def explained(self) -> Iterator[Span]:
        """Explain each span of the block."""
        tokens = self._document.tokens
        for start, end in self._copies:
            begin = tokens.starts[self._first + start]
            stop = tokens.ends[self._first + end - 1]
            text = self._document.text[begin:stop]
            yield Span(begin, stop, text, self._explanations(start, end))

    def _explanations(self, start: int, end: int) -> tuple[Explanation, ...]:
        around = self._before[start] + self._after[end] - self.total
        found = [
            (math.exp(around + score), Kind.RELATION, self._copied(start, end, fact))
            for fact, score in self._copies[start, end]
        ]
        words = math.exp(around + sum(self._words[start:end]))
        found.append((words, Kind.WORDS, self._steps(start, end, None)))
        mixtures = self._mixtures(start, end) if self._ending and end - start > 1 else []
        found += [
            (math.exp(around + score), Kind.MIXTURE, self._steps(start, end, path))
            for score, path in mixtures[:MOST_MIXTURES]
        ]
        total = math.fsum([each[0] for each in found])
        if len(mixtures) > MOST_MIXTURES:
            inside = math.exp(around + self._inside(start, end))
            found.append((max(inside - total, 0.0), Kind.MIXTURE, ()))
            total = max(inside, total)
        if start in self._crossed or end in self._crossed:
            found.append((max(1.0 - total, 0.0), Kind.CROSSING, ()))
            total = max(1.0, total)
        # Relations come first and crossings last, also among equals: sorting keeps their order.
        found.sort(key=_probability, reverse=True)
        # To divide takes out what rounding has left.
        return tuple([Explanation(kind, steps, share / total) for share, kind, steps in found])

    def _copied(self, start: int, end: int, fact: Fact) -> tuple[Segment, ...]:
        tokens, first = self._document.tokens, self._first
        return (Segment(tokens.starts[first + start], tokens.ends[first + end - 1], fact),)

    def _mixtures(self, start: int, end: int) -> list[tuple[float, "_Path"]]:
        """List the most probable ways to fill a span with several segments, some of them copied.

        There is one more than are to be listed if there are more at all.
        """
        ways: list[list[tuple[float, _Path]]] = [[]]  # to each boundary, something being copied
        runs = [0.0]  # to each boundary, with words alone
        for place in range(start + 1, end + 1):
            word = self._words[place - 1]
            found = [(score + word, path) for score, path in ways[-1]]
            for begin, copies in self._ending.get(place, ()):
                if begin < start or (begin, place) == (start, end):
                    continue
                before: list[tuple[float, _Path | None]] = [(runs[begin - start], None)]
                before += ways[begin - start]
                found += [
                    (earlier + score, _Path(path, begin, place, fact))
                    for fact, score in copies
                    for earlier, path in before
                ]
            possible = [way for way in found if way[0] > -math.inf]
            ways.append(nlargest(MOST_MIXTURES + 1, possible, key=_probability))
            runs.append(runs[-1] + word)
        return ways[-1]

    def _inside(self, start: int, end: int) -> float:
        """Sum over all ways to fill a span."""
        edges = {
            place - start: [
                (begin - start, log_sum([score for _, score in copies]))
                for begin, copies in self._ending.get(place, ())
                if begin >= start
            ]
            for place in range(start + 1, end + 1)
        }
        return _reach(self._words[start:end], edges)[-1]

    def _steps(self, start: int, end: int, path: "_Path | None") -> tuple[Segment, ...]:
        """Write a way to fill a span as segments of the text; words stand between the copies."""
        steps: list[Segment] = []
        tokens, first = self._document.tokens, self._first
        while end > start:
            if path is not None and path.end == end:
                begin, fact = path.start, path.fact
                path = path.before
            else:
                begin, fact = end - 1, None
            steps.append(Segment(tokens.starts[first + begin], tokens.ends[first + end - 1], fact))
            end = begin
        return tuple(reversed(steps))


@dataclass(frozen=True, slots=True)
class _Path:
    """The copied segments of a way, from the last one back."""

    before: "_Path | None"
    start: int
    end: int
    fact: Fact


def _reach(words: Sequence[float], edges: Mapping[int, Sequence[tuple[int, float]]]) -> list[float]:
    """Give the log of the sum over all ways from the beginning to each boundary.

    `edges` has, for a boundary, where those that end there start, and their log scores.
    """
    sums = [0.0]
    for place, word in enumerate(words, start=1):
        here = sums[-1] + word
        if ending := edges.get(place):
            here = log_sum([here, *[sums[start] + score for start, score in ending]])
        sums.append(here)
    return sums


def log_sum(scores: Sequence[float]) -> float:
    """Give the log of the summed exponentials of at least one score."""
    if len(scores) == 1:
        return scores[0]
    most = max(scores)
    if most == -math.inf:
        return most
    return most + math.log(sum([math.exp(score - most) for score in scores]))


_probability = itemgetter(0)
