"""An annotation in, the spans that can be marked in its text out: no two of them overlap."""

from collections.abc import Iterable, Sequence

from lrlm.annotation.annotation import Annotation, Span


def shown_spans(annotation: Annotation, threshold: float) -> tuple[Span, ...]:
    """Give the mentions above a threshold, in order; of those that overlap, the most probable."""
    mentions = annotation.mentions(threshold)
    return without_overlap(sorted(mentions, key=lambda span: -span.probability))


def with_candidates(annotation: Annotation, shown: Sequence[Span]) -> tuple[Span, ...]:
    """Add the candidates, longest first, that overlap with nothing that is shown already."""
    longest = sorted(annotation.spans, key=lambda span: span.start - span.end)
    return without_overlap([*shown, *longest])


def without_overlap(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Keep each span that overlaps with none before it; give them in the order of the text."""
    taken: set[int] = set()
    kept = []
    for span in spans:
        places = range(span.start, span.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(span)
    return tuple(sorted(kept, key=lambda span: span.start))
