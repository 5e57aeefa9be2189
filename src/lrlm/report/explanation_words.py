"""An explanation of a span in, words for a reader out."""

from itertools import groupby

from lrlm.annotation.annotation import Explanation, Kind, Span


def type_of(span: Span) -> str:
    """Give the type of the most probable relation of a span."""
    fact = span.relation.fact
    assert fact is not None, "a relation is a copy of a fact"
    return fact.type


def described(explanation: Explanation, span: Span) -> str:
    """Say how a span came about."""
    if explanation.kind is Kind.WORDS:
        return "words"
    if explanation.kind is Kind.CROSSING:
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
            pieces += [f"{step.fact.type} → {step.fact.object}" for step in run if step.fact]
    return " + ".join(pieces)


def percent(probability: float) -> str:
    """Write a probability so that nothing looks more certain than it is."""
    if probability >= 0.9995:
        return "> 99.9 %"
    if probability < 0.0005:
        return "< 0.1 %"
    return f"{100 * probability:.1f} %"
