"""Show a checked text as a web page that needs nothing else, or as a part of a notebook.

Statements are coloured by verdict, and what the graph says of them shows where the pointer rests
or the keyboard has come to. Whatever the text holds, it stays text.
"""

from string import Template

from lrlm.annotation.html import PAGE_STYLE, SCRIPT, STYLE
from lrlm.checking.findings import CheckedText, Finding, GraphVerdict
from lrlm.checking.terminal import says, shown_findings, summary, told_conflicts
from lrlm.look import fragment, html_text, marked_name, page, percent

HUES = {GraphVerdict.SUPPORTED: 145, GraphVerdict.CONTRADICTED: 2, GraphVerdict.NEW: 215}
"""The colour of each verdict."""

MARKS = {GraphVerdict.SUPPORTED: "✓", GraphVerdict.CONTRADICTED: "✗", GraphVerdict.NEW: "+"}
"""The same for those who do not tell the colours apart."""

LEGEND = {
    GraphVerdict.SUPPORTED: "the graph has this fact",
    GraphVerdict.CONTRADICTED: "the graph says something else",
    GraphVerdict.NEW: "the graph does not know",
}


def checked_to_html(checked: CheckedText) -> str:
    """Write the page of a text, with its statements marked."""
    body = _BODY.substitute(
        summary=html_text(summary(checked)),
        legend=_legend(checked),
        text=checked_text(checked),
        rows="".join(map(_row, checked.findings)),
        conflicts="".join(
            f'<p class="summary">{html_text(line)}</p>' for line in told_conflicts(checked)
        ),
        findings=f"{len(checked.findings):,}",
    )
    return page(html_text(checked.title), body, style=STYLE + PAGE_STYLE, script=SCRIPT)


def html_fragment(checked: CheckedText) -> str:
    """Write the marked text alone, with a line about it: what a notebook shows of it."""
    parts, end = [], 0
    for finding in shown_findings(checked):
        parts.append(html_text(checked.text[end : finding.start]))
        parts.append(
            marked_name(
                finding.text,
                type_=f"{finding.fact.type} {MARKS[finding.verdict]}",
                hue=HUES[finding.verdict],
                told=f"{says(finding)} ({percent(finding.probability)})",
            )
        )
        end = finding.end
    parts.append(html_text(checked.text[end:].rstrip()))
    return fragment(f"{checked.title} · {summary(checked)}", "".join(parts))


def checked_text(checked: CheckedText, *, name: str = "f") -> str:
    """Write the text with its statements marked, for a page that has `STYLE`.

    `name` begins the ids of this text, where a page has several.
    """
    pieces, end = [], 0
    for number, finding in enumerate(shown_findings(checked)):
        id_ = f"{name}{number}"
        pieces.append(html_text(checked.text[end : finding.start]))
        pieces.append(
            f'<span class="name" style="--hue:{HUES[finding.verdict]}"'
            f' data-type="{html_text(finding.fact.type)} {MARKS[finding.verdict]}"'
            f' data-verdict="{finding.verdict}"'
            f' tabindex="0" aria-describedby="{id_}">{html_text(finding.text)}'
            f'<span class="why" role="tooltip" id="{id_}">'
            f"<span><i>{html_text(finding.verdict)}</i><b>{percent(finding.probability)}</b></span>"
            f"<span><i>{html_text(says(finding))}</i></span>"
            f"<span><i>{html_text(' · '.join(finding.triple))}</i></span></span></span>"
        )
        end = finding.end
    return "".join(pieces) + html_text(checked.text[end:])


def _legend(checked: CheckedText) -> str:
    return "".join(
        f'<li style="--hue:{HUES[verdict]}" title="{html_text(told)}">'
        f"<b>{MARKS[verdict]} {verdict}</b> {len(checked.of(verdict)):,}"
        f" <small>{html_text(told)}</small></li>"
        for verdict, told in LEGEND.items()
    )


def _row(finding: Finding) -> str:
    return (
        f'<tbody><tr><th scope="row"><span class="name" style="--hue:{HUES[finding.verdict]}">'
        f"{html_text(finding.text)}</span><small>{finding.start:,}–{finding.end:,}</small></th>"
        f"<td>{finding.verdict}</td><td>{html_text(says(finding))}</td>"
        f'<td class="share" style="--share:{finding.probability:.4f}">'
        f"{percent(finding.probability)}</td></tr></tbody>"
    )


_BODY = Template("""<p class="summary">$summary</p>
<ul class="legend" aria-label="Verdicts">$legend</ul>
<article>$text</article>
$conflicts<details>
<summary>All $findings findings</summary>
<div class="scroll"><table>
<thead><tr><th scope="col">statement</th><th scope="col">verdict</th><th scope="col">fact</th>
<th scope="col">probability</th></tr></thead>
$rows
</table></div>
</details>
""")
