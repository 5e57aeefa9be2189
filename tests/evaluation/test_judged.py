"""What a model says of candidates: against a list of all segmentations of its lattices."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrlm.evaluation.annotation_quality import (
    Place,
    PlaceExplanation,
    Way,
    places_of,
)
from lrlm.evaluation.gold import Claim, Counts, GoldJudge, Level, claim_of
from lrlm.evaluation.judged import JudgedDocument, JudgedSpan, judge
from lrlm.lattice import Lattice
from lrlm.models import lattice_of, read_documents
from lrlm.text import GoldMention, LinkedDocument
from tests.oracles import gold as gold_oracle
from tests.oracles import lattice as oracle
from tests.toy import VOCABULARY, ToySpeller, UnmentionedSpace, link
from tests.toy_run import toy_run

TEXTS = ["a b u a b a", "u u a b b v a b", "b a b u", "v"]
GOLD = (
    GoldMention(0, 2, "likes", "first"),
    GoldMention(1, 3, None, "second"),
    GoldMention(2, 3, "@title", "topic"),
    GoldMention(3, 4, "never seen", "somebody"),
)


def documents() -> list[LinkedDocument]:
    """No mention is true: all truths are words until a test says otherwise."""
    return [
        replace(link(text, id_=f"article {number}"), gold=()) for number, text in enumerate(TEXTS)
    ]


def judged(
    given: Sequence[LinkedDocument], window: int = 150
) -> tuple[list[JudgedDocument], Lattice]:
    """What an LRLM says of documents, and the lattices behind it."""
    run = toy_run("lrlm", window=window)
    scored = read_documents(run.model, run.collator, list(run.encoder.encode(given)))
    return judge(given, scored, run.space), lattice_of(scored)


def explained(given: Sequence[LinkedDocument], window: int = 150) -> list[Place]:
    found, _ = judged(given, window)
    return [
        place
        for document, each in zip(given, found, strict=True)
        for place in places_of(document, each)
    ]


def row_of(lattice: Lattice, number: int) -> oracle.Row:
    here = (lattice.row_E == number).nonzero().flatten().tolist()
    edges = [
        oracle.Edge(int(lattice.start_E[e]), int(lattice.end_E[e]), e - here[0], lattice_score)
        for e in here
        for lattice_score in [float(lattice.score_E[e])]
    ]
    return oracle.Row(lattice.words_BT[number, : int(lattice.lengths_B[number])].tolist(), edges)


def fact_of(document: LinkedDocument, edge: int) -> tuple[str, str]:
    relation = document.relations[document.mentions[edge].relation]
    return relation.type, relation.object


def claims(found: JudgedDocument) -> dict[Claim, float]:
    return {
        Claim(span.start, span.end, *fact): probability
        for span in found.spans
        for fact, probability in span.facts
    }


def enumerated(
    row: oracle.Row, document: LinkedDocument, start: int, end: int
) -> dict[PlaceExplanation, float]:
    """Sort every segmentation of a row by how it explains a span."""
    total = oracle.log_marginal(row)
    shares: dict[PlaceExplanation, list[float]] = {}
    for value, path in oracle.segmentations(row):
        here = [each for each in path if each[0] < end and start < each[1]]
        if all(number is None for _, _, number in here):
            explanation = PlaceExplanation(Way.WORDS)
        elif len(here) == 1 and here[0][:2] == (start, end):
            explanation = PlaceExplanation(Way.RELATION, fact_of(document, here[0][2] or 0))
        else:
            explanation = PlaceExplanation(Way.OTHERWISE)
        shares.setdefault(explanation, []).append(value - total)
    return {each: math.exp(oracle.log_sum(v)) for each, v in shares.items()}


def test_probabilities_are_shares_of_all_segmentations() -> None:
    _, lattice = judged(documents())
    places = explained(documents())
    expected = {(d.id, m.start, m.end) for d in documents() for m in d.mentions}
    assert {(place.document, place.start, place.end) for place in places} == expected
    assert len(places) == len(expected)
    for place in places:
        number = int(place.document[-1])
        document = documents()[number]
        row = row_of(lattice, number)
        expected_here = enumerated(row, document, place.start, place.end)
        assert sum(place.probabilities.values()) == pytest.approx(1)
        for explanation, probability in place.probabilities.items():
            assert probability == pytest.approx(expected_here.get(explanation, 0.0), abs=1e-12)
        assert set(expected_here) <= set(place.probabilities)
        assert place.best == max(place.probabilities, key=place.probabilities.__getitem__)
        assert place.confidence == max(place.probabilities.values())


def test_claims_are_those_of_all_segmentations() -> None:
    found, lattice = judged(documents())
    for number, document in enumerate(documents()):
        row = row_of(lattice, number)
        expected: dict[Claim, float] = {}
        for (start, end, edge), probability in oracle.posterior(row).items():
            if edge is not None:
                claim = Claim(start, end, *fact_of(document, edge))
                expected[claim] = expected.get(claim, 0.0) + probability
        assert claims(found[number]) == pytest.approx(expected, abs=1e-12)
        score, path = max(oracle.segmentations(row), key=lambda each: each[0])
        assert math.isfinite(score)
        copied = [document.mentions[edge] for _, _, edge in path if edge is not None]
        assert list(found[number].best_path) == copied


@pytest.mark.parametrize("window", [1, 3])
def test_the_window_size_does_not_matter(window: int) -> None:
    whole, _ = judged(documents())
    cut, _ = judged(documents(), window)
    for one, other in zip(whole, cut, strict=True):
        assert one.best_path == other.best_path
        assert claims(one) == pytest.approx(claims(other), abs=1e-9)
        assert [span.words for span in one.spans] == pytest.approx(
            [span.words for span in other.spans], abs=1e-9
        )


def test_the_judge_counts_what_was_claimed() -> None:
    """All documents but the last have gold mentions."""
    given = [
        replace(document, gold=GOLD if number < 3 else None)
        for number, document in enumerate(documents())
    ]
    found, _ = judged(given)
    gold_judge = GoldJudge(given)
    for document, each in zip(given, found, strict=True):
        gold_judge.add(document, each)
    quality = gold_judge.quality()
    for level in Level:
        for threshold, counts in [(None, quality.best_path), *quality.by_threshold.items()]:
            expected = [0, 0, 0]
            for number in range(3):
                best = {claim_of(given[number], mention) for mention in found[number].best_path}
                said = (
                    [gold_oracle.Said(*claim, 1.0) for claim in best]
                    if threshold is None
                    else [gold_oracle.Said(*claim, p) for claim, p in claims(found[number]).items()]
                )
                here = gold_oracle.counts(said, GOLD, level.value, threshold or 0.0)
                expected = [a + b for a, b in zip(expected, here, strict=True)]
            counted = counts[level]
            assert [counted.claimed, counted.right, counted.gold] == expected
    assert quality.best_path[Level.SPAN].gold == 12


def test_relations_with_the_same_type_and_object_are_one_explanation() -> None:
    document = link("a b")
    first = document.relations[0]
    doubled = replace(
        document,
        relations=(first, first),
        mentions=tuple(
            mention._replace(relation=number)
            for mention in document.mentions
            if mention.relation == 0
            for number in (0, 1)
        ),
        gold=(),
    )
    (place,) = explained([doubled])
    assert place.candidates == 1
    assert sum(place.probabilities.values()) == pytest.approx(1)


def truths(*golds: GoldMention) -> dict[tuple[int, int], Way]:
    """What is true of each candidate span of "u a b b", whose candidates nest and overlap."""
    document = replace(link("u a b b"), gold=golds)
    return {(place.start, place.end): place.truth for place in explained([document])}


def test_what_is_true_of_a_span() -> None:
    spans = {(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)}
    assert truths() == dict.fromkeys(spans, Way.WORDS)
    assert truths(GoldMention(1, 3, "likes", "first")) == {
        (0, 1): Way.WORDS,
        (0, 2): Way.OTHERWISE,  # crosses the border of the true mention
        (1, 3): Way.RELATION,
        (2, 3): Way.OTHERWISE,  # lies within it
        (3, 4): Way.WORDS,
    }
    assert truths(GoldMention(0, 1, "x", "y"))[0, 2] is Way.OTHERWISE  # contains it
    assert truths(GoldMention(0, 4, "x", "y")) == dict.fromkeys(spans, Way.OTHERWISE)


def test_only_the_true_relation_is_right() -> None:
    document = link("a b")
    (place,) = (
        place
        for place in explained([replace(document, gold=())])
        if (place.start, place.end) == (0, 2)
    )
    facts = [each.fact for each in place.probabilities if each.fact is not None]
    assert len(facts) == 3
    best = max(facts, key=lambda fact: place.probabilities[PlaceExplanation(Way.RELATION, fact)])
    for fact in facts:
        for type_, object_ in (fact, (None, fact[1]), (fact[0], None), (None, None)):
            gold = (GoldMention(0, 2, type_, object_),)
            (found,) = (
                each
                for each in explained([replace(document, gold=gold)])
                if (each.start, each.end) == (0, 2)
            )
            assert found.truth is Way.RELATION
            agrees = type_ in (None, best[0]) and object_ in (None, best[1])
            assert found.is_right == (found.best.way is Way.RELATION and agrees)


def test_overlaps_are_noticed() -> None:
    document = replace(link("u a b b"), gold=())
    overlapped = {(p.start, p.end): p.is_overlapped for p in explained([document])}
    assert overlapped == {
        (0, 1): True,
        (0, 2): True,
        (1, 3): True,
        (2, 3): True,
        (3, 4): False,
    }


def test_no_candidates_give_no_places() -> None:
    assert explained([replace(link("v"), gold=())]) == []


def test_candidates_need_not_be_mentions_of_words() -> None:
    expected, _ = judged(documents())
    run = toy_run("lrlm", space=UnmentionedSpace(VOCABULARY, ToySpeller()))
    scored = read_documents(run.model, run.collator, list(run.encoder.encode(documents())))
    assert judge(documents(), scored, run.space) == expected


def test_what_is_copied_within_a_word_is_no_gold_mention() -> None:
    """Nor is it a place; but the places that it touches overlap with it."""
    document = replace(documents()[2], gold=(GoldMention(0, 1, None, None),))
    within = JudgedSpan(0, 1, ((("likes", "first"), 0.75),), 0.25)
    whole = JudgedSpan(0, 1, ((("@title", "topic"), 0.5),), 0.5)
    mention = document.mentions[0]
    found = JudgedDocument((whole,), (), (within,), (mention,))
    judge_ = GoldJudge([document])
    judge_.add(document, found)
    quality = judge_.quality()
    assert quality.best_path[Level.SPAN] == Counts(claimed=1, right=0, gold=1)
    assert quality.by_threshold[0.5][Level.SPAN] == Counts(claimed=2, right=1, gold=1)
    (place,) = places_of(document, found)
    assert place.probabilities[PlaceExplanation(Way.RELATION, ("@title", "topic"))] == 0.5
