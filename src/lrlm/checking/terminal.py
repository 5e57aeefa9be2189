"""Show a checked text in a terminal: its statements in colour, and what the graph says of each."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.annotation.terminal import without_overlap
from lrlm.characters import printable
from lrlm.checking.findings import CheckedText, Finding, GraphVerdict
from lrlm.look import PASTEL, counted, percent

_COLOURS = {GraphVerdict.SUPPORTED: 0, GraphVerdict.CONTRADICTED: 8, GraphVerdict.NEW: 1}
"""Which colour of a palette a verdict has: green, red and blue."""


def checked_view(checked: CheckedText, *, palette: Sequence[str] = PASTEL) -> Group:
    """Show the text with its statements in the colours of their verdicts, and a table of them."""
    shown = shown_findings(checked)
    styles = {verdict: palette[colour] for verdict, colour in _COLOURS.items()}
    text = Text(printable(checked.text.rstrip()))
    for finding in shown:
        text.stylize(styles[finding.verdict], finding.start, finding.end)
    title = Text.assemble((printable(checked.title), "bold"), (f"  {summary(checked)}", "dim"))
    parts: list[RenderableType] = [Rule(title, align="left"), text]
    if shown:
        parts.append(Padding(_table(shown, styles), 1))
    else:
        nothing = "The text states nothing about its topic that could be checked."
        parts.append(Padding(Text(nothing, "dim"), 1))
    parts += [Text(printable(line), "yellow") for line in told_conflicts(checked)]
    return Group(*parts)


def _table(shown: Sequence[Finding], styles: Mapping[GraphVerdict, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("statement")
    table.add_column("verdict", no_wrap=True)
    table.add_column("fact")
    table.add_column("probability", justify="right", no_wrap=True)
    for finding in shown:
        table.add_row(
            Text(printable(finding.text), styles[finding.verdict]),
            str(finding.verdict),
            Text(printable(says(finding))),
            percent(finding.probability),
        )
    return table


def shown_findings(checked: CheckedText) -> tuple[Finding, ...]:
    """Give the findings in order; of those that overlap, the most probable."""
    return without_overlap(sorted(checked.findings, key=lambda each: -each.probability))


def summary(checked: CheckedText) -> str:
    """Say how many statements have each verdict."""
    counts = (f"{len(checked.of(verdict)):,} {verdict}" for verdict in GraphVerdict)
    return f"{counted(len(checked.findings), 'statement')}: {', '.join(counts)}"


def says(finding: Finding) -> str:
    """Say which fact a text states, and what the graph says instead."""
    stated = f"{finding.fact.type} → {finding.fact.object}"
    if not finding.instead:
        return stated
    there = ", ".join(fact.form for fact in finding.instead[:_MOST_TOLD])
    more = len(finding.instead) - _MOST_TOLD
    return f"{stated}; the graph says {there}" + (f" and {more:,} more" if more > 0 else "")


def told_conflicts(checked: CheckedText) -> list[str]:
    """Say where the graph contradicts itself."""
    return [
        f"The graph contradicts itself: {conflict.type} is "
        + " and ".join(fact.form for fact in conflict.facts[:_MOST_TOLD])
        for conflict in checked.conflicts
    ]


_MOST_TOLD = 3
"""Objects that are listed where a graph has many."""
