"""Every occurrence of every form, and nothing else: examples, and a quadratic oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import (
    GoldMention,
    GoldSpan,
    LetterCase,
    LinkableRelation,
    Linker,
    LinkOptions,
    Matcher,
    NameRule,
    check_text,
    link,
    linkable_relations,
    topic_of,
)
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.text import Profile, split_words, tokenise
from tests.oracles import linking as oracle

AS_GIVEN = LinkOptions(profile=Profile.SPACES)


def found(topic: Topic, text: str, options: LinkOptions = AS_GIVEN) -> list[tuple[str, str, str]]:
    """List the mentions of a text as people would: the words, the relation's type, the form."""
    relations = linkable_relations(topic, options)
    words = split_words(text, options.profile)
    return [
        (
            " ".join(words[mention.start : mention.end]),
            relations[mention.relation].type,
            relations[mention.relation].texts[mention.form],
        )
        for mention in Matcher(relations).find(words)
    ]


def place(*forms: str) -> Topic:
    return Topic("Someone", relations=[Relation("place", "Q1", forms)])


def forms_of(topic: Topic, options: LinkOptions = AS_GIVEN) -> list[tuple[str, ...]]:
    """Give the forms of all facts; the title is left out."""
    relations = linkable_relations(topic, options)
    return [form for relation in relations if relation.type != TITLE for form in relation.forms]


def test_new_york_is_not_in_new_yorker() -> None:
    text = "The New Yorker is read in New York , by New Yorkers ."
    for profile in Profile:
        spans = found(place("New York"), text, LinkOptions(profile=profile))
        assert spans == [("New York", "place", "New York")]


def test_spans_after_a_longer_word_are_not_shifted() -> None:
    relations = linkable_relations(place("New York", "Albany"), AS_GIVEN)
    mentions = Matcher(relations).find(split_words("New Yorker, New York, Albany"))
    assert [(mention.start, mention.end) for mention in mentions] == [(3, 5), (6, 7)]


def test_overlaps_nestings_and_ambiguities_are_all_kept() -> None:
    topic = Topic(
        "Tour",
        relations=[
            Relation("start", "NYC", ["New York City", "New York"]),
            Relation("venue", "City Hall", ["City Hall"]),
            Relation("end", "NYC", ["New York City", "New York"]),
        ],
    )
    assert found(topic, "at New York City Hall") == [
        ("New York", "start", "New York"),
        ("New York", "end", "New York"),
        ("New York City", "start", "New York City"),
        ("New York City", "end", "New York City"),
        ("City Hall", "venue", "City Hall"),
    ]


def test_every_occurrence_is_found_even_if_it_overlaps_itself() -> None:
    assert len(found(place("a b a", "x x"), "a b a b a x x x")) == 4
    assert found(place("a b"), "a") == []
    assert found(place("a b"), "") == []


def test_the_topic_itself_is_the_first_relation() -> None:
    topic = Topic("Q1", ["Paris", "City of Light"], [Relation("country", "France")])
    assert found(topic, "Paris , the City of Light , is in France") == [
        ("Paris", TITLE, "Paris"),
        ("City of Light", TITLE, "City of Light"),
        ("France", "country", "France"),
    ]
    assert linkable_relations(topic)[0].object == "Q1"


def test_forms_that_are_cut_alike_are_one_form() -> None:
    topic = place("J.R. (Bob)", "J.R. ( Bob )", "Bob", "J.R.  (Bob)")
    (relation,) = linkable_relations(topic, AS_GIVEN)[1:]
    assert relation.forms == (("J.R.", "(", "Bob", ")"), ("Bob",))
    assert relation.texts == ("J.R. (Bob)", "Bob")


def test_forms_are_cut_as_the_article_is() -> None:
    text = "It didn't co-exist."
    for profile in (Profile.RAW, Profile.WIKITEXT):
        spans = found(place("didn't co-exist"), text, LinkOptions(profile=profile))
        assert [form for _, _, form in spans] == ["didn't co-exist"]
    tokenised = found(place("Don't Fear (The Reaper)"), "Do n't Fear ( The Reaper ) .")
    assert [form for _, _, form in tokenised] == ["Don't Fear (The Reaper)"]


