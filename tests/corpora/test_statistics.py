"""The figures of the paper's table of datasets, counted by hand."""

import pytest

from lrlm.corpora import GoldMention, LinkableRelation, LinkedDocument, Mention
from lrlm.corpora.statistics import SplitStatistics, figures
from lrlm.text import Profile, tokenise


def document(text: str, *mentions: Mention, facts: int = 1) -> LinkedDocument:
    relations = [LinkableRelation("@title", "Q1", (("a",),), ("a",))]
    relations += [LinkableRelation("t", "o", (("b",), ("b", "c")), ("b", "b c"))] * facts
    return LinkedDocument(
        "id", "Q1", "a", text, tokenise(text, Profile.SPACES), tuple(relations), mentions
    )


ONE = document("a b c a", Mention(0, 1, 0, 0), Mention(1, 2, 1, 0), Mention(1, 3, 1, 1))
TWO = document("b x", Mention(0, 1, 1, 0), Mention(0, 1, 2, 0), facts=2)


def test_figures_by_hand() -> None:
    split = SplitStatistics.of([ONE, TWO]).to_dict()
    assert figures(split) == {
        "documents": 2,
        "words": 4,
        "frequent words": 0,
        "relations per topic": 1.5,
        "forms per object": (3 + 5) / (2 + 3),
        "tokens per document": 3,
        "mentions per document": (3 + 1) / 2,
        "candidates per document": (3 + 2) / 2,
        "tokens covered": (3 + 1) / 6,
    }


def test_a_span_with_two_sources_is_one_mention_and_two_candidates() -> None:
    statistics = SplitStatistics.of([TWO])
    assert (statistics.spans, statistics.candidates, statistics.covered_tokens) == (1, 2, 1)


def test_sums_of_parts_are_sums_of_the_whole() -> None:
    total = SplitStatistics.of([ONE])
    total += SplitStatistics.of([TWO])
    assert total == SplitStatistics.of([ONE, TWO])
    assert total.word_counts == {"a": 2, "b": 2, "c": 1, "x": 1}


def test_frequent_words_occur_three_times() -> None:
    split = SplitStatistics.of([document("a a a b b c")]).to_dict()
    assert (split["words"], split["frequent_words"]) == (3, 1)


def test_gold_is_counted_where_it_is_known() -> None:
    known = LinkedDocument(
        "i", "t", "T", "a b", tokenise("a b"), (), (), gold=(GoldMention(0, 1, None, None),)
    )
    assert SplitStatistics.of([ONE, known]).gold_mentions == 1


def test_nothing_gives_zeros() -> None:
    assert set(figures(SplitStatistics().to_dict()).values()) == {0}


@pytest.mark.parametrize("facts", [0, 3])
def test_the_title_is_no_relation_of_the_topic(facts: int) -> None:
    assert (
        figures(SplitStatistics.of([document("a", facts=facts)]).to_dict())["relations per topic"]
        == facts
    )
