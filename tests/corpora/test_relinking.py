"""Documents that are linked anew: the same with the same options, and gold that stays in place."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import (
    GoldMention,
    GoldSpan,
    LetterCase,
    LinkedDocument,
    LinkOptions,
    NameRule,
    link,
    relink,
)
from lrlm.knowledge import Relation, Topic
from lrlm.text import Profile

WORDS = [
    "New York",
    "york",
    "St. John's",
    "co-op",
    "the",
    "1,000",
    "-",
    "É",
    "don't",
    "U.S.",
    "!",
    "Bogota\u0301",
    "York-based",
]
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
NAMES = st.lists(NAME, max_size=4)
OPTIONS = st.builds(
    LinkOptions,
    st.sampled_from(Profile),
    st.sampled_from(LetterCase),
    st.booleans(),
    st.frozensets(st.sampled_from(NameRule)),
)
TOPIC = st.builds(
    Topic,
    st.sampled_from(["Q1", "!", "New York"]),
    NAMES,
    st.lists(
        st.builds(Relation, st.sampled_from("ab"), st.sampled_from(["x", "y", "-"]), NAMES),
        max_size=4,
    ),
)
TEXT = st.lists(st.sampled_from([*WORDS, ",", ".", "(", "New", "York"]), min_size=1).flatmap(
    lambda words: st.sampled_from(["".join(words), " ".join(words), "\n ".join(words)])
)


@st.composite
def gold(draw: st.DrawFn, text: str) -> list[GoldSpan] | None:
    """Draw gold mentions anywhere in a text; many of them cut through tokens."""
    ends = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True).map(sorted)
    spans = draw(st.none() | st.lists(ends, max_size=4))
    object_ = st.none() | st.sampled_from(["x", "y", "Q1", "else"])
    type_ = st.none() | st.sampled_from("ab")
    if spans is None:
        return None
    return [GoldSpan(start, end, draw(type_), draw(object_)) for start, end in spans]


@st.composite
def documents(draw: st.DrawFn, profiles: Sequence[Profile]) -> tuple[LinkedDocument, LinkOptions]:
    text = draw(TEXT)
    options = draw(OPTIONS.filter(lambda each: each.profile in profiles))
    document = link(text, draw(TOPIC), options, id="a", title="A", gold=draw(gold(text)))
    return document, options


@given(documents(list(Profile)))
def test_the_same_options_give_the_same_document(
    linked: tuple[LinkedDocument, LinkOptions],
) -> None:
    document, options = linked
    assert relink(document, options) == document


def characters(document: LinkedDocument) -> set[tuple[int, int, str | None]]:
    """Give where the gold mentions of a document are, in characters, and what they name."""
    tokens = document.tokens
    return {
        (tokens.starts[each.start], tokens.ends[each.end - 1], each.object)
        for each in document.gold or ()
    }


@pytest.mark.parametrize("target", list(Profile))
@given(linked=documents(list(Profile)), letter_case=st.sampled_from(LetterCase))
def test_gold_survives_exactly_where_it_falls_on_tokens(
    target: Profile, linked: tuple[LinkedDocument, LinkOptions], letter_case: LetterCase
) -> None:
    document, _ = linked
    again = relink(document, LinkOptions(target, letter_case))
    starts, ends = set(again.tokens.starts), set(again.tokens.ends)
    fitting = {each for each in characters(document) if each[0] in starts and each[1] in ends}
    assert characters(again) == fitting
    assert (again.gold is None) == (document.gold is None)
    assert (again.id, again.topic, again.title, again.text) == (
        document.id, document.topic, document.title, document.text,
    )  # fmt: skip


def test_text_in_tokens_is_read_as_running_text_and_loses_only_gold_within_tokens() -> None:
    topic = Topic("Oslo", relations=[Relation("country", "Norway"), Relation("part", "St. John's")])
    text = "Oslo , Norway ( St. John's ) ."
    places = [
        (0, 4, "Oslo"),
        (7, 13, "Norway"),
        (16, 26, "St. John's"),
        (20, 24, "John"),
        (27, 28, ")"),
    ]
    spans = [GoldSpan(start, end, None, named) for start, end, named in places]
    given_in_tokens = link(text, topic, LinkOptions(Profile.SPACES), gold=spans)
    assert len(given_in_tokens.gold or ()) == 4  # "John" is within a token
    raw = relink(given_in_tokens, LinkOptions(Profile.RAW))
    assert raw.tokens.words[5:7] == ["John", "'s"]
    assert raw.gold == (
        GoldMention(0, 1, "@title", "Oslo"),
        GoldMention(2, 3, "country", "Norway"),
        GoldMention(4, 7, "part", "St. John's"),
        GoldMention(7, 8, None, ")"),
    )
    assert [tuple(each)[:2] for each in raw.mentions] == [(0, 1), (2, 3), (4, 7)]


def test_running_text_is_not_cut_at_its_spaces() -> None:
    topic = Topic("Oslo", relations=[Relation("country", "Norway")])
    raw = link("Oslo, Norway.", topic, gold=[GoldSpan(6, 12, None, "Norway")])
    again = relink(raw, LinkOptions(Profile.SPACES))
    assert again == raw  # what forms and texts in tokens are compared by is the same


def test_other_options_find_other_mentions() -> None:
    topic = Topic("Q1", ["IT", "Oslo"])
    document = link("OSLO is it", topic)
    assert not document.mentions
    again = relink(document, LinkOptions(letter_case=LetterCase.VARIANTS, stop_words=True))
    assert [tuple(each)[:2] for each in again.mentions] == [(0, 1), (2, 3)]
    assert relink(again, LinkOptions()) == document