def test_a_lone_stop_word_is_no_mention_unless_asked_for() -> None:
    topic = place("the", "The The", "It", "Who")
    assert forms_of(topic) == [("The", "The"), ("It",), ("Who",)]
    with_stop_words = LinkOptions(profile=Profile.SPACES, stop_words=True)
    assert ("the",) in forms_of(topic, with_stop_words)
    assert [words for words, _, _ in found(topic, "the The The", with_stop_words)] == [
        "the",
        "The The",
    ]


def test_a_form_without_letters_or_digits_is_no_name() -> None:
    assert forms_of(place("-", "!!!", "...", "( )")) == []
    assert forms_of(place("–", "!!! 7")) == [("!", "!", "!", "7")]


def test_a_relation_without_any_form_left_is_left_out() -> None:
    topic = Topic("T", relations=[Relation("score", "–"), Relation("band", "The The")])
    assert [relation.type for relation in linkable_relations(topic)] == [TITLE, "band"]
    assert linkable_relations(Topic("?", "!")) == ()


def test_letter_case_variants_are_forms_of_their_own() -> None:
    options = LinkOptions(profile=Profile.SPACES, letter_case=LetterCase.VARIANTS)
    topic = place("fantasy Novel")
    assert forms_of(topic, options) == [
        ("fantasy", "Novel"),
        ("Fantasy", "Novel"),
        ("fantasy", "novel"),
        ("FANTASY", "NOVEL"),
    ]
    text = "Fantasy Novel , a FANTASY NOVEL , a fantasy novel , a fANTASY novel"
    assert len(found(topic, text, options)) == 3
    assert found(topic, text) == []


def test_variants_that_are_stop_words_are_left_out_and_others_stay() -> None:
    options = LinkOptions(profile=Profile.SPACES, letter_case=LetterCase.VARIANTS)
    assert forms_of(place("IT"), options) == [("IT",)]


WORD = st.sampled_from(["New", "York", "City", "a", "b", "."])
FORM = st.lists(WORD, min_size=1, max_size=4).map(tuple)
RELATION = st.builds(
    lambda forms: LinkableRelation("t", "o", forms, tuple(" ".join(form) for form in forms)),
    st.lists(FORM, min_size=1, max_size=4, unique=True).map(tuple),
)


@given(st.lists(RELATION, max_size=4), st.lists(WORD, max_size=12))
def test_agrees_with_comparing_every_span_with_every_form(
    relations: list[LinkableRelation], words: list[str]
) -> None:
    mentions = Matcher(relations).find(words)
    assert mentions == sorted(mentions)
    assert mentions == oracle.find(relations, words)


NAME = st.lists(
    st.sampled_from(["New York", "york", "St. John's", "co-op", "the", "1,000", "-", "É"]),
    min_size=1,
    max_size=3,
).map(" ".join)
OPTIONS = st.builds(
    LinkOptions,
    st.sampled_from(Profile),
    st.sampled_from(LetterCase),
    st.booleans(),
    st.frozensets(st.sampled_from(NameRule)),
)


@given(st.lists(NAME, min_size=1, max_size=4), st.lists(NAME, max_size=6).map(" ".join), OPTIONS)
def test_no_two_forms_of_an_object_are_alike_and_each_is_found_where_it_stands(
    names: list[str], text: str, options: LinkOptions
) -> None:
    relations = linkable_relations(Topic("T", relations=[Relation("t", "o", names)]), options)
    words = split_words(text, options.profile)
    assert Matcher(relations).find(words) == oracle.find(relations, words)
    for relation in relations:
        assert len(set(relation.forms)) == len(relation.forms) == len(relation.texts)
        for form in relation.forms:
            assert Matcher(relations).find(form)


# Texts and topics to linked documents

OSLO = Topic("t", ["Oslo"], [Relation("country", "Q20", ["Norway"])])


def test_offsets_are_into_exactly_the_given_text() -> None:
    text = "\r\n  Oslo, capital of\tNorway.\n\nNorway! 🎉 é"
    document = link(text, OSLO)
    spans = [
        text[document.tokens.starts[m.start] : document.tokens.ends[m.end - 1]]
        for m in document.mentions
    ]
    assert spans == ["Oslo", "Norway", "Norway"]
    assert document.text is text


def test_a_document_is_named_like_its_topic_unless_it_is_named() -> None:
    document = link("Oslo", OSLO)
    assert (document.id, document.topic, document.title) == ("t", "t", "Oslo")
    document = link("Oslo", OSLO, id="one", title="Oslo (city)")
    assert (document.id, document.topic, document.title) == ("one", "t", "Oslo (city)")


