"""How spans are explained: against a list of all segmentations of random lattices."""

import math
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import LinkableRelation, LinkedDocument, Mention
from lrlm.inference import spans as module
from lrlm.annotation.annotation import Explanation, Kind, Span
from lrlm.inference.spans import explain_spans, log_sum
from lrlm.text import Tokens
from tests.oracles import lattice as oracle
from tests.oracles.explanations import Piece, Way, explanations

FACTS = (("likes", "one"), ("likes", "two"), ("likes", "one"), ("knows", "one"))
"""The first and the third are one fact."""


def document(tokens: int, mentions: list[Mention]) -> LinkedDocument:
    """A text of numbers, two spaces between them, whose mentions are wherever one likes."""
    words = [str(number) for number in range(tokens)]
    text = "  ".join(words)
    starts = [text.index(word, 3 * number) for number, word in enumerate(words)]
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    relations = tuple(LinkableRelation(*fact, (("x",),), ("form",)) for fact in FACTS)
    return LinkedDocument(
        "id",
        "topic",
        "title",
        text,
        Tokens(words, starts, ends),
        relations,
        tuple(sorted(mentions)),
    )


scores = st.floats(-30, 0) | st.just(-math.inf)


@st.composite
def lattices(draw: st.DrawFn) -> tuple[LinkedDocument, list[float], list[float]]:
    length = draw(st.integers(1, 7))
    words = draw(st.lists(scores, min_size=length, max_size=length))
    spans = [(start, end) for start in range(length) for end in range(start + 1, length + 1)]
    chosen = draw(
        st.lists(
            st.tuples(st.sampled_from(spans), st.integers(0, len(FACTS) - 1)),
            max_size=6,
            unique=True,
        )
    )
    linked = document(length, [Mention(*span, relation, 0) for span, relation in chosen])
    edges = draw(st.lists(scores, min_size=len(chosen), max_size=len(chosen)))
    return linked, words, edges


def row_of(linked: LinkedDocument, words: list[float], edges: list[float]) -> oracle.Row:
    numbered = zip(linked.mentions, edges, strict=True)
    return oracle.Row(
        words, [oracle.Edge(m.start, m.end, number, e) for number, (m, e) in enumerate(numbered)]
    )


def as_way(linked: LinkedDocument, explanation: Explanation) -> Way:
    """Count an explanation's steps in tokens again."""
    starts, ends = linked.tokens.starts, linked.tokens.ends
    pieces: list[Piece] = [
        (starts.index(step.start), ends.index(step.end) + 1, step.fact and step.fact[:2])
        for step in explanation.steps
    ]
    return explanation.kind, tuple(pieces)


def tokens_of(linked: LinkedDocument, span: Span) -> tuple[int, int]:
    return linked.tokens.starts.index(span.start), linked.tokens.ends.index(span.end) + 1


@given(lattices())
def test_probabilities_are_shares_of_all_segmentations(
    made: tuple[LinkedDocument, list[float], list[float]],
) -> None:
    linked, words, edges = made
    row = row_of(linked, words, edges)
    total = oracle.log_marginal(row)
    if total == -math.inf:
        return  # of a text that cannot be, nothing is asked
    found, nats = explain_spans(linked, words, edges)
    assert nats == pytest.approx(-total, abs=1e-9)
    assert [tokens_of(linked, span) for span in found] == sorted(
        {(mention.start, mention.end) for mention in linked.mentions}
    )
    facts = {number: FACTS[mention.relation] for number, mention in enumerate(linked.mentions)}
    for span in found:
        expected = explanations(row, facts, *tokens_of(linked, span))
        ways = {as_way(linked, each): each.probability for each in span.explanations}
        assert len(ways) == len(span.explanations)
        assert math.fsum(ways.values()) == pytest.approx(1, abs=1e-12)
        for way in ways.keys() | expected.keys():
            assert ways.get(way, 0.0) == pytest.approx(expected.get(way, 0.0), abs=1e-12)
        assert span.best.probability == max(ways.values())
        assert span.text == linked.text[span.start : span.end]


@given(lattices())
def test_mixtures_beyond_the_bound_are_one(
    made: tuple[LinkedDocument, list[float], list[float]],
) -> None:
    linked, words, edges = made
    if oracle.log_marginal(row_of(linked, words, edges)) == -math.inf:
        return
    everything, _ = explain_spans(linked, words, edges)
    with mock.patch.object(module, "MOST_MIXTURES", 2):
        some, _ = explain_spans(linked, words, edges)
    for whole, cut in zip(everything, some, strict=True):
        mixtures = [each for each in whole.explanations if each.kind is Kind.MIXTURE]
        listed = [each for each in cut.explanations if each.kind is Kind.MIXTURE and each.steps]
        rest = [each for each in cut.explanations if each.kind is Kind.MIXTURE and not each.steps]
        assert len(listed) == min(len(mixtures), 2)
        assert len(rest) == (len(mixtures) > 2)
        assert [each.probability for each in listed] == pytest.approx(
            [each.probability for each in mixtures[:2]], abs=1e-12
        )
        assert sum(each.probability for each in rest) == pytest.approx(
            sum(each.probability for each in mixtures[2:]), abs=1e-12
        )
        assert sum(each.probability for each in cut.explanations) == pytest.approx(1, abs=1e-12)


def test_a_long_block_with_very_many_mixtures() -> None:
    length = 400
    mentions = [Mention(0, length, 0, 0)]
    mentions += [Mention(place, place + 1, 1, 0) for place in range(length)]
    linked = document(length, mentions)
    found, nats = explain_spans(linked, [-5.0] * length, [-3.0 * length] + [-4.0] * length)
    assert math.isfinite(nats)
    whole = max(found, key=lambda span: span.end - span.start)
    assert len(whole.explanations) == 1 + 1 + module.MOST_MIXTURES + 1
    for span in found:
        assert math.fsum(each.probability for each in span.explanations) == pytest.approx(
            1, abs=1e-9
        )


def test_the_united_states() -> None:
    """The paper's example: "the" as a word and then a name, or all of it as one."""
    linked = document(3, [Mention(0, 3, 0, 0), Mention(1, 3, 1, 0)])
    (whole, part), nats = explain_spans(linked, [-1.0] * 3, [math.log(0.25), math.log(0.5) + 1])
    assert nats == pytest.approx(-math.log(0.75 + math.exp(-3)))
    assert [each.kind for each in whole.explanations] == [Kind.MIXTURE, Kind.RELATION, Kind.WORDS]
    assert [each.kind for each in part.explanations] == [
        Kind.RELATION, Kind.CROSSING, Kind.WORDS,
    ]  # fmt: skip
    assert whole.best.probability == pytest.approx(part.best.probability)
    assert whole.best.fact is None
    assert whole.relation.fact is not None
    assert whole.relation.fact.object == "one"
    word, name = whole.best.steps
    assert (word.start, word.end, word.fact) == (0, 1, None)
    assert (name.start, name.end) == (part.start, part.end)


def test_log_sum() -> None:
    assert log_sum([-1000.0, -1000.0]) == pytest.approx(-1000 + math.log(2))
    assert log_sum([-math.inf, -math.inf]) == -math.inf
    assert log_sum([-math.inf, 1.0]) == 1.0
