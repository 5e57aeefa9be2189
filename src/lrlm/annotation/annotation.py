"""What a model says of a text: every candidate span with its explanations, and the best path.

Spans and segments count characters, half-open `[start, end)`, of exactly the text that was given.
"""

import math
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from lrlm.errors import InputError, LrlmError
from lrlm.look import clipped
from lrlm.plain_data import json_text
from lrlm.text import LinkableRelation, Tokens, bits_per_byte, perplexity_per_word

FORMAT = "lrlm annotation"
VERSION = 1

_SHOWN_MENTIONS = 5


class ExplanationKind(StrEnum):
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
    label: str
    """What people call the type; often the type itself."""

    def to_dict(self) -> dict[str, str]:
        """Give plain values, with a label where the type is not its own name."""
        content = {"type": self.type, "object": self.object, "form": self.form}
        return content if self.label == self.type else {**content, "label": self.label}


def fact_of(relation: LinkableRelation, form: int) -> Fact:
    """Say which fact a relation is, with one of its forms."""
    return Fact(relation.type, relation.object, relation.texts[form], relation.label)


class Segment(NamedTuple):
    """A piece of a path: one word, or a whole form that was copied.

    Of a word that a copied form is only a part of, the rest is a piece of its own.
    """

    start: int
    end: int
    fact: Fact | None = None
    """None for a word."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One way in which a span came about, and the probability of it given the whole text."""

    kind: ExplanationKind
    steps: tuple[Segment, ...]
    """The segments that fill the span. None for a crossing, nor for a mixture that stands for all
    those that are too many to list."""
    probability: float

    @property
    def fact(self) -> Fact | None:
        """What the whole span was copied from; None where it was not."""
        return self.steps[0].fact if self.kind is ExplanationKind.RELATION else None


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
        shares = [
            each.probability for each in self.explanations if each.kind is ExplanationKind.RELATION
        ]
        return math.fsum(shares)

    @property
    def relation(self) -> Explanation:
        """The most probable relation; every candidate span has one."""
        return next(each for each in self.explanations if each.kind is ExplanationKind.RELATION)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text about a topic, and which facts its names may have come from.

    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> annotation = lrlm.load().annotate("Its capital is Oslo.", topic)
    >>> (span,) = annotation.spans
    >>> for explanation in span.explanations:
    ...     print(explanation.kind, explanation.fact, f"{explanation.probability:.3f}")
    relation Fact(type='capital', object='Oslo', form='Oslo', label='capital') 1.000
    words None 0.000
    """

    id: str
    """Of the document; where it has none, that of its topic."""
    topic: str
    text: str
    tokens: Tokens
    """The words of the text."""
    nats: float
    """−log P of the text, over all segmentations; its end is not counted."""
    end_nats: float
    """−log P that the text ends here."""
    spans: tuple[Span, ...]
    """Every candidate, sorted; spans may overlap and nest, but no two are the same."""
    copied: tuple[Segment, ...]
    """What was copied on the most probable path through the whole text; all else are words."""
    topic_probability: float | None = None
    """How probable it is that the text is about its topic, where that was found and not given."""

    def __repr__(self) -> str:
        names = [f"{span.text} ({_type_of(span)})" for span in self.mentions()]
        shown = [*names[:_SHOWN_MENTIONS], *(["…"] if len(names) > _SHOWN_MENTIONS else [])]
        return f"Annotation({clipped(self.text)!r}, topic={self.topic!r}, mentions={shown})"

    @property
    def best(self) -> tuple[Segment, ...]:
        """The most probable path through the whole text: its words and copied segments in order."""
        tokens = self.tokens
        path: list[Segment] = []
        copied = deque(self.copied)
        reached = 0
        for start, end in zip(tokens.starts, tokens.ends, strict=True):
            reached = max(reached, start)
            while copied and copied[0].start < end:
                if reached < copied[0].start:  # of a word that a name is only a part of
                    path.append(Segment(reached, copied[0].start))
                path.append(copied.popleft())
                reached = path[-1].end
            if reached < end:
                path.append(Segment(reached, end))
                reached = end
        return tuple(path)

    @property
    def perplexity(self) -> float:
        """exp(nats / words), open-vocabulary: unknown words have paid for their spelling."""
        return perplexity_per_word(self.nats, len(self.tokens))

    @property
    def bits_per_byte(self) -> float:
        """What a byte of the text costs, in bits."""
        return bits_per_byte(self.nats, len(self.text.encode()))

    def mentions(self, threshold: float = 0.5) -> tuple[Span, ...]:
        """Give the spans that were copied as a whole with at least this probability.

        Above one half, no two of them overlap.

        >>> [span.text for span in annotation.mentions(0.9)]
        ['Oslo']
        """
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise InputError(f"a threshold is a probability from 0 to 1, not {threshold!r}")
        return tuple(span for span in self.spans if span.probability >= threshold)

    def to_dict(self, *, threshold: float = 0.0) -> dict[str, Any]:
        """Give everything as plain values, with the mentions above a threshold.

        docs/annotate.md describes every field.

        >>> content = annotation.to_dict()
        >>> content["topic"], content["spans"][0]["explanations"][0]["kind"]
        ('Norway', 'relation')
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "topic": self.topic,
            **(
                {}
                if self.topic_probability is None
                else {"topic_probability": self.topic_probability}
            ),
            "text": self.text,
            "tokens": [
                list(place) for place in zip(self.tokens.starts, self.tokens.ends, strict=True)
            ],
            "nats": self.nats,
            "end_nats": self.end_nats,
            "perplexity": self.perplexity,
            "threshold": threshold,
            "spans": [_span_to_dict(span) for span in self.mentions(threshold)],
            "best": [_segment_to_dict(segment, self.text) for segment in self.copied],
        }

    def to_json(self, *, threshold: float = 0.0) -> str:
        """Write `to_dict` as one line of JSON.

        >>> annotation.to_json()
        '{"format":"lrlm annotation","version":1,"id":"Norway",...}'
        """
        content = self.to_dict(threshold=threshold)
        return json_text(content)

    def _repr_html_(self) -> str:
        """Show the text with its mentions marked, in a notebook."""
        from lrlm.annotation.html import html_fragment

        return html_fragment(self)


