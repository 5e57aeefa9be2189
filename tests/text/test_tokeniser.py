"""Tokens with their offsets: examples of each convention, and what holds for every text."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lrlm.text import Profile, detect_profile, split_words, tokenise

WIKITEXT = Path(__file__).parents[3] / "shared/data/wikitext/wiki.valid.tokens"

PROFILES = pytest.mark.parametrize("profile", list(Profile))

# Made of what the conventions are about, so that odd neighbours meet often.
PIECES = (
    "a", "B", "né", "U.S.", "J.", "St.", "No.", "can't", "n't", "'s", "’s", "'", "’", "-", "--",
    "@-@", "@,@", "@", ",", ".", "...", "1", "23", "1,234", "5.0", "£", "%", "$", "(", ")", '"',
    "/", ":", "&", "'90s", "_", "<unk>", "</s>", "<", " ", "\n", "\u00a0", "\u0301", "\u200b",
    "中", "😀", "\U0001d167",
)  # fmt: skip
TEXTS = st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@PROFILES
@given(text=TEXTS)
@example(text="")
def test_offsets_cut_every_token_out_of_the_text(profile: Profile, text: str) -> None:
    tokens = tokenise(text, profile)
    assert len(tokens) == len(tokens.words) == len(tokens.starts) == len(tokens.ends)
    end_before = 0
    for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
        assert end_before <= start < end <= len(text)
        cut = text[start:end]
        joined = profile is Profile.WIKITEXT and f"@{cut}@" == word
        assert word == cut or joined
        end_before = end


@PROFILES
@given(text=TEXTS)
def test_no_character_is_lost_and_no_white_space_is_kept(profile: Profile, text: str) -> None:
    tokens = tokenise(text, profile)
    pieces = [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]
    assert "".join(pieces) == "".join(text.split())
    assert not any(character.isspace() for word in tokens.words for character in word)


@PROFILES
@given(text=TEXTS)
@example(text="J.K. Rowling's co-produced U.S. films, didn't they? '90s: £5.50, 10%...")
def test_tokens_are_cut_no_further(profile: Profile, text: str) -> None:
    words = split_words(text, profile)
    assert split_words(" ".join(words), profile) == words


@PROFILES
@given(text=TEXTS)
def test_words_alone_are_those_of_the_tokens(profile: Profile, text: str) -> None:
    assert list(split_words(text, profile)) == tokenise(text, profile).words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He didn't go.", "He did n't go ."),
        ("She can't; they won’t.", "She ca n't ; they wo n’t ."),
        ("the nation's best", "the nation 's best"),
        ("the nations' best", "the nations ' best"),
        ("I'm, you're, he'll, we've, she'd", "I 'm , you 're , he 'll , we 've , she 'd"),
        ("O'Brien and rock'n'roll", "O'Brien and rock'n'roll"),
        ("in the U.S. and U.K.", "in the U.S. and U.K."),
        ("Washington, D.C., is", "Washington , D.C. , is"),
        ("J. R. R. Tolkien", "J. R. R. Tolkien"),
        ("St. Louis vs. Mr. Smith Jr. etc.", "St. Louis vs. Mr. Smith Jr. etc."),
        ("589,419 people, 3.5 % or 10%", "589,419 people , 3.5 % or 10%"),
        ("a co-produced film", "a co-produced film"),
        ("AC/DC at 10:30 in 1937–1938", "AC/DC at 10:30 in 1937 – 1938"),
        ("£5 and $5", "£5 and $ 5"),
        ("the '90s", "the '90s"),
        ("(born 1961)", "( born 1961 )"),
        ('"Sorry" [a song]', '" Sorry " [ a song ]'),
        ("well ... wait--what?!", "well ... wait -- what ? !"),
        ("New York and New Yorkers", "New York and New Yorkers"),
        ("Cafe\u0301 Zoe\u0308", "Cafe\u0301 Zoe\u0308"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("AT&T's end.", "AT&T 's end ."),
        ("one,two", "one , two"),
        ("the end.\nNew line", "the end . New line"),
        ("<unk> and </s>", "<unk> and </s>"),
    ],
)
def test_running_text(text: str, expected: str) -> None:
    assert " ".join(split_words(text, Profile.RAW)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a co-produced film", "a co @-@ produced film"),
        ("589,419 people", "589 @,@ 419 people"),
        ("3.5 percent", "3 @.@ 5 percent"),
        ("He didn't go.", "He didn 't go ."),
        ("the nation's", "the nation 's"),
        ("already @-@ cut , 1 @,@ 000", "already @-@ cut , 1 @,@ 000"),
        ("the U.S. and St. Louis", "the U.S. and St. Louis"),
        ("18- to 34-year olds - and", "18- to 34 @-@ year olds - and"),
        ("1937–38", "1937 – 38"),
    ],
)
def test_wikitext(text: str, expected: str) -> None:
    assert " ".join(split_words(text, Profile.WIKITEXT)) == expected


def test_a_mark_stands_where_its_character_is() -> None:
    tokens = tokenise("co-op", Profile.WIKITEXT)
    assert (tokens.words, tokens.starts, tokens.ends) == (["co", "@-@", "op"], [0, 2, 3], [2, 3, 5])


def test_spaces_leave_everything_else_alone() -> None:
    assert split_words("Do n't  cut\tco-op, (x).", Profile.SPACES) == (
        "Do", "n't", "cut", "co-op,", "(x).",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "profile"),
    [
        (["It was a film , set in Vienna .", "It won ."], Profile.SPACES),
        (["The U.S. army , led by J. Smith , won ."], Profile.SPACES),
        (["It was a film, set in Vienna.", "It won."], Profile.RAW),
        (["a co @-@ produced film ."], Profile.WIKITEXT),
        (["It had 589 @,@ 419 people ."], Profile.WIKITEXT),
        (["no marks at all"], Profile.RAW),
        (["東京都は日本の首都です。"], Profile.UNSPACED),
        (["ประเทศไทยมีกรุงเทพ"], Profile.UNSPACED),
        (["The city of Tokyo (東京) is large."], Profile.RAW),
        ([], Profile.RAW),
    ],
)
def test_conventions_are_found_from_a_sample(texts: list[str], profile: Profile) -> None:
    assert detect_profile(texts) is profile


@pytest.mark.real_data
@pytest.mark.skipif(not WIKITEXT.exists(), reason="../shared/data/wikitext is not there")
def test_published_wikitext_passes_through_unchanged() -> None:
    lines = WIKITEXT.read_text(encoding="utf-8").splitlines()
    assert sum(len(line.split()) for line in lines) > 200_000
    for line in lines:
        assert split_words(line, Profile.WIKITEXT) == tuple(line.split())
    assert detect_profile(lines[:200]) is Profile.WIKITEXT
