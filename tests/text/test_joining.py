"""Tokens put together read well, and are cut again into the same tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.text import Joiner, Profile, split_words, tokenise


def join(tokens: list[str], profile: Profile = Profile.RAW) -> str:
    joiner = Joiner(profile)
    for token in tokens:
        joiner.add(token)
    text = joiner.finish()
    assert len(joiner.places) == len(tokens)
    assert [text[end : end + 1] for _, end in joiner.places[-1:]] in ([], [""])
    return text


@pytest.mark.parametrize(
    "text",
    [
        "Oslo, the capital (and largest city) of Norway, isn't far.",
        "It's 5% more: \"a lot\", said the U.S. senator; J. Smith didn't know!",
        "He paid $3.50 for it [sic]…",
        "The season 1984–85 – a long one – began in 1984.",
        "“Hung Up” is Madonna's song...",
    ],
)
def test_running_text_comes_back_as_it_was(text: str) -> None:
    tokens = list(split_words(text))
    assert join(tokens) == text
    assert list(split_words(join(tokens))) == tokens


def test_the_joins_of_wikitext_are_undone() -> None:
    spaced = "the co @-@ produced film sold 1 @,@ 000 @.@ 5 copies , 18- to 34 @-@ year @-@"
    tokens = spaced.split()
    text = join(tokens, Profile.WIKITEXT)
    assert text == "the co-produced film sold 1,000.5 copies, 18- to 34-year @-@"
    assert list(split_words(text, Profile.WIKITEXT)) == tokens


def test_tokens_that_would_melt_stay_apart() -> None:
    assert join(["J", "."]) == "J ."
    assert join(["(", "n't", ")"]) == "(n't)"
    assert join(["U", ".", "S", "."]) == "U . S ."
    assert join(["3", ",", "4"]) == "3, 4"
    assert join([".", "."]) == ". ."
    assert join(["co", "@-@", ","], Profile.WIKITEXT) == "co @-@,"


def test_odd_tokens_are_kept_apart_by_spaces() -> None:
    assert join(["a", "b c", ",", "\u00e9,\u00e9", "."]) == "a b c , é,é ."


PIECES = st.sampled_from(
    [*"abJS,.;:!?%()[]{}\"'’-–—…$£/&1234567890", "Oslo", "n't", "'s", "did", "U.S.", "St.", "1984",
     "@-@", "@,@", "@.@", "...", "--", "<unk>", "é", "'90s", "589,419", "co-op", "18-", "”", "“"]
)  # fmt: skip


@pytest.mark.parametrize("profile", Profile)
@given(st.lists(PIECES | st.text(max_size=4), max_size=12))
def test_tokens_come_back_and_stand_where_they_are_said_to(
    profile: Profile, pieces: list[str]
) -> None:
    tokens = list(split_words(" ".join(pieces), profile))
    joiner = Joiner(profile)
    for token in tokens:
        joiner.add(token)
    text = joiner.finish()
    again = tokenise(text, profile)
    assert again.words == tokens
    assert list(zip(again.starts, again.ends, strict=True)) == joiner.places


@given(st.lists(st.text(min_size=1, max_size=5), max_size=8))
def test_whatever_the_tokens_are_nothing_is_lost(tokens: list[str]) -> None:
    joiner = Joiner(Profile.RAW)
    for token in tokens:
        joiner.add(token)
    text = joiner.finish()
    assert [text[start:end] for start, end in joiner.places] == tokens


@pytest.mark.parametrize("profile", [Profile.RAW, Profile.WIKITEXT])
@given(st.text(max_size=12), st.lists(PIECES, max_size=6))
def test_a_text_that_goes_on_stays_as_it_is(
    profile: Profile, begun: str, pieces: list[str]
) -> None:
    tokens = list(split_words(" ".join(pieces), profile))
    joiner = Joiner(profile, after=begun)
    for token in tokens:
        joiner.add(token)
    text = joiner.finish()
    assert text.startswith(begun)
    again = tokenise(text, profile)
    assert again.words == [*split_words(begun, profile), *tokens]
    assert list(zip(again.starts, again.ends, strict=True)) == joiner.places


def test_compounds_that_were_cut_at_a_name_are_joined_again() -> None:
    joiner = Joiner(Profile.RAW, joins_compounds=True)
    for token in [
        "The",
        "Oslo",
        "@-@",
        "based",
        "firm",
        "(",
        "Europe",
        "@/@",
        "Oslo",
        ")",
        ",",
        "non",
        "@-@",
        "Oslo",
        "@-@",
        "based",
        ".",
    ]:
        joiner.add(token)
    assert joiner.finish() == "The Oslo-based firm (Europe/Oslo), non-Oslo-based."


@pytest.mark.parametrize(
    "text", ["東京都は日本の首都です。隅田川（すみだがわ）は、", "ประเทศไทยมีกรุงเทพเป็นเมืองหลวง"]
)
def test_scripts_without_spaces_are_written_without_spaces(text: str) -> None:
    assert join(list(split_words(text, Profile.UNSPACED)), Profile.UNSPACED) == text
