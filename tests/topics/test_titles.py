"""How the name of a topic stands in the opening of a text."""

import pytest

from lrlm.text import Profile
from lrlm.topics.titles import (
    ACRONYM,
    ALIKE,
    EXACT,
    SHORT,
    Standing,
    opening_of,
    says,
    standings,
    titles_of,
)


def best(name: str, text: str) -> Standing:
    """Give the standing in which most of a name is there."""
    (title, *_) = titles_of((name,), Profile.RAW)
    return min(standings(title, opening_of(text, Profile.RAW)), key=lambda each: each.missing)


@pytest.mark.parametrize(
    ("word", "text", "kind"),
    [
        ("oslo", "Oslo", EXACT),
        ("malmo", "Malmö", EXACT),
        ("fc", "F.C.", EXACT),
        ("sweden", "Swedish", ALIKE),
        ("canada", "Canadian", ALIKE),
        ("chatooga", "Chattooga", ALIKE),
        ("ed", "Edward", SHORT),
        ("j", "John", SHORT),
        ("alexander", "Alex", SHORT),
        ("gene", "Eugene", SHORT),
        ("fc", "Football Club", ACRONYM),
        ("cf", "Club de Fútbol", ACRONYM),
        ("fk", "Fotballklubb", ACRONYM),
        ("gaa", "Gaelic Athletic Association", ACRONYM),
        ("oslo", "Rome", None),
        ("2010", "2011", None),
        ("2010", "20", None),
        ("fc", "Football without a Club", None),
        ("fc", "Football", None),
        ("norway", "Normandy", None),
    ],
)
def test_a_word_of_a_name_is_found_in_other_forms(word: str, text: str, kind: int | None) -> None:
    found = opening_of(text, Profile.RAW).find(word, is_acronym=len(word) > 1)
    assert next((each.kind for each in found), None) == kind


def test_only_capitals_are_first_letters_of_other_words() -> None:
    assert best("Molde FK", "Molde Fotballklubb is a club.").acronyms == 1
    assert best("Molde Fk", "Molde Fotballklubb is a club.").acronyms == 0


def test_the_opening_phrase_ends_at_a_bracket_a_comma_or_the_verb() -> None:
    for text in ("Joan Jett (born 1958) sings", "Joan Jett, born 1958", "Joan Jett is loud"):
        opening = opening_of(text, Profile.RAW)
        assert [opening.words[place] for place in sorted(opening.phrase)] == ["joan", "jett"]
        assert opening.words[opening.head] == "jett"
    assert opening_of("...", Profile.RAW).head == -1


def test_a_verb_in_brackets_is_not_that_of_the_sentence() -> None:
    opening = opening_of("Oslo (it was Kristiania) or Oslo town is large", Profile.RAW)
    subject = [word for word, is_it in zip(opening.words, opening.is_subject, strict=True) if is_it]
    assert subject == ["oslo", "or", "oslo", "town"]


def test_what_is_there_and_what_is_not_is_counted() -> None:
    standing = best("Joan Jett", "Joan Marie Jett is an American singer.")
    assert standing == Standing(
        exact=8,
        alike=0,
        short=0,
        acronyms=0,
        elsewhere=0,
        missing=0,
        before=0,
        is_subject=True,
        is_named=False,
        is_head=True,
        uncovered=5,
        other_numbers=0,
    )
    standing = best("Makonde language", "Makonde is the language")
    assert (standing.exact, standing.elsewhere, standing.missing) == (15, 0, 0)
    standing = best("Summer Games 1972", "The 2010 winter season in Summer")
    assert (standing.exact, standing.missing, standing.other_numbers) == (6, 9, 1)
    standing = best("Nena", "Anna (born 1960), known as Nena, sings")
    assert (standing.is_named, standing.uncovered) == (True, 4)


def test_names_are_written_without_what_is_in_brackets_or_behind_a_comma() -> None:
    (title,) = titles_of(("Rocky", "Rocky (film series)"), Profile.RAW)
    assert (title.words, title.kinds) == (("rocky",), ("film", "series"))
    whole, short = titles_of(("Moore, Oklahoma",), Profile.RAW)
    assert (whole.words, whole.left_out) == (("moore", "oklahoma"), ())
    assert (short.words, short.left_out) == (("moore",), ("oklahoma",))
    assert [title.is_first for title in titles_of(("Oslo", "Kristiania"), Profile.RAW)] == [
        True,
        False,
    ]
    assert [title.words for title in titles_of(("(I)",), Profile.RAW)] == [("i",)]
    assert titles_of(("!!!",), Profile.RAW) == ()


def test_a_short_year_is_said_by_a_long_one() -> None:
    opening = opening_of("The 2010–2011 season", Profile.RAW)
    assert says(opening, "11")
    assert not says(opening, "12")
