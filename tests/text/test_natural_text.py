"""Words that came with spaces between them read well when they are put together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.text import Profile, tokenise
from lrlm.text.natural_text import natural_text, natural_text_of
from tests.text.test_joining import PIECES

CASES = {
    "Oslo , the capital ( of Norway ) , is n't far .": "Oslo, the capital (of Norway), isn't far.",
    'He said : " Yes ! " and " no " .': 'He said: "Yes!" and "no".',
    "1 . FC Köln 's J . Smith": "1. FC Köln's J. Smith",
    "the co @-@ owned 1 @,@ 000 @.@ 5 , 5 – 6 kg –": "the co-owned 1,000.5, 5–6 kg –",
    "US $ 2.6 billion , $ 3 and # 1 , up 5 %": "US$2.6 billion, $3 and #1, up 5%",
    "the winners ' group and Lovin ' that": "the winners' group and Lovin' that",
    "of 'nostalgic revocation ' . Titta 's": "of 'nostalgic revocation'. Titta's",
    "called the ' anti @-@ hero ' of the '90s": "called the 'anti-hero' of the '90s",
    "« Ahmat » “ a ” ‘ b ’ `` c '' [ d ] e ... ¿ f ?": '«Ahmat» “a” ‘b’ "c" [d] e... ¿f?',
    "I CA N'T": "I CAN'T",
    "a @-@": "a -",
}


@pytest.mark.parametrize("words", CASES)
def test_it_is_written_as_people_do(words: str) -> None:
    assert natural_text(words.split()).text == CASES[words]


def test_lines_stay_lines() -> None:
    text = " = = Life = = \n \n He was born , and \n died . "
    found = natural_text_of(text, tokenise(text, Profile.SPACES))
    assert found is not None
    assert found.text == "== Life ==\nHe was born, and\ndied."


@pytest.mark.parametrize(
    ("text", "is_tokenised"),
    [
        ("Oslo is big .", True),
        ("Oslo ( in Norway ) and Inc. and Co. and Ltd. are", True),
        ("Oslo is big.", False),
        ("Oslo is big", False),
        ("Oslo, in the north, is big .", False),
    ],
)
@pytest.mark.parametrize("profile", [Profile.RAW, Profile.SPACES])
def test_texts_that_did_not_come_in_words_are_left_alone(
    text: str, is_tokenised: bool, profile: Profile
) -> None:
    assert (natural_text_of(text, tokenise(text, profile)) is not None) == is_tokenised


@given(
    st.lists(
        PIECES | st.text(min_size=1, max_size=4).filter(lambda s: not s.isspace()), max_size=12
    )
)
def test_every_word_keeps_its_place(words: list[str]) -> None:
    words = " ".join(words).split()
    found = natural_text(words)
    rewritten = {"``": '"', "''": '"', "@-@": "-", "@,@": ",", "@.@": "."}
    end = 0
    for word, start, stop in zip(words, found.starts, found.ends, strict=True):
        assert found.text[start:stop] == rewritten.get(word, word)
        assert found.text[end:start] in ("", " ")
        end = stop
    assert end == len(found.text)
