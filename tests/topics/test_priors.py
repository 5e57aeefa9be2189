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
    ],
)
def test_the_name_that_the_opening_has_more_of_is_preferred(
    text: str, better: str, worse: str
) -> None:
    prior = TitleInOpening()
    assert prior(Topic(better), text) > prior(Topic(worse), text) > 0


def test_words_after_the_opening_do_not_count() -> None:
    prior = TitleInOpening()
    text = f"{'word ' * 100}Oslo"
    assert prior(Topic("Oslo"), text) == prior(Topic("Rome"), text)
