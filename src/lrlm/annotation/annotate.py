"""Annotate linked documents with a trained model: a stream, read some documents at a time."""

import math
from collections.abc import Callable, Iterable, Iterator

from lrlm.annotation.annotation import (
    Annotation,
    BadText,
    Explanation,
    ExplanationKind,
    Segment,
    Span,
    fact_of,
)
from lrlm.annotation.explained import ExplainedDocument, explain_documents
from lrlm.annotation.name_odds import NAMES, AnyOdds
from lrlm.annotation.streaming import improbable, in_their_places, raised, read_in_order
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Topic
from lrlm.lattice import ExplainedSpan
from lrlm.plain_data import shown
from lrlm.runs.run import LARGEST_COPY_ODDS, Run
from lrlm.text import LinkedDocument, Mention, TokenPlaces

FOR_NAMES = "names"
"""The odds of copying for those who want a text's names, not the model's own posterior."""

MOST_MIXTURES = 64
"""Mixtures of a span that are listed one by one; the less probable ones are one explanation."""


def annotate(
    run: Run,
    documents: Iterable[LinkedDocument],
    *,
    batch_size: int | None = None,
    copy_odds: float | str | None = None,
) -> Iterator[Annotation]:
    """Annotate documents in their order; only some of them are held at a time.

    `copy_odds` are the odds of copying in nats, or "names" for those with which names are claimed
    (`lrlm.annotation.name_odds`); None for those of the run.
    """
    check_posteriors(run)
    odds = odds_of(run, copy_odds)
    return map(raised, _results(run, documents, batch_size, odds))


def annotate_texts(
    run: Run,
    texts: Iterable[object],
    *,
    link: Callable[[str, Topic], LinkedDocument],
    batch_size: int | None = None,
    copy_odds: float | str | None = None,
) -> Iterator[Annotation | BadText]:
    """Annotate pairs of a text and its topic; one that cannot be read is told in its place."""
    check_posteriors(run)
    odds = odds_of(run, copy_odds)
    return in_their_places(
        texts, link, lambda documents: _results(run, documents, batch_size, odds)
    )


def check_posteriors(run: Run) -> None:
    """Refuse a model that cannot say where words come from."""
    if not run.model.has_posteriors:
        raise InputError(
            f"{run.folder} holds a {run.model.label}, which does not know where words come from;"
            " annotation needs a model that sums over segmentations, such as LRLM"
        )


def odds_of(run: Run, copy_odds: float | str | None) -> AnyOdds:
    """Give the odds of copying that were asked for, else those of the run."""
    if copy_odds is None:
        return run.copy_odds
    if copy_odds == FOR_NAMES:
        return NAMES
    return checked_odds(copy_odds)


def checked_odds(copy_odds: object) -> float:
    """Refuse what are no odds of copying."""
    if not isinstance(copy_odds, int | float) or not abs(copy_odds) <= LARGEST_COPY_ODDS:
        raise InputError(
            f"the odds of copying are nats from -{LARGEST_COPY_ODDS:g} to {LARGEST_COPY_ODDS:g},"
            f" or {FOR_NAMES!r} for annotations, not {shown(copy_odds)}"
        )
    return float(copy_odds)


def _results(
    run: Run, documents: Iterable[LinkedDocument], batch_size: int | None, copy_odds: AnyOdds
) -> Iterator[Annotation | LrlmError]:
    """Give the annotation of every document, or what is wrong with it."""
    for members, scored in read_in_order(run, documents, batch_size):
        for explained in explain_documents(
            members, scored, most_mixtures=MOST_MIXTURES, copy_odds=copy_odds
        ):
            if math.isfinite(explained.nats):
                yield _annotation(explained, run.space.places(explained.document))
            else:
                yield improbable(explained.document)


def _annotation(explained: ExplainedDocument, places: TokenPlaces) -> Annotation:
    """Write what was explained in characters of the text."""
    document = explained.document

    def segment(start: int, end: int, candidate: Mention | None) -> Segment:
        fact = None
        if candidate is not None:
            relation = document.relations[candidate.relation]
            fact = fact_of(relation, candidate.form)
        return Segment(places.starts[start], places.ends[end - 1], fact)

    copied = (explained.candidates[number] for number in explained.best)
    return Annotation(
        id=document.id,
        topic=document.topic,
        topic_probability=document.topic_probability,
        text=document.text,
        tokens=document.tokens,
        nats=explained.nats,
        end_nats=-explained.scored.end_score,
        spans=tuple(_span(explained, found, segment) for found in explained.spans),
        copied=tuple(segment(each.start, each.end, each) for each in copied),
    )


def _span(
    explained: ExplainedDocument,
    found: ExplainedSpan,
    segment: Callable[[int, int, Mention | None], Segment],
) -> Span:
    """Write one span with its explanations, the most probable first."""

    def step(start: int, end: int, label: int | None) -> Segment:
        candidate = None if label is None else explained.candidate(start, end, label)
        return segment(start, end, candidate)

    kind = ExplanationKind
    listed = [
        Explanation(kind.RELATION, (step(found.start, found.end, label),), probability)
        for label, probability in found.copies
    ]
    (whole,) = listed[0].steps
    words = tuple(step(n, n + 1, None) for n in range(found.start, found.end))
    listed.append(Explanation(kind.WORDS, words, found.words))
    listed += [
        Explanation(kind.MIXTURE, tuple(step(*each) for each in mixture.steps), mixture.probability)
        for mixture in found.mixtures
    ]
    if found.other_mixtures is not None:
        listed.append(Explanation(kind.MIXTURE, (), found.other_mixtures))
    if found.crossing is not None:
        listed.append(Explanation(kind.CROSSING, (), found.crossing))
    # Relations come first and crossings last, also among equals: sorting keeps their order.
    listed.sort(key=lambda each: each.probability, reverse=True)
    begin, stop = whole.start, whole.end
    return Span(begin, stop, explained.document.text[begin:stop], tuple(listed))
