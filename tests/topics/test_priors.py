"""What the opening of a text says of its topic."""

import pytest

from lrlm.knowledge import Topic
from lrlm.topics.priors import TitleInOpening


@pytest.mark.parametrize(
    ("text", "better", "worse"),
    [
        ("Oslo is the capital of Norway.", "Oslo", "Norway"),
        ("Joan Marie Jett is a singer.", "Joan Jett", "Joan"),
        ("The 2010 NFL season was long.", "2010 NFL season", "2009 NFL season"),
        ("Moore is a city in Oklahoma.", "Moore, Oklahoma", "Oklahoma"),
        ("The Rhine is a river.", "Rhine (river)", "River"),
        ("New York City is large.", "New York City", "New York"),
        ("It is large.", "Oslo", "Kingdom of Norway"),
        ("The 2010-11 Premier League was long.", "2010–11 Premier League", "Premier League"),
        ("The 1966 NBA World Series was won.", "1966 NBA Finals", "The World (film)"),
        ("Brandon Dawayne Roy is a coach.", "Brandon Roy", "Brandon, Manitoba"),
        ("Al Bayt is a stadium in Al Khor.", "Al-Bayt Stadium", "Al Khor"),
        ("The Who were a band in London.", "The Who", "London"),
        ("Molde Fotballklubb is a club based in Molde.", "Molde FK", "Molde"),
        ("Valencia Club de Fútbol is a club in Valencia.", "Valencia CF", "Valencia"),
        ("Blackpool Football Club is in Blackpool.", "Blackpool F.C.", "Blackpool"),
        ("Makonde is the language of the Makonde.", "Makonde language", "Makonde people"),
        ("Edward Augustine Walsh was a pitcher.", "Ed Walsh", "Edward VII"),
        ("William Walton Sharman was a coach.", "Bill Sharman", "William IV"),
        ("John Ronald Reuel Tolkien wrote.", "J. R. R. Tolkien", "John Greaves"),
        ("Brasília TV Tower was built.", "Brasilia TV Tower", "Brasília"),
        ("Anna Kerner (born 24 March 1960), known as Nena, is a singer.", "Nena", "March"),
        ("The 2016–17 season was long.", "2016–17 season", "2015–16 season"),
    ],
)
def test_the_name_that_the_opening_has_more_of_is_preferred(
    text: str, better: str, worse: str
) -> None:
    prior = TitleInOpening()
    assert prior(Topic(better), text) > prior(Topic(worse), text) > 0


@pytest.mark.parametrize(
    ("text", "better", "worse"),
    [
        ("Rocky is a film.", ("Rocky", "Rocky (film)"), ("Rocky", "Rocky (song)")),
        ("Rocky is a film.", ("Rocky", "Rocky (film)"), ("Rocky",)),
        ("Rocky is a person.", ("Rocky",), ("Rocky", "Rocky (film)")),
        ("Rocky is a film.", ("Rocky", "Creed"), ("Creed", "Rocky")),
        ("Rocky is a film.", ("Creed", "Rocky"), ("Creed", "Ivan")),
    ],
)
def test_other_names_and_what_they_have_in_brackets_count(
    text: str, better: tuple[str, ...], worse: tuple[str, ...]
) -> None:
    prior = TitleInOpening()
    assert prior(Topic("1", better), text) > prior(Topic("2", worse), text)


def test_a_topic_without_a_word_in_its_name_has_a_weight() -> None:
    assert TitleInOpening()(Topic("!!!"), "Oslo") > 0


def test_words_after_the_opening_do_not_count() -> None:
    prior = TitleInOpening()
    text = f"{'word ' * 100}Oslo"
    assert prior(Topic("Oslo"), text) == prior(Topic("Rome"), text)


def test_a_name_without_letters_is_not_better_than_one_that_is_not_there() -> None:
    text = "Oslo is the capital of Norway, and Bergen is a city of the country."
    prior = TitleInOpening()
    assert prior(Topic("!!!"), text) < 1 < prior(Topic("Oslo"), text)
