"""How spans are explained: against a list of all segmentations, and the limits.

Shape suffixes: B rows, E edges.
"""

import math
import random
from itertools import chain
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lrlm.errors import InputError, ShapeError
from lrlm.lattice import ExplainedSpan, Lattice, explain, log_marginal, posteriors
from tests.lattice.lattices import INF, build, long_row, random_rows
from tests.oracles import lattice as oracle
from tests.oracles.explanations import Way, explanations


def random_labels(rng: random.Random, rows: list[oracle.Row], kinds: int = 3) -> Tensor:
    """A label for each edge; edges of one span often have the same one."""
    edges = sum(len(row.edges) for row in rows)
    return torch.tensor([rng.randrange(kinds) - 1 for _ in range(edges)], dtype=torch.long)


def only_row(words: list[float], spans: list[tuple[int, int, int, float]], **options: int) -> Any:
    """Explain one row, given its words and the start, end, label and score of each edge."""
    edges = [oracle.Edge(*span[:2], number, span[3]) for number, span in enumerate(spans)]
    labels = torch.tensor([span[2] for span in spans], dtype=torch.long)
    (found,) = explain(build([oracle.Row(words, edges)]), labels, **options)
    return found


def ways(span: ExplainedSpan) -> dict[Way, float]:
    """The explanations of a span as the oracle writes them."""
    words = tuple((place, place + 1, None) for place in range(span.start, span.end))
    found: dict[Way, float] = {("words", words): span.words}
    for label, probability in span.copies:
        found["relation", ((span.start, span.end, label),)] = probability
    for mixture in span.mixtures:
        found["mixture", mixture.steps] = mixture.probability
    if span.other_mixtures is not None:
        found["mixture", ()] = span.other_mixtures
    if span.crossing is not None:
        found["crossing", ()] = span.crossing
    assert len(found) == 1 + len(span.copies) + len(span.mixtures) + (
        span.other_mixtures is not None
    ) + (span.crossing is not None)
    return found


def total(span: ExplainedSpan) -> float:
    return math.fsum(ways(span).values())


def close_spans(one: list[ExplainedSpan], other: list[ExplainedSpan]) -> bool:
    for ours, theirs in zip(one, other, strict=True):
        assert ours[:2] == theirs[:2]
        assert [label for label, _ in ours.copies] == [label for label, _ in theirs.copies]
        assert ways(ours) == pytest.approx(ways(theirs), abs=1e-13)
    return True


@given(seed=st.integers(0, 2**32), impossible=st.sampled_from([0.0, 0.1, 0.5]))
def test_probabilities_are_shares_of_all_segmentations(seed: int, impossible: float) -> None:
    rng = random.Random(seed)
    rows = random_rows(rng, most_tokens=7, impossible=impossible)
    labels = random_labels(rng, rows)
    found = explain(build(rows, padding=rng.randint(0, 2)), labels, most_mixtures=10_000)
    copied = dict(enumerate(labels.tolist()))
    for row, spans in zip(rows, found, strict=True):
        if oracle.log_marginal(row) == -INF:
            assert spans == []
            continue
        assert [span[:2] for span in spans] == sorted({edge[:2] for edge in row.edges})
        for span in spans:
            actual, expected = ways(span), explanations(row, copied, span.start, span.end)
            assert math.fsum(actual.values()) == pytest.approx(1, abs=1e-14)
            for way in actual.keys() | expected.keys():
                assert actual.get(way, 0.0) == pytest.approx(expected.get(way, 0.0), abs=1e-12)
            assert [label for label, _ in span.copies] == list(
                dict.fromkeys(copied[edge.number] for edge in row.edges if edge[:2] == span[:2])
            )
            probabilities = [mixture.probability for mixture in span.mixtures]
            assert probabilities == sorted(probabilities, reverse=True)
            assert span.other_mixtures is None
            # What counts is whether edges are there, not whether they are possible.
            assert (span.crossing is not None) == any(
                edge.start < place < edge.end for edge in row.edges for place in span[:2]
            )


@given(seed=st.integers(0, 2**32), most=st.integers(0, 3))
def test_mixtures_beyond_the_bound_are_one(seed: int, most: int) -> None:
    rng = random.Random(seed)
    rows = random_rows(rng)
    lattice, labels = build(rows), random_labels(rng, rows)
    everything = explain(lattice, labels, most_mixtures=10_000)
    some = explain(lattice, labels, most_mixtures=most)
    for whole, cut in zip(chain(*everything), chain(*some), strict=True):
        shares = [mixture.probability for mixture in whole.mixtures]
        assert [each.probability for each in cut.mixtures] == pytest.approx(
            shares[:most], abs=1e-12
        )
        if len(shares) > most:
            assert cut.other_mixtures == pytest.approx(math.fsum(shares[most:]), abs=1e-12)
        else:
            assert cut.other_mixtures is None
        assert cut.words == pytest.approx(whole.words, abs=1e-12)
        assert dict(cut.copies) == pytest.approx(dict(whole.copies), abs=1e-12)
        assert (cut.crossing is None) == (whole.crossing is None)
        assert cut.crossing == pytest.approx(whole.crossing, abs=1e-12)
        assert total(cut) == pytest.approx(1, abs=1e-14)