@dataclass(frozen=True, slots=True)
class BadText:
    """What stands in a stream of annotations for a text that could not be annotated, and why.

    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> texts = [("Its capital is Oslo.", topic), ("", topic)]
    >>> for result in lrlm.load().annotate_many(texts):
    ...     print(result)
    Annotation('Its capital is Oslo.', topic='Norway', mentions=['Oslo (capital)'])
    BadText(number=1, error=InputError('the text is empty: there is nothing to read'))
    """

    number: int
    """Of the text in the stream, counted from 0."""
    error: LrlmError

    def to_dict(self) -> dict[str, Any]:
        """Give the number of the text, and what is wrong with it."""
        return {
            "format": "lrlm bad text",
            "version": VERSION,
            "number": self.number,
            "error": str(self.error),
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON."""
        return json_text(self.to_dict())


def _type_of(span: Span) -> str:
    (step,) = span.relation.steps
    return "?" if step.fact is None else step.fact.label


def _span_to_dict(span: Span) -> dict[str, Any]:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "explanations": [
            {
                "kind": explanation.kind.value,
                "probability": explanation.probability,
                "steps": [
                    _segment_to_dict(step, span.text, before=span.start)
                    for step in explanation.steps
                ],
            }
            for explanation in span.explanations
        ],
    }


def _segment_to_dict(segment: Segment, text: str, *, before: int = 0) -> dict[str, Any]:
    """Write a segment; `before` characters precede `text`. A word has no fact."""
    place = {
        "start": segment.start,
        "end": segment.end,
        "text": text[segment.start - before : segment.end - before],
    }
    return place if segment.fact is None else {**place, **segment.fact.to_dict()}
