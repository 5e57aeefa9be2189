"""An annotation in, its text with names in colour out, and where each came from: for a terminal."""

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.inference.annotation import Annotation, Explanation, Kind, Span
from lrlm.report.colours import terminal_styles
from lrlm.report.shown_spans import shown_spans

_LEAST = 0.005
"""A further explanation of a mention is told if it is at least so probable."""

ARROW = "→"


def annotation_view(annotation: Annotation, *, threshold: float = 0.5) -> Group:
    """Show the text with its mentions in the colours of their types, and a table of them."""
    shown = shown_spans(annotation, threshold)
    styles = terminal_styles(type_of(span) for span in shown)
    text = Text(annotation.text)
    for span in shown:
        text.stylize(styles[type_of(span)], span.start, span.end)
    title = Text.assemble(
        (annotation.topic, "bold"),
        (f"  {len(annotation.tokens):,} tokens, perplexity {annotation.perplexity:,.1f}", "dim"),
    )
    if not shown:
        nothing = Text(f"No mention with a probability of at least {threshold:g}.", "dim")
        return Group(Rule(title, align="left"), text, Padding(nothing, 1))
    return Group(Rule(title, align="left"), text, Padding(_table(shown, styles), 1))


def type_of(span: Span) -> str:
    """Give the type of the most probable relation of a span."""
    fact = span.relation.fact
    assert fact is not None, "a relation is a copy of a fact"
    return fact.type


def described(explanation: Explanation, text: str, *, first: int) -> str:
    """Say in words how a span came about; `text` is the span's, and begins at character `first`."""
    match explanation.kind:
        case Kind.WORDS:
            return "words"
        case Kind.CROSSING:
            return "part of a longer name"
        case Kind.MIXTURE if not explanation.steps:
            return "other mixtures"
    pieces = [
        f"“{text[step.start - first : step.end - first]}”"
        if step.fact is None
        else f"{step.fact.type} {ARROW} {step.fact.object}"
        for step in explanation.steps
    ]
    return " + ".join(pieces)


def percent(probability: float) -> str:
    """Write a probability so that only what is certain looks certain."""
    if probability >= 0.9995:
        return "> 99.9 %" if probability < 1 else "100 %"
    if probability < 0.0005:
        return "< 0.1 %" if probability > 0 else "0 %"
    return f"{probability:.1%}".replace("%", " %")


def _table(shown: tuple[Span, ...], styles: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("mention")
    table.add_column("source")
    table.add_column("probability", justify="right", no_wrap=True)
    for span in shown:
        mention = Text(span.text, styles[type_of(span)])
        others = [
            each
            for each in span.explanations
            if each is not span.relation and each.probability >= _LEAST
        ]
        for explanation in (span.relation, *others):
            style = "dim" if explanation in others else ""
            source = Text(described(explanation, span.text, first=span.start), style)
            table.add_row(mention, source, Text(percent(explanation.probability), style))
            mention = Text()
    return table
