"""Odds for names: what stands around a candidate says whether it is part of a longer name."""

import pytest

from lrlm.annotation.name_odds import NameOdds, odds_of_mentions
from lrlm.corpora import link
from lrlm.knowledge import Relation, Topic

ODDS = NameOdds(token=0, beside_capital=-100, after_of=-10, first_form=1)
TOPIC = Topic(
    "Norway",
    relations=[
        Relation("capital", "Oslo", forms=["Oslo", "Christiania"]),
        Relation("person", "Roald Amundsen"),
        Relation("country", "U.S."),
    ],
)


@pytest.mark.parametrize(
    ("text", "odds"),
    [
        ("the firm is in Oslo.", [1]),
        ("it was called Christiania then", [0]),
        ("at Oslo Cathedral School", [-99]),
        ("by bus to Sentrum Oslo again", [-99]),
        ("the Bank of Norway lent it", [-9]),
        ("the Bank of the Norway lent it", [-9]),
        ("the harbour of Norway", [1]),
        ("In Oslo it rains", [1]),
        ("Although Oslo is small", [1]),
        ("the Oslo Roald Amundsen knew", [1, 1]),  # the capital is that of another candidate
        ("in the U.S. Bus lines", [1]),  # a sentence begins
        ("he came to Oslo The next day", [1]),
    ],
)
def test_a_capital_beside_a_name_makes_it_part_of_a_longer_one(
    text: str, odds: list[float]
) -> None:
    assert odds_of_mentions(link(text, TOPIC), ODDS) == odds


def test_a_longer_candidate_is_weighed_by_what_stands_around_itself() -> None:
    topic = Topic("Kuwait", relations=[Relation("capital", "Kuwait City")])
    assert odds_of_mentions(link("Kuwait City is large", topic), ODDS) == [-99, 1]
