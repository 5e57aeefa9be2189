"""An annotation in, a JSON object out; docs/annotate.md describes every field."""

from typing import Any

from lrlm.inference.annotation import Annotation, Segment, Span

FORMAT = "lrlm annotation"
VERSION = 1


def annotation_to_json(annotation: Annotation, *, threshold: float = 0.0) -> dict[str, Any]:
    """Give what an annotation says as plain values, with its mentions above a threshold."""
    text, tokens = annotation.text, annotation.tokens
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": annotation.id,
        "topic": annotation.topic,
        "text": text,
        "tokens": [list(place) for place in zip(tokens.starts, tokens.ends, strict=True)],
        "nats": annotation.nats,
        "end_nats": annotation.end_nats,
        "perplexity": annotation.perplexity,
        "threshold": threshold,
        "spans": [_span(span) for span in annotation.mentions(threshold)],
        "best": [_segment(segment, text) for segment in annotation.copied],
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "explanations": [
            {
                "kind": explanation.kind.value,
                "probability": explanation.probability,
                "steps": [
                    _segment(step, span.text, before=span.start) for step in explanation.steps
                ],
            }
            for explanation in span.explanations
        ],
    }


def _segment(segment: Segment, text: str, *, before: int = 0) -> dict[str, Any]:
    """Write a segment; `text` begins after so many characters. A word has no fact."""
    place = {
        "start": segment.start,
        "end": segment.end,
        "text": text[segment.start - before : segment.end - before],
    }
    return place if segment.fact is None else {**place, **segment.fact._asdict()}
