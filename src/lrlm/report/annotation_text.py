"""An annotation in, its text with names in colour out, and where each came from: for a terminal."""

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.annotation.annotation import Annotation, Span
from lrlm.report.colours import terminal_styles
from lrlm.report.counted import counted
from lrlm.report.explanation_words import described, percent, type_of
from lrlm.report.perplexity_words import shown_perplexity
from lrlm.report.printable import printable
from lrlm.report.shown_spans import shown_spans

_LEAST = 0.005
"""A further explanation of a mention is told if it is at least so probable."""


def annotation_view(annotation: Annotation, *, threshold: float = 0.5) -> Group:
    """Show the text with its mentions in the colours of their types, and a table of them."""
    shown = shown_spans(annotation, threshold)
    styles = terminal_styles(type_of(span) for span in shown)
    text = Text(printable(annotation.text.rstrip()))
    for span in shown:
        text.stylize(styles[type_of(span)], span.start, span.end)
    tokens = counted(len(annotation.tokens), "token")
    title = Text.assemble(
        (printable(annotation.topic), "bold"),
        (f"  {tokens}, perplexity {shown_perplexity(annotation.perplexity)}", "dim"),
    )
    if not shown:
        nothing = Text(f"No mention with a probability of at least {threshold:g}.", "dim")
        return Group(Rule(title, align="left"), text, Padding(nothing, 1))
    return Group(Rule(title, align="left"), text, Padding(_table(shown, styles), 1))


def _table(shown: tuple[Span, ...], styles: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("mention")
    table.add_column("source")
    table.add_column("probability", justify="right", no_wrap=True)
    for span in shown:
        mention = Text(printable(span.text), styles[type_of(span)])
        others = [
            each
            for each in span.explanations
            if each is not span.relation and each.probability >= _LEAST
        ]
        for explanation in (span.relation, *others):
            style = "dim" if explanation in others else ""
            source = Text(printable(described(explanation, span)), style)
            table.add_row(mention, source, Text(percent(explanation.probability), style))
            mention = Text()
    return table
