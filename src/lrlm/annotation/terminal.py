"""Show an annotation in a terminal: the text with its names in colour, and where each came from."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.annotation.annotation import Annotation, Explanation, ExplanationKind, Span
from lrlm.characters import printable
from lrlm.look import PASTEL, counted, percent, shown_perplexity, terminal_styles

_LEAST = 0.005
"""A further explanation of a mention is told if it is at least so probable."""


def annotation_view(
    annotation: Annotation, *, threshold: float = 0.5, palette: Sequence[str] = PASTEL
) -> Group:
    """Show the text with its mentions in the colours of their types, and a table of them."""
    shown = shown_spans(annotation, threshold)
    styles = terminal_styles((relation_type(span) for span in shown), palette)
    text = Text(printable(annotation.text.rstrip()))
    for span in shown:
        text.stylize(styles[relation_type(span)], span.start, span.end)
    tokens = counted(len(annotation.tokens), "token")
    title = Text.assemble(
        (printable(annotation.topic), "bold"),
        (_found(annotation.topic_probability), "dim"),
        (f"  {tokens}, perplexity {shown_perplexity(annotation.perplexity)}", "dim"),
    )
    if not shown:
        nothing = Text(f"No mention with a probability of at least {threshold:g}.", "dim")
        return Group(Rule(title, align="left"), text, Padding(nothing, 1))
    return Group(Rule(title, align="left"), text, Padding(_table(shown, styles), 1))


def _found(probability: float | None) -> str:
    """Say how probable a topic is that was found."""
    return "" if probability is None else f" (found, {percent(probability)})"


def _table(shown: tuple[Span, ...], styles: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("mention")
    table.add_column("source")
    table.add_column("probability", justify="right", no_wrap=True)
    for span in shown:
        mention = Text(printable(span.text), styles[relation_type(span)])
        others = [
            each
            for each in span.explanations
            if each is not span.relation and each.probability >= _LEAST
        ]
        for explanation in (span.relation, *others):
            style = "dim" if explanation in others else ""
            source = Text(printable(describe(explanation, span)), style)
            table.add_row(mention, source, Text(percent(explanation.probability), style))
            mention = Text()
    return table


def shown_spans(annotation: Annotation, threshold: float) -> tuple[Span, ...]:
    """Give the mentions above a threshold, in order; of those that overlap, the most probable."""
    mentions = annotation.mentions(threshold)
    return without_overlap(sorted(mentions, key=lambda span: -span.probability))


class _Placed(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_AnyPlaced = TypeVar("_AnyPlaced", bound=_Placed)


def without_overlap(spans: Iterable[_AnyPlaced]) -> tuple[_AnyPlaced, ...]:
    """Keep each span that overlaps with none before it; give them in the order of the text."""
    taken: set[int] = set()
    kept: list[_AnyPlaced] = []
    for span in spans:
        places = range(span.start, span.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(span)
    return tuple(sorted(kept, key=lambda span: span.start))


def relation_type(span: Span) -> str:
    """Give the type of the most probable relation of a span."""
    fact = span.relation.fact
    assert fact is not None, "a relation is a copy of a fact"
    return fact.type


def relation_label(span: Span) -> str:
    """Say what the type of the most probable relation of a span is called."""
    fact = span.relation.fact
    assert fact is not None, "a relation is a copy of a fact"
    return fact.label


def describe(explanation: Explanation, span: Span) -> str:
    """Say how a span came about."""
    if explanation.kind is ExplanationKind.WORDS:
        return "words"
    if explanation.kind is ExplanationKind.CROSSING:
        return "part of a longer name"
    if not explanation.steps:
        return "other mixtures"
    pieces = []
    for is_word, steps in groupby(explanation.steps, key=lambda step: step.fact is None):
        run = list(steps)
        if is_word:
            words = span.text[run[0].start - span.start : run[-1].end - span.start]
            pieces.append(f"“{words}”")
        else:
            pieces += [f"{step.fact.label} → {step.fact.object}" for step in run if step.fact]
    return " + ".join(pieces)
