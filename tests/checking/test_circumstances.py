"""What speaks for and against hypotheses, in texts about a town."""

import math

import pytest

from lrlm.checking.calibration import NameStanding, TypeStanding
from lrlm.checking.circumstances import Circumstances, standing_of
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.statements import StatedDocument, Statement
from lrlm.corpora import link
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.schema import Schema
from lrlm.text import TokenPlaces

TOWN = Topic(
    "Bergen",
    names=["Bergen"],
    relations=[Relation("country", "Norway"), Relation("sight", "Fløyen")],
)
SCHEMA = Schema.of(
    [
        Topic("Oslo", relations=[Relation("country", "Norway"), Relation("mayor", "Anna Berg")]),
        Topic("Lund", relations=[Relation("country", "Sweden"), Relation("founded", "990")]),
        Topic(
            "Pisa",
            relations=[
                Relation("sight", "Tower"),
                Relation("sight", "Arno"),
                Relation("P84", "Ada Lund", label="architect"),
            ],
        ),
    ]
)


def circumstances(text: str, name: str, type_: str, *others: tuple[str, float]) -> dict[str, float]:
    """Give those of a name in a text that may state a fact of a type with probability 0.9."""
    return dict(asked(text, name, type_, *others)[1])


def asked(
    text: str, name: str, type_: str, *others: tuple[str, float]
) -> tuple[TypeStanding, dict[str, float]]:
    document = with_hypotheses(link(text, TOWN), KnowledgeOfTypes.of(SCHEMA))
    tokens = document.tokens
    start = next(n for n, each in enumerate(tokens.starts) if text.startswith(name, each))
    end = next(
        n for n, each in enumerate(tokens.ends, 1) if each == tokens.starts[start] + len(name)
    )
    statement = Statement(start, end, type_, None)
    probabilities = {statement: 0.9}
    probabilities |= {Statement(start, end, other, None): share for other, share in others}
    places = TokenPlaces(tokens.starts, tokens.ends, range(len(tokens)))
    stated = StatedDocument(document, places, probabilities, is_possible=True)
    found = Circumstances(stated, SCHEMA)
    return found.type_standing(statement), found.of(statement)


def test_the_standing_of_names_and_types() -> None:
    assert standing_of("Sweden", "country", SCHEMA) is NameStanding.USUAL
    assert standing_of("Sweden", "mayor", SCHEMA) is NameStanding.ELSEWHERE
    assert standing_of("Chad", "country", SCHEMA) is NameStanding.UNKNOWN
    standing, found = asked("Bergen is in Sweden.", "Sweden", "country")
    assert standing is TypeStanding.HELD
    assert found["usual"] == 1.0
    assert "unknown" not in found
    standing, found = asked("Its mayor is Carl Dahl.", "Carl Dahl", "mayor")
    assert standing is TypeStanding.LACKED
    assert found["unknown"] == 1.0
    assert found["words_of_name"] == pytest.approx(math.log(2))
    assert found["type_word"] == found["refers"] == 1.0


def test_a_type_is_named_by_what_people_call_it() -> None:
    assert circumstances("Its architect is Carl Dahl.", "Carl Dahl", "P84")["type_word"] == 1.0
    assert "type_word" not in circumstances("Its mayor is Carl Dahl.", "Carl Dahl", "P84")


def test_what_the_topic_has_may_be_named_too() -> None:
    alone = circumstances("Bergen is in Sweden.", "Sweden", "country")
    assert alone["lone_not_named"] == alone["single"] == 1.0
    both = circumstances("Bergen is in Norway, not in Sweden.", "Sweden", "country")
    assert both["named_too"] == both["single_named_too"] == 1.0
    assert "lone_not_named" not in both


def test_another_name_may_be_what_a_sentence_is_about() -> None:
    text = "Bergen is a town. Arno Lie, whose country is Sweden, came to Bergen."
    found = circumstances(text, "Sweden", "country")
    assert found["later_sentence"] == found["in_clause"] == 1.0
    assert found["names_between"] == pytest.approx(math.log(2))
    assert "after_topic" not in found, "the topic comes later in the sentence"
    assert circumstances("Bergen lies in Sweden.", "Sweden", "country")["after_topic"] == 1.0
    other = circumstances("Bergen is a town. Many came from Sweden.", "Sweden", "country")
    assert other["about_other"] == 1.0
    joined = circumstances("Bergen is near Lund and Sweden.", "Sweden", "country")
    assert joined["joined"] == 1.0


def test_initials_end_no_sentence() -> None:
    found = circumstances("Bergen had J. K. Dahl as mayor.", "Dahl", "mayor")
    assert "later_sentence" not in found


def test_a_rival_type_speaks_against() -> None:
    alone = circumstances("Bergen is in Sweden.", "Sweden", "country")
    rival = circumstances("Bergen is in Sweden.", "Sweden", "country", ("mayor", 0.09))
    assert alone["rival"] == 5.0
    assert rival["rival"] == pytest.approx(math.log(10.0))
    assert alone["log_odds"] == rival["log_odds"] == pytest.approx(math.log(9.0))


def test_numbers_dates_and_repeated_names() -> None:
    found = circumstances("Bergen was founded in 1070. In 1070 it rained.", "1070", "founded")
    assert found["date"] == found["repeated"] == found["type_word"] == 1.0
    assert 0 < found["usual_type"] <= 1.0
