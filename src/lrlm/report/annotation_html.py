"""An annotation in, one web page out: it needs nothing else, and runs without a network.

Mentions are coloured by relation type. Every candidate shows all its explanations where the pointer
rests on it or the keyboard has come to it. Whatever the text holds, it stays text.
"""

from collections.abc import Mapping, Sequence
from html import escape

from lrlm.annotation.annotation import Annotation, Span
from lrlm.report.annotation_page import BODY, SCRIPT, STYLE
from lrlm.report.colours import hues
from lrlm.report.counted import counted
from lrlm.report.explanation_words import described, percent, type_of
from lrlm.report.page import page
from lrlm.report.perplexity_words import shown_perplexity
from lrlm.report.shown_spans import shown_spans, with_candidates

_LISTED = 8
"""Explanations of a span beside the text; all of them are in the table below it."""


def annotation_to_html(annotation: Annotation, *, threshold: float = 0.5) -> str:
    """Write the page of a text, with its mentions above a threshold marked."""
    shown = shown_spans(annotation, threshold)
    hue_of = hues(type_of(span) for span in shown)
    marked = {(span.start, span.end) for span in shown}
    body = BODY.substitute(
        summary=_summary(annotation, shown, threshold),
        legend=_legend(shown, hue_of),
        text=_text(annotation, with_candidates(annotation, shown), marked, hue_of),
        rows="".join(
            _rows(span, is_shown=(span.start, span.end) in marked, hue_of=hue_of)
            for span in annotation.spans
        ),
        spans=f"{len(annotation.spans):,}",
    )
    return page(escape(annotation.topic), body, style=STYLE, script=SCRIPT)


def _summary(annotation: Annotation, shown: Sequence[Span], threshold: float) -> str:
    facts = (
        counted(len(annotation.tokens), "token"),
        f"perplexity {shown_perplexity(annotation.perplexity)}",
        f"{counted(len(shown), 'mention')} with a probability of at least {threshold:g}",
    )
    return " · ".join(facts)


def _legend(shown: Sequence[Span], hue_of: Mapping[str, int]) -> str:
    counts = dict.fromkeys(hue_of, 0)
    for span in shown:
        counts[type_of(span)] += 1
    return "".join(
        f'<li style="--hue:{hue_of[name]}"><b>{escape(name)}</b> {count:,}</li>'
        for name, count in counts.items()
    )


def _text(
    annotation: Annotation,
    spans: Sequence[Span],
    marked: set[tuple[int, int]],
    hue_of: Mapping[str, int],
) -> str:
    pieces, end = [], 0
    for number, span in enumerate(spans):
        pieces.append(escape(annotation.text[end : span.start]))
        pieces.append(_mark(number, span, (span.start, span.end) in marked, hue_of))
        end = span.end
    return "".join(pieces) + escape(annotation.text[end:])


def _mark(number: int, span: Span, is_mention: bool, hue_of: Mapping[str, int]) -> str:
    """Write a span with its explanations hidden beside it, until they are asked for."""
    lines = "".join(
        f"<span><i>{escape(described(each, span))}</i><b>{percent(each.probability)}</b></span>"
        for each in span.explanations[:_LISTED]
    )
    more = len(span.explanations) - _LISTED
    if more > 0:
        lines += f"<span><i>{more:,} more, in the table</i></span>"
    name = type_of(span)
    look = (
        f'class="name" style="--hue:{hue_of[name]}" data-type="{escape(name)}"'
        if is_mention
        else 'class="candidate"'
    )
    return (
        f'<span {look} tabindex="0" aria-describedby="e{number}">{escape(span.text)}'
        f'<span class="why" role="tooltip" id="e{number}">{lines}</span></span>'
    )


def _rows(span: Span, *, is_shown: bool, hue_of: Mapping[str, int]) -> str:
    """Write the rows of a span in the table, one an explanation."""
    name = type_of(span)
    look = f' class="name" style="--hue:{hue_of[name]}"' if is_shown else ""
    rows = []
    for place, each in enumerate(span.explanations):
        first = (
            f'<th scope="rowgroup" rowspan="{len(span.explanations)}"><span{look}>'
            f"{escape(span.text)}</span><small>{span.start:,}–{span.end:,}</small></th>"
            if place == 0
            else ""
        )
        rows.append(
            f"<tr>{first}<td>{each.kind.value}</td><td>{escape(described(each, span))}</td>"
            f'<td class="share" style="--share:{each.probability:.4f}">'
            f"{percent(each.probability)}</td></tr>"
        )
    return f"<tbody>{''.join(rows)}</tbody>"
