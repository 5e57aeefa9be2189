"""How spans are explained: against a list of all segmentations of a toy model's lattices."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrlm.corpora import GoldMention, LinkedDocument
from lrlm.evaluation import Place, Way, explain, read
from lrlm.evaluation.annotation_quality import (
    Explanation,
    Fact,
    all_words_probability,
    unlinked_mentions,
)
from lrlm.lattice import Lattice
from tests.models.contract import make_model
from tests.oracles import lattice as oracle
from tests.toy import collator, encode, link

TEXTS = ["a b u a b a", "u u a b b v a b", "b a b u"]


def documents() -> list[LinkedDocument]:
    """No mention is true: all truths are words until a test says otherwise."""
    return [
        replace(link(text, id_=f"article {number}"), gold=()) for number, text in enumerate(TEXTS)
    ]


def explained(given: Sequence[LinkedDocument], window: int = 150) -> list[Place]:
    model = make_model("lrlm", "lstm")
    return [
        place
        for reading in read(model, collator(window).windows(encode(*given)))
        for place in explain(reading, given)
    ]


def enumerated(
    row: oracle.Row, facts: dict[int, Fact], start: int, end: int
) -> dict[Explanation, float]:
    """Sort every segmentation of a row by how it explains a span."""
    total = oracle.log_marginal(row)
    shares: dict[Explanation, list[float]] = {}
    for value, path in oracle.segmentations(row):
        here = [each for each in path if each[0] < end and start < each[1]]
        if all(number is None for _, _, number in here):
            explanation = Explanation(Way.WORDS)
        elif len(here) == 1 and here[0][:2] == (start, end):
            explanation = Explanation(Way.RELATION, facts[here[0][2] or 0])
        else:
            explanation = Explanation(Way.OTHERWISE)
        shares.setdefault(explanation, []).append(value - total)
    return {each: math.exp(oracle.log_sum(v)) for each, v in shares.items()}


def test_probabilities_are_shares_of_all_segmentations() -> None:
    model = make_model("lrlm", "lstm")
    (reading,) = read(model, collator().windows(encode(*documents())))
    lattice = reading.spelled(reading.window.spelling_BT)
    places = explain(reading, documents())
    expected = {(d.id, m.start, m.end) for d in documents() for m in d.mentions}
    assert {(place.document, place.start, place.end) for place in places} == expected
    assert len(places) == len(expected)
    for place in places:
        number = int(place.document[-1])
        document = documents()[number]
        here = (lattice.row_E == number).nonzero().flatten().tolist()
        edges = [
            oracle.Edge(
                int(lattice.start_E[e]), int(lattice.end_E[e]), e, float(lattice.score_E[e])
            )
            for e in here
        ]
        relations = reading.window.edges.relation_E.tolist()
        facts = {
            e: (document.relations[relations[e]].type, document.relations[relations[e]].object)
            for e in here
        }
        words = lattice.words_BT[number, : len(document.tokens)].tolist()
        expected_here = enumerated(oracle.Row(words, edges), facts, place.start, place.end)
        assert sum(place.probabilities.values()) == pytest.approx(1)
        for explanation, probability in place.probabilities.items():
            assert probability == pytest.approx(expected_here.get(explanation, 0.0), abs=1e-12)
        assert set(expected_here) <= set(place.probabilities)
        assert place.best == max(place.probabilities, key=place.probabilities.__getitem__)
        assert place.confidence == max(place.probabilities.values())


@pytest.mark.parametrize("window", [1, 3])
def test_the_window_size_does_not_matter(window: int) -> None:
    def listed(places: list[Place]) -> dict[tuple[str, int, int], Place]:
        return {(place.document, place.start, place.end): place for place in places}

    whole, cut = listed(explained(documents())), listed(explained(documents(), window))
    assert sorted(whole) == sorted(cut)
    for key, place in whole.items():
        assert cut[key].probabilities == pytest.approx(place.probabilities, abs=1e-9)
        assert cut[key].words == place.words
        assert cut[key].is_overlapped == place.is_overlapped


def test_relations_with_the_same_type_and_object_are_one_explanation() -> None:
    (document,) = (link("a b"),)
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
    best = max(facts, key=lambda fact: place.probabilities[Explanation(Way.RELATION, fact)])
    for fact in facts:
        for type_, object_ in (fact, (None, fact[1]), (fact[0], None), (None, None)):
            gold = (GoldMention(0, 2, type_, object_),)
            (judged,) = (
                each
                for each in explained([replace(document, gold=gold)])
                if (each.start, each.end) == (0, 2)
            )
            assert judged.truth is Way.RELATION
            agrees = type_ in (None, best[0]) and object_ in (None, best[1])
            assert judged.is_right == (judged.best.way is Way.RELATION and agrees)


def test_documents_without_truth_are_not_explained() -> None:
    known, unknown = documents()[0], link(TEXTS[1], id_="unknown")
    assert {place.document for place in explained([unknown, known])} == {"article 0"}


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


def test_mentions_that_nothing_links_are_counted() -> None:
    golds = (GoldMention(1, 3, "likes", "first"), GoldMention(0, 4, "x", "y"))
    assert unlinked_mentions([replace(link("u a b b"), gold=golds), link("a b")]) == 1


def test_no_places_give_no_probabilities() -> None:
    (reading,) = read(make_model("lrlm", "lstm"), collator().windows(encode(link("v"))))
    lattice: Lattice = reading.unspelled
    assert all_words_probability(lattice, []).tolist() == []
    assert explain(reading, [replace(link("v"), gold=())]) == []