def test_copies_are_the_posteriors_and_the_gradient() -> None:
    rng = random.Random(1)
    for _ in range(50):
        rows = random_rows(rng, most_tokens=20, most_edges=20)
        lattice, labels = build(rows), random_labels(rng, rows)
        lattice.score_E.requires_grad_()
        (gradient_E,) = torch.autograd.grad(log_marginal(lattice).sum(), lattice.score_E)
        for probability_E in (posteriors(lattice)[1], gradient_E):
            shares: dict[tuple[int, int, int, int], float] = {}
            for row, start, end, label, probability in zip(
                lattice.row_E.tolist(),
                lattice.start_E.tolist(),
                lattice.end_E.tolist(),
                labels.tolist(),
                probability_E.tolist(),
                strict=True,
            ):
                key = row, start, end, label
                shares[key] = shares.get(key, 0.0) + probability
            copies = {
                (row, span.start, span.end, label): probability
                for row, spans in enumerate(explain(lattice, labels, most_mixtures=0))
                for span in spans
                for label, probability in span.copies
            }
            alive_B = (~log_marginal(lattice).isneginf()).tolist()
            expected = {key: share for key, share in shares.items() if alive_B[key[0]]}
            assert copies == pytest.approx(expected, abs=1e-12)


def test_batch_mates_and_padding_do_not_matter() -> None:
    rng = random.Random(2)
    for _ in range(20):
        rows = random_rows(rng, most_tokens=20, most_edges=20)
        labels = random_labels(rng, rows)
        together = explain(build(rows, padding=3), labels, most_mixtures=5)
        for row, spans in zip(rows, together, strict=True):
            numbers = [edge.number for edge in row.edges]
            (alone,) = explain(build([row]), labels[numbers], most_mixtures=5)
            assert close_spans(alone, spans)


def test_the_united_states() -> None:
    """The paper's example: "the" as a word and then a name, or all of it as one."""
    whole, part = only_row([-1.0] * 3, [(0, 3, 7, math.log(0.25)), (1, 3, 8, math.log(0.5) + 1)])
    all_ways = 0.75 + math.exp(-3)
    assert whole.copies == ((7, pytest.approx(0.25 / all_ways)),)
    assert whole.words == part.words == pytest.approx(math.exp(-3) / all_ways)
    (mixture,) = whole.mixtures
    assert mixture.probability == pytest.approx(0.5 / all_ways)
    assert mixture.steps == ((0, 1, None), (1, 3, 8))
    assert whole.other_mixtures is None
    assert whole.crossing is None
    assert part.copies == ((8, pytest.approx(0.5 / all_ways)),)
    assert part.mixtures == ()
    assert part.crossing == pytest.approx(0.25 / all_ways)


def test_edges_of_one_span_and_label_are_one_explanation() -> None:
    big = 2**40
    halves = [(0, 2, big, math.log(0.1)), (0, 2, -5, math.log(0.2)), (0, 2, big, math.log(0.3))]
    (span,) = only_row([math.log(0.5), math.log(0.8)], halves)
    assert [label for label, _ in span.copies] == [big, -5]
    assert [share for _, share in span.copies] == pytest.approx([0.4, 0.2])
    assert span.words == pytest.approx(0.4)
    # Also as parts of mixtures.
    parts = [(start, end - 1, label, score) for start, end, label, score in halves]
    part, whole = only_row([math.log(0.4), 0.0], [*parts, (0, 2, 1, -INF)])
    assert [mixture.steps for mixture in whole.mixtures] == [
        ((0, 1, big), (1, 2, None)),
        ((0, 1, -5), (1, 2, None)),
    ]
    assert [mixture.probability for mixture in whole.mixtures] == pytest.approx([0.4, 0.2])
    assert part.crossing == pytest.approx(0.0, abs=1e-15)


def alike(span: ExplainedSpan, *expected: Any) -> bool:
    """Compare all fields; copies are given as a dictionary, and mixtures of them there are none."""
    start, end, copies, words, *others = expected
    assert span[:2] == (start, end)
    assert dict(span.copies) == pytest.approx(copies, abs=1e-15)
    assert span.words == pytest.approx(words, abs=1e-15)
    assert span.mixtures == ()
    assert [span.other_mixtures, span.crossing] == [
        None if share is None else pytest.approx(share, abs=1e-15) for share in others
    ]
    return True


def test_a_span_of_one_token_has_no_mixtures() -> None:
    (span,) = only_row([-1.0, -1.0, -1.0], [(1, 2, 0, -1.0)])
    assert alike(span, 1, 2, {0: 0.5}, 0.5, None, None)