def test_gold_mentions_are_placed_at_tokens() -> None:
    gold = [GoldSpan(6, 12, None, "Q20"), GoldSpan(0, 4), GoldSpan(1, 4, "cut"), GoldSpan(6, 13)]
    document = link("Oslo, Norway.", OSLO, gold=gold)
    assert document.gold == (
        GoldMention(0, 1, None, None),
        GoldMention(2, 3, "country", "Q20"),
        GoldMention(2, 4, None, None),
    )
    assert link("Oslo", OSLO, gold=[]).gold == ()
    assert link("Oslo", OSLO).gold is None


def test_a_linker_links_like_the_function() -> None:
    linker = Linker(OSLO, AS_GIVEN)
    for text in ("Oslo , Norway .", "Norway", ""):
        assert linker.link(text) == link(text, OSLO, AS_GIVEN)
        assert linker.link(text).relations is linker.relations
    tokens = tokenise("Oslo, Norway")
    assert linker.link_tokens("Oslo, Norway", tokens).tokens is tokens


def test_raw_text_is_cut_as_such_for_a_model_of_tokenised_text() -> None:
    document = link("Oslo, Norway.", OSLO, AS_GIVEN.for_raw_text())
    assert document.tokens.words == ["Oslo", ",", "Norway", "."]
    assert document.relations == linkable_relations(OSLO, AS_GIVEN)
    other = LinkOptions(Profile.WIKITEXT, stop_words=True)
    assert other.for_raw_text() == other


def test_what_is_no_topic() -> None:
    with pytest.raises(InputError, match=r"a topic must be an lrlm\.Topic, not 'Oslo'"):
        link("Oslo", "Oslo")  # type: ignore[arg-type]


def test_the_topic_of_a_document_has_everything_that_was_linked() -> None:
    topic = Topic("t", ["Oslo", "–"], [Relation("country", "Q20", ["Norway", "Norge"])])
    assert topic_of(link("x", topic)) == Topic("t", ["Oslo"], topic.relations)
    assert topic_of(link("x", Topic("?"))) == Topic("?")


# Texts that a model cannot read


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_an_empty_text(text: str) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        check_text(text)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x86", "\ud800"])
def test_control_characters_are_named_with_their_place(character: str) -> None:
    code = f"U\\+{ord(character):04X}"
    with pytest.raises(InputError, match=rf"{code}.* at character 7 \(line 2\)"):
        check_text(f"Oslo\nab{character}")


def test_white_space_of_all_kinds_is_no_trouble() -> None:
    check_text("a\tb\nc\r\nd\fe\vf\x85g\u2028h\u00a0i")


def test_a_text_beyond_the_limit() -> None:
    with pytest.raises(InputError, match=r"1,048,576 characters, more than the 1,000,000"):
        check_text("word " * 209_715 + "x")
    check_text("word " * 30, longest=150)


def test_what_is_no_string() -> None:
    with pytest.raises(InputError, match="must be a string, not bytes"):
        check_text(b"Oslo")  # type: ignore[arg-type]


# Options


@given(OPTIONS)
def test_options_survive_a_manifest(options: LinkOptions) -> None:
    assert LinkOptions.from_dict(options.to_dict()) == options


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "m.json: expected profile, letter_case and stop_words"),
        ({}, "m.json: the field 'profile' is missing"),
        (
            {"profile": "x", "letter_case": "exact", "stop_words": False},
            "no such profile or letter case: .'x'",
        ),
        ({"profile": "raw", "letter_case": [], "stop_words": False}, "m.json: no such profile"),
        ({"profile": "raw", "letter_case": "exact", "stop_words": 2}, "must be true or false"),
        ({**LinkOptions().to_dict(), "name_rules": "accents"}, "must be a list of names"),
        ({**LinkOptions().to_dict(), "name_rules": ["x"]}, "must be one of .* newer version"),
    ],
)
def test_options_that_cannot_be_read(content: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        LinkOptions.from_dict(content, where="m.json")


def test_options_are_written_for_people() -> None:
    assert str(LinkOptions(Profile.SPACES, LetterCase.VARIANTS, stop_words=True)) == (
        "tokens as in 'spaces', letter case 'variants', lone stop words linked"
    )
