"""Show an annotation as a web page that needs nothing else, or as a part of a notebook.

Mentions are coloured by relation type. Every candidate shows all its explanations where the pointer
rests on it or the keyboard has come to it. Whatever the text holds, it stays text.
"""

from collections.abc import Mapping, Sequence
from string import Template

from lrlm.annotation.annotation import Annotation, Explanation, Span
from lrlm.annotation.score import Score
from lrlm.annotation.terminal import (
    describe,
    relation_label,
    relation_type,
    shown_spans,
    without_overlap,
)
from lrlm.look import (
    counted,
    fragment,
    html_text,
    hues,
    marked_name,
    page,
    percent,
    shown_perplexity,
    shown_type,
)

_LISTED = 8
"""Explanations of a span beside the text; all of them are in the table below it."""


def annotation_to_html(annotation: Annotation, *, threshold: float = 0.5) -> str:
    """Write the page of a text, with its mentions above a threshold marked."""
    shown = shown_spans(annotation, threshold)
    hue_of = hues(relation_type(span) for span in shown)
    marked = {(span.start, span.end) for span in shown}
    body = _BODY.substitute(
        summary=_summary(annotation, shown, threshold),
        legend=_legend(shown, hue_of),
        text=annotated_text(annotation, threshold=threshold, hue_of=hue_of),
        rows="".join(
            _rows(span, is_shown=(span.start, span.end) in marked, hue_of=hue_of)
            for span in annotation.spans
        ),
        spans=f"{len(annotation.spans):,}",
    )
    return page(html_text(annotation.topic), body, style=STYLE + PAGE_STYLE, script=SCRIPT)


def html_fragment(annotation: Annotation, *, threshold: float = 0.5) -> str:
    """Write the marked text alone, with a line about it: what a notebook shows of an annotation.

    The explanations of a mention are shown when the pointer rests on it.
    """
    shown = shown_spans(annotation, threshold)
    hue_of = hues(relation_type(span) for span in shown)
    parts, end = [], 0
    for span in shown:
        hue = hue_of[relation_type(span)]
        lines = (f"{describe(each, span)}: {percent(each.probability)}" for each in _first(span))
        parts.append(html_text(annotation.text[end : span.start]))
        parts.append(
            marked_name(span.text, type_=relation_label(span), hue=hue, told="\n".join(lines))
        )
        end = span.end
    parts.append(html_text(annotation.text[end:].rstrip()))
    about = f"{annotation.topic} · {_summary(annotation, shown, threshold)}"
    return fragment(about, "".join(parts))


def score_fragment(score: Score) -> str:
    """Write a scored text: what a piece costs is its strength of colour, and is told on hover."""
    parts, end = [], 0
    most = max((piece.nats / piece.tokens for piece in score.pieces), default=0.0)
    for piece in score.pieces:
        strength = piece.nats / piece.tokens / most if most > 0 else 0.0
        parts.append(html_text(score.text[end : piece.start]))
        parts.append(
            f'<span style="background:rgba(217,119,6,{0.6 * max(strength, 0.0):.3f});'
            f'border-radius:.3em" title="{piece.nats:.2f} nats">'
            f"{html_text(score.text[piece.start : piece.end])}</span>"
        )
        end = piece.end
    parts.append(html_text(score.text[end:].rstrip()))
    about = (
        f"{counted(score.words, 'word')} · {score.nats:,.1f} nats · perplexity"
        f" {shown_perplexity(score.perplexity)}"
    )
    return fragment(about, "".join(parts))


def _summary(annotation: Annotation, shown: Sequence[Span], threshold: float) -> str:
    facts = [
        counted(len(annotation.tokens), "token"),
        f"perplexity {shown_perplexity(annotation.perplexity)}",
        f"{counted(len(shown), 'mention')} with a probability of at least {threshold:g}",
    ]
    if annotation.topic_probability is not None:
        facts.insert(0, f"topic found ({percent(annotation.topic_probability)})")
    return " · ".join(facts)


def _legend(shown: Sequence[Span], hue_of: Mapping[str, int]) -> str:
    counts = dict.fromkeys(hue_of, 0)
    labels = {relation_type(span): relation_label(span) for span in shown}
    for span in shown:
        counts[relation_type(span)] += 1
    return "".join(
        f'<li style="--hue:{hue_of[type_]}"><b>{html_text(shown_type(labels[type_]))}</b>'
        f" {count:,}</li>"
        for type_, count in counts.items()
    )


def annotated_text(
    annotation: Annotation, *, threshold: float, hue_of: Mapping[str, int], name: str = "e"
) -> str:
    """Write the text with its mentions above a threshold marked, for a page that has `STYLE`.

    Explanations are hidden beside their span, until they are asked for. `name` begins the ids of
    this text, where a page has several. Every relation type of the mentions has a hue.
    """
    shown = shown_spans(annotation, threshold)
    marked = {(span.start, span.end) for span in shown}
    pieces, end = [], 0
    for number, span in enumerate(_with_candidates(annotation, shown)):
        is_mention = (span.start, span.end) in marked
        pieces.append(html_text(annotation.text[end : span.start]))
        pieces.append(_mark(f"{name}{number}", span, is_mention, hue_of))
        end = span.end
    return "".join(pieces) + html_text(annotation.text[end:])