def test_spans_that_cross_each_other() -> None:
    first, second = only_row([0.0] * 3, [(0, 2, 0, 0.0), (1, 3, 1, 0.0)])
    assert alike(first, 0, 2, {0: 1 / 3}, 1 / 3, None, 1 / 3)
    assert alike(second, 1, 3, {1: 1 / 3}, 1 / 3, None, 1 / 3)


def test_what_is_impossible() -> None:
    # A copy that cannot be has the probability zero; a mixture that cannot be is not there.
    part, whole = only_row([-1.0, -1.0], [(0, 1, 0, -INF), (0, 2, 1, -2.0)])
    assert alike(part, 0, 1, {0: 0.0}, 0.5, None, 0.5)
    assert alike(whole, 0, 2, {1: 0.5}, 0.5, None, None)
    # An edge that cannot be still crosses, with the probability zero.
    part, whole = only_row([-1.0, -1.0], [(0, 1, 0, -1.0), (0, 2, 1, -INF)], most_mixtures=0)
    assert alike(part, 0, 1, {0: 0.5}, 0.5, None, 0.0)
    assert alike(whole, 0, 2, {1: 0.0}, 0.5, 0.5, None)
    # Only the longer of two nested spans can be.
    whole, part = only_row([-INF, -1.0, -INF], [(1, 2, 0, 3.0), (0, 3, 1, -900.0)])
    assert alike(whole, 0, 3, {1: 1.0}, 0.0, None, None)
    assert alike(part, 1, 2, {0: 0.0}, 0.0, None, 1.0)


def test_rows_that_cannot_be_are_left_out() -> None:
    row = oracle.Row([-1.0, -2.0], [oracle.Edge(0, 2, 1, -3.0)])
    dead = oracle.Row([-1.0, -INF], [oracle.Edge(0, 1, 0, -3.0)])
    none, (span,), empty = explain(build([dead, row, oracle.Row([], [])]), torch.tensor([0, 9]))
    assert none == empty == []
    assert alike(span, 0, 2, {9: 0.5}, 0.5, None, None)
    assert explain(build([dead]), torch.tensor([0])) == [[]]


@pytest.mark.parametrize("most", [0, 64])
def test_very_many_mixtures(most: int) -> None:
    length = 400
    parts = [(place, place + 1, 1, -4.0) for place in range(length)]
    whole_score = -3.69 * length
    found = only_row([-5.0] * length, [(0, length, 0, whole_score), *parts], most_mixtures=most)
    assert len(found) == length + 1
    whole = max(found, key=lambda span: span.end - span.start)
    assert len(whole.mixtures) == most
    # All log-probabilities are measured from `filled`: each token is a word or copied by itself.
    filled = length * math.log(math.exp(-5.0) + math.exp(-4.0))
    copied = math.exp(whole_score - filled)
    assert whole.copies == ((0, pytest.approx(copied / (1 + copied))),)
    # The best mixture has no word, the next ones have one word each.
    log_shares = [-4.0 * length - filled - (1.0 if number else 0.0) for number in range(most)]
    listed = [math.exp(share) / (1 + copied) for share in log_shares]
    assert [mixture.probability for mixture in whole.mixtures] == pytest.approx(listed)
    assert whole.other_mixtures == pytest.approx(1 / (1 + copied) - math.fsum(listed))
    assert all(total(span) == pytest.approx(1, abs=1e-14) for span in found)


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ten_thousand_tokens_with_large_scores(chained: bool, dtype: torch.dtype) -> None:
    rng = random.Random(7)
    rows = [long_row(rng, tokens=10_000, edges=2_000, chained=chained)]
    lattice = build(rows, dtype=dtype)
    (spans,) = explain(lattice, random_labels(rng, rows), most_mixtures=2)
    assert [span[:2] for span in spans] == sorted({edge[:2] for edge in rows[0].edges})
    edges = dict.fromkeys((span[:2] for span in spans), 0.0)
    exact = Lattice(
        lattice.words_BT.double(),
        *(lattice.lengths_B, lattice.row_E, lattice.start_E, lattice.end_E),
        lattice.score_E.double(),
    )
    for edge, probability in zip(rows[0].edges, posteriors(exact)[1].tolist(), strict=True):
        edges[edge[:2]] += probability
    for span in spans:
        assert total(span) == pytest.approx(1, abs=1e-14)
        assert sum(share for _, share in span.copies) == pytest.approx(edges[span[:2]], abs=1e-9)


def test_arguments_that_do_not_fit() -> None:
    lattice = build([oracle.Row([-1.0, -1.0], [oracle.Edge(0, 2, 0, -1.0)])])
    with pytest.raises(ShapeError, match=r"label_E has the shape \(2,\), but \(1,\) is needed"):
        explain(lattice, torch.zeros(2).long())
    for wrong in (torch.zeros(1), torch.tensor([True])):
        with pytest.raises(ShapeError, match=r"label_E holds torch\.\w+, but it must"):
            explain(lattice, wrong)
    with pytest.raises(InputError, match="most_mixtures is -1, but it must be 0 or more"):
        explain(lattice, torch.zeros(1).long(), most_mixtures=-1)
