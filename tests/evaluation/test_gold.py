"""Precision, recall and F1 against gold mentions: by hand, and against comparing each with each."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import GoldMention, LinkedDocument
from lrlm.evaluation import Claim, Counts, Level, Tally, every_candidate, longest_match
from lrlm.evaluation.gold import THRESHOLDS, contested_places, gold_mentions, match_strings
from lrlm.knowledge import Relation, Topic
from tests.oracles import gold as oracle
from tests.toy import link

PARIS = Topic(
    "Paris",
    names=["Paris"],
    relations=[
        Relation("capital of", "France", ["France"]),
        Relation("country", "France", ["France"]),
        Relation("mayor", "Hidalgo", ["Anne Hidalgo", "Hidalgo"]),
        Relation("twin", "Rome", ["Rome"]),
        Relation("team", "Paris FC", ["Paris FC", "Paris"]),
    ],
)
#        0     1  2      3   4    5       6  7     8  9
TEXT = "Paris in France ; Anne Hidalgo met Paris FC ."


def document(*gold: GoldMention) -> LinkedDocument:
    return replace(link(TEXT, PARIS), gold=gold)


GOLD = (
    GoldMention(0, 1, "@title", "Paris"),
    GoldMention(2, 3, None, "France"),  # which of the two relations is not known
    GoldMention(4, 6, "mayor", "Hidalgo"),
    GoldMention(7, 9, "rival", "Paris FC"),  # a relation that the topic does not have
    GoldMention(6, 7, "verb", "meeting"),  # an object that the topic does not have
)


def test_every_candidate_is_claimed() -> None:
    assert every_candidate(document()) == [
        Claim(0, 1, "@title", "Paris"),
        Claim(0, 1, "team", "Paris FC"),
        Claim(2, 3, "capital of", "France"),
        Claim(2, 3, "country", "France"),
        Claim(4, 6, "mayor", "Hidalgo"),
        Claim(5, 6, "mayor", "Hidalgo"),
        Claim(7, 8, "@title", "Paris"),
        Claim(7, 8, "team", "Paris FC"),
        Claim(7, 9, "team", "Paris FC"),
    ]


def test_the_longest_match_goes_from_left_to_right() -> None:
    assert longest_match(document()) == [
        Claim(0, 1, "@title", "Paris"),  # the first of two relations
        Claim(2, 3, "capital of", "France"),
        Claim(4, 6, "mayor", "Hidalgo"),
        Claim(7, 9, "team", "Paris FC"),
    ]
    overlapping = Topic("t", names=["a b"], relations=[Relation("r", "o", ["b c d", "d"])])
    found = longest_match(link("a b c d", overlapping))
    assert [(each.start, each.end) for each in found] == [(0, 2), (3, 4)]


def test_string_matching_is_counted_by_hand() -> None:
    found = match_strings([document(*GOLD), link(TEXT, PARIS)])  # nothing is known of the second
    assert found.documents == 1
    assert found.mentions == {Level.SPAN: 5, Level.OBJECT: 5, Level.RELATION: 4}
    assert found.without_fact == 1
    assert found.every_candidate == {
        Level.SPAN: Counts(claimed=6, right=4, gold=5),
        Level.OBJECT: Counts(claimed=8, right=4, gold=5),
        # Neither relation to France is counted; that of "Paris FC" is another one.
        Level.RELATION: Counts(claimed=7, right=2, gold=4),
    }
    assert found.longest_match == {
        Level.SPAN: Counts(claimed=4, right=4, gold=5),
        Level.OBJECT: Counts(claimed=4, right=4, gold=5),
        Level.RELATION: Counts(claimed=3, right=2, gold=4),
    }
    assert [found.unreachable(level) for level in Level] == [1, 1, 2]


def test_documents_are_summed_before_dividing() -> None:
    gold = (GoldMention(0, 1, "@title", "Paris"),)
    found = match_strings([document(*gold), document(*gold), document()])
    assert found.longest_match[Level.SPAN] == Counts(claimed=12, right=2, gold=2)
    assert found.longest_match[Level.SPAN].precision == pytest.approx(1 / 6)


def test_shares() -> None:
    counts = Counts(claimed=4, right=3, gold=6)
    assert (counts.precision, counts.recall) == (0.75, 0.5)
    assert counts.f1 == pytest.approx(0.6)
    assert Counts(0, 0, 3).precision is None
    assert (Counts(0, 0, 3).recall, Counts(0, 0, 3).f1) == (0.0, 0.0)
    assert (Counts(2, 0, 0).recall, Counts(2, 0, 0).f1) == (None, 0.0)
    assert Counts(0, 0, 0).f1 is None


def test_an_open_object_counts_only_as_a_span() -> None:
    gold = (GoldMention(0, 1, None, None),)
    tally = Tally(gold_mentions([document(*gold)]))
    tally.add({Claim(0, 1, "@title", "Paris"): 1.0, Claim(2, 3, "country", "France"): 1.0}, gold)
    assert tally.counts() == {
        Level.SPAN: Counts(2, 1, 1),
        Level.OBJECT: Counts(1, 0, 0),
        Level.RELATION: Counts(1, 0, 0),
    }


def test_probabilities_add_up_where_a_level_sees_no_difference() -> None:
    gold = (GoldMention(2, 3, "country", "France"),)
    tally = Tally(gold_mentions([document(*gold)]))
    tally.add(
        {Claim(2, 3, "country", "France"): 0.4, Claim(2, 3, "capital of", "France"): 0.3}, gold
    )
    assert tally.counts(0.5) == {
        Level.SPAN: Counts(1, 1, 1),
        Level.OBJECT: Counts(1, 1, 1),
        Level.RELATION: Counts(0, 0, 1),
    }
    assert tally.counts(0.35)[Level.RELATION] == Counts(1, 1, 1)
    assert tally.counts(0.3)[Level.RELATION] == Counts(2, 1, 1)


def test_thresholds() -> None:
    assert THRESHOLDS[0] == 0.05
    assert THRESHOLDS[-1] == 0.95
    assert len(THRESHOLDS) == 19


_starts, _ends, _names = st.integers(0, 2), st.integers(3, 4), st.sampled_from(["a", "b"])
_said = st.builds(
    oracle.Said, _starts, _ends, _names, _names, st.sampled_from([0.125, 0.25, 0.5, 1.0])
)
_gold = st.builds(GoldMention, _starts, _ends, _names | st.none(), _names | st.none())


@given(
    said=st.lists(_said, max_size=8, unique_by=lambda claim: claim[:4]),
    gold=st.lists(_gold, max_size=6),
    threshold=st.sampled_from([0.0, 0.25, 0.5, 0.75]),
)
def test_counts_are_those_of_comparing_each_with_each(
    said: list[oracle.Said], gold: list[GoldMention], threshold: float
) -> None:
    tally = Tally(gold_mentions([document(*gold)]))
    tally.add({Claim(*claim[:4]): claim.probability for claim in said}, gold)
    for level, found in tally.counts(threshold).items():
        expected = oracle.counts(said, gold, level.value, threshold)
        assert (found.claimed, found.right, found.gold) == expected


def test_places_are_contested_where_candidates_compete_or_words_are_plain_elsewhere() -> None:
    first = replace(document(*GOLD), id="first")
    assert contested_places([first]) == {
        "first": [(0, 1), (2, 3), (4, 6), (7, 9)],
    }
    # "Rome" is a candidate of one relation alone: a mention here, and plain in another text.
    rome = replace(link("Rome .", PARIS), id="rome", gold=(GoldMention(0, 1, "twin", "Rome"),))
    plain = replace(link("in Rome .", PARIS), id="plain", gold=())
    assert contested_places([rome]) == {"rome": []}
    assert contested_places([rome, plain]) == {"rome": [(0, 1)], "plain": [(1, 2)]}
    assert contested_places([link(TEXT, PARIS)]) == {}  # nothing is known of its mentions


def test_contested_mentions_and_their_ceiling() -> None:
    rome = replace(link("Rome .", PARIS), id="rome", gold=(GoldMention(0, 1, "twin", "Rome"),))
    found = match_strings([replace(document(*GOLD), id="first"), rome]).contested
    # "met" touches no candidate, and "Rome" is not contested.
    assert found.mentions == {Level.SPAN: 4, Level.OBJECT: 4, Level.RELATION: 3}
    assert found.oracle[Level.SPAN] == Counts(4, 4, 4)
    assert found.oracle[Level.OBJECT] == Counts(4, 4, 4)
    assert found.oracle[Level.RELATION] == Counts(2, 2, 3)  # "rival" is no type of the topic
    assert found.longest_match[Level.OBJECT] == Counts(4, 4, 4)
