"""What a model claims: against a list of all segmentations of a toy model's lattices."""

import math
from dataclasses import replace

import pytest

from lrlm.corpora import GoldMention, LinkedDocument
from lrlm.evaluation import Claim, GoldJudge, Level, read, read_claims
from tests.models.contract import make_model
from tests.oracles import gold as gold_oracle
from tests.oracles import lattice as oracle
from tests.toy import collator, encode, link

TEXTS = ["a b u a b a", "u u a b b v a b", "b a b u", "v"]
GOLD = (
    GoldMention(0, 2, "likes", "first"),
    GoldMention(1, 3, None, "second"),
    GoldMention(2, 3, "@title", "topic"),
    GoldMention(3, 4, "never seen", "somebody"),
)


def documents() -> list[LinkedDocument]:
    return [link(text, id_=f"article {number}") for number, text in enumerate(TEXTS)]


def annotated() -> list[LinkedDocument]:
    """All but the last have gold mentions."""
    return [
        replace(document, gold=GOLD if number < 3 else None)
        for number, document in enumerate(documents())
    ]


def claimed(window: int = 150) -> tuple[list[set[Claim]], list[dict[Claim, float]]]:
    """The best path's claims and the posterior of each document, put together from windows."""
    best: list[set[Claim]] = [set() for _ in TEXTS]
    posterior: list[dict[Claim, float]] = [{} for _ in TEXTS]
    for reading in read(make_model("lrlm", "lstm"), collator(window).windows(encode(*documents()))):
        for number, row in zip(
            reading.window.document_B.tolist(), read_claims(reading, documents()), strict=True
        ):
            best[number].update(row.best_path)
            posterior[number].update(row.posterior)
    return best, posterior


def test_claims_are_those_of_all_segmentations() -> None:
    best, posterior = claimed()
    (reading,) = read(make_model("lrlm", "lstm"), collator().windows(encode(*documents())))
    lattice = reading.spelled(reading.window.spelling_BT)
    relations = reading.window.edges.relation_E.tolist()
    for number, document in enumerate(documents()):
        edges = [
            oracle.Edge(
                int(lattice.start_E[e]), int(lattice.end_E[e]), e, float(lattice.score_E[e])
            )
            for e in (lattice.row_E == number).nonzero().flatten().tolist()
        ]
        row = oracle.Row(lattice.words_BT[number, : len(document.tokens)].tolist(), edges)

        def claim_of(segment: oracle.Segment, *, owner: LinkedDocument = document) -> Claim:
            start, end, edge = segment
            assert edge is not None
            relation = owner.relations[relations[edge]]
            return Claim(start, end, relation.type, relation.object)

        expected: dict[Claim, float] = {}
        for segment, probability in oracle.posterior(row).items():
            if segment[2] is not None:
                claim = claim_of(segment)
                expected[claim] = expected.get(claim, 0.0) + probability
        assert posterior[number] == pytest.approx(expected, abs=1e-12)
        score, path = max(oracle.segmentations(row), key=lambda each: each[0])
        assert math.isfinite(score)
        assert best[number] == {claim_of(each) for each in path if each[2] is not None}


@pytest.mark.parametrize("window", [1, 3])
def test_the_window_size_does_not_matter(window: int) -> None:
    best, posterior = claimed()
    cut_best, cut_posterior = claimed(window)
    assert cut_best == best
    for one, other in zip(cut_posterior, posterior, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("window", [150, 2])
def test_the_judge_counts_what_was_claimed(window: int) -> None:
    given = annotated()
    judge = GoldJudge(given)
    for reading in read(make_model("lrlm", "lstm"), collator(window).windows(encode(*given))):
        judge.see(reading, given)
    quality = judge.quality()
    best, posterior = claimed()
    for level in Level:
        for threshold, counts in [(None, quality.best_path), *quality.by_threshold.items()]:
            expected = [0, 0, 0]
            for number in range(3):
                said = (
                    [gold_oracle.Said(*claim, 1.0) for claim in best[number]]
                    if threshold is None
                    else [gold_oracle.Said(*claim, p) for claim, p in posterior[number].items()]
                )
                here = gold_oracle.counts(said, GOLD, level.value, threshold or 0.0)
                expected = [a + b for a, b in zip(expected, here, strict=True)]
            found = counts[level]
            assert [found.claimed, found.right, found.gold] == expected
    assert quality.best_path[Level.SPAN].gold == 12