def _mark(id_: str, span: Span, is_mention: bool, hue_of: Mapping[str, int]) -> str:
    lines = "".join(
        f"<span><i>{html_text(describe(each, span))}</i><b>{percent(each.probability)}</b></span>"
        for each in _first(span)
    )
    more = len(span.explanations) - _LISTED
    if more > 0:
        lines += f"<span><i>{more:,} more</i></span>"
    look = (
        f'class="name" style="--hue:{hue_of[relation_type(span)]}"'
        f' data-type="{html_text(shown_type(relation_label(span)))}"'
        if is_mention
        else 'class="candidate"'
    )
    return (
        f'<span {look} tabindex="0" aria-describedby="{id_}">{html_text(span.text)}'
        f'<span class="why" role="tooltip" id="{id_}">{lines}</span></span>'
    )


def _first(span: Span) -> Sequence[Explanation]:
    return span.explanations[:_LISTED]


def _rows(span: Span, *, is_shown: bool, hue_of: Mapping[str, int]) -> str:
    """Write the rows of a span in the table, one an explanation."""
    name = relation_type(span)
    look = f' class="name" style="--hue:{hue_of[name]}"' if is_shown else ""
    rows = []
    for place, each in enumerate(span.explanations):
        first = (
            f'<th scope="rowgroup" rowspan="{len(span.explanations)}"><span{look}>'
            f"{html_text(span.text)}</span><small>{span.start:,}–{span.end:,}</small></th>"
            if place == 0
            else ""
        )
        rows.append(
            f"<tr>{first}<td>{each.kind.value}</td><td>{html_text(describe(each, span))}</td>"
            f'<td class="share" style="--share:{each.probability:.4f}">'
            f"{percent(each.probability)}</td></tr>"
        )
    return f"<tbody>{''.join(rows)}</tbody>"


def _with_candidates(annotation: Annotation, shown: Sequence[Span]) -> tuple[Span, ...]:
    """Add the candidates, longest first, that overlap with nothing that is shown already."""
    longest = sorted(annotation.spans, key=lambda span: span.start - span.end)
    return without_overlap([*shown, *longest])


_BODY = Template("""<p class="summary">$summary</p>
<ul class="legend" aria-label="Relation types">$legend</ul>
<article>$text</article>
<details>
<summary>All $spans candidate spans and their explanations</summary>
<div class="scroll"><table>
<thead><tr><th scope="col">span</th><th scope="col">kind</th><th scope="col">explanation</th>
<th scope="col">probability</th></tr></thead>
$rows
</table></div>
</details>
""")

STYLE = """
.name, .candidate { position: relative; cursor: help; }
.candidate { text-decoration: underline dotted var(--quiet); text-underline-offset: .3em; }
:focus-visible { outline: 2px solid hsl(var(--hue, 210) var(--edge)); outline-offset: 1px; }
.why { position: absolute; z-index: 2; left: 0; top: 100%; display: none; width: max-content;
  min-width: 12rem; max-width: min(30rem, 88vw); padding: .55rem .75rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 .4rem 1.2rem rgb(0 0 0 / .18);
  font-size: .86rem; line-height: 1.5; white-space: normal; text-align: left; cursor: auto;
  user-select: none; }
.why > span { display: flex; justify-content: space-between; gap: 1.5rem; }
.why i { font-style: normal; overflow-wrap: anywhere; }
.why b { font-variant-numeric: tabular-nums; font-weight: 500; white-space: nowrap; }
.why > span:first-child { font-weight: 600; }
.why > span:not(:first-child) { color: var(--quiet); }
:is(.name, .candidate):is(:hover, :focus) > .why { display: block; }
.quiet .why { display: none !important; }
@media print { .why { display: none !important; } }
"""
"""How marked spans look, beyond what every page says."""

PAGE_STYLE = """
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 1.6rem;
  padding: 0; font-size: .82rem; }
.legend li { background: hsl(var(--hue) var(--fill)); border-radius: .35rem; padding: .1rem .5rem; }
.legend b { font-weight: 600; }
article { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1; }
details { margin-top: 2.4rem; border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; font-size: .86rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; font-weight: 400; }
thead th { color: var(--quiet); }
tbody { border-top: 1px solid var(--line); }
th small { display: block; color: var(--quiet); }
td { overflow-wrap: break-word; }
td:nth-last-child(3) { white-space: nowrap; }
.share { white-space: nowrap; font-variant-numeric: tabular-nums; min-width: 7rem;
  background: linear-gradient(hsl(210 var(--fill)) 0 0) no-repeat 0 50% /
    calc(var(--share) * 100%) 1.5em; padding-left: .3rem; }
"""
"""How the rest of a page about a text looks: its legend and its table."""

SCRIPT = """
"use strict";
const root = document.documentElement;
const show = (event) => {
  const mark = event.target.closest && event.target.closest(".name, .candidate");
  if (!mark) return;
  root.classList.remove("quiet");
  const why = mark.querySelector(".why");
  if (!why) return;
  why.style.left = "0";
  const over = why.getBoundingClientRect().right - root.clientWidth + 8;
  const room = why.getBoundingClientRect().left - 8;
  if (over > 0) why.style.left = `${-Math.min(over, room)}px`;
};
document.addEventListener("pointerover", show);
document.addEventListener("focusin", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") root.classList.add("quiet");
});
"""
"""Keeps explanations on the screen, and hides them when Escape is pressed."""
