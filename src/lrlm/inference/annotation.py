"""What a model says of a text: every candidate span with its explanations, and the best path.

Spans and segments count characters, half-open `[start, end)`, of exactly the text that was given.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from lrlm.errors import InputError
from lrlm.models.perplexity import perplexity_of
from lrlm.text import Tokens


class Kind(StrEnum):
    """How a segmentation of the text explains a span; the four exclude one another."""

    RELATION = "relation"
    """The span is one segment, copied through a relation."""
    WORDS = "words"
    """Each token of the span is a word of its own."""
    MIXTURE = "mixture"
    """Several segments fill the span, and at least one of them was copied."""
    CROSSING = "crossing"
    """A copied segment reaches beyond the span."""


class Fact(NamedTuple):
    """What a segment was copied from: the type and the object of a relation, and its form."""

    type: str
    object: str
    form: str


class Segment(NamedTuple):
    """A piece of a path: one word, or a whole form that was copied."""

    start: int
    end: int
    fact: Fact | None = None
    """None for a word."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One way in which a span came about, and the probability of it given the whole text."""

    kind: Kind
    steps: tuple[Segment, ...]
    """The segments that fill the span. None for a crossing, nor for a mixture that stands for all
    those that are too many to list."""
    probability: float

    @property
    def fact(self) -> Fact | None:
        """What the whole span was copied from; None where it was not."""
        return self.steps[0].fact if self.kind is Kind.RELATION else None


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text that is a name of something known about the topic."""

    start: int
    end: int
    text: str
    explanations: tuple[Explanation, ...]
    """The most probable first; their probabilities sum to one."""

    @property
    def best(self) -> Explanation:
        """The most probable explanation."""
        return self.explanations[0]

    @property
    def probability(self) -> float:
        """How probable it is that the whole span was copied, through whichever relation."""
        shares = [each.probability for each in self.explanations if each.kind is Kind.RELATION]
        return math.fsum(shares)

    @property
    def relation(self) -> Explanation:
        """The most probable relation; every candidate span has one."""
        return next(each for each in self.explanations if each.kind is Kind.RELATION)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text about a topic, and where its words may have come from."""

    id: str
    """Of the document; where it has none, that of its topic."""
    topic: str
    text: str
    tokens: Tokens
    nats: float
    """−log P of the text, over all segmentations; its end is not counted."""
    end_nats: float
    """−log P that the text ends here."""
    spans: tuple[Span, ...]
    """Every candidate, sorted; spans may overlap and nest, but no two are the same."""
    copied: tuple[Segment, ...]
    """What was copied on the most probable path through the whole text; all else are words."""

    @property
    def best(self) -> tuple[Segment, ...]:
        """The most probable path through the whole text: its words and copied segments in order."""
        tokens = self.tokens
        path: list[Segment] = []
        copied = iter(self.copied)
        following = next(copied, None)
        for start, end in zip(tokens.starts, tokens.ends, strict=True):
            if following is None or start < following.start:
                path.append(Segment(start, end))
            elif end == following.end:
                path.append(following)
                following = next(copied, None)
        return tuple(path)

    @property
    def perplexity(self) -> float:
        """exp(nats / tokens), open-vocabulary: unknown words have paid for their spelling."""
        return perplexity_of(self.nats, len(self.tokens))

    def mentions(self, threshold: float = 0.5) -> tuple[Span, ...]:
        """Give the spans that were copied as a whole with at least this probability.

        Above one half, no two of them overlap.
        """
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise InputError(f"a threshold is a probability from 0 to 1, not {threshold!r}")
        return tuple(span for span in self.spans if span.probability >= threshold)
