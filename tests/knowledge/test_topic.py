"""Topics and relations as values: what they keep, what they fill in, what they refuse."""

import dataclasses

import pytest

import lrlm
from lrlm.errors import InputError
from lrlm.knowledge import TITLE, Relation, Topic


def test_a_topic_is_written_in_five_lines() -> None:
    topic = lrlm.Topic("Sorry", names=["Sorry"], relations=[
        lrlm.Relation("performer", "Madonna", forms=["Madonna", "Madonna Ciccone"]),
        lrlm.Relation("follows",   "Hung Up", forms=["Hung Up"]),
    ])  # fmt: skip
    assert [relation.type for relation in topic.star] == [TITLE, "performer", "follows"]


def test_the_star_begins_with_the_topic_itself() -> None:
    topic = Topic("Q892", ["Tolkien", "J. R. R. Tolkien"], [Relation("P106", "Q36180", "writer")])
    title, writer = topic.star
    assert title == Relation(TITLE, "Q892", ["Tolkien", "J. R. R. Tolkien"])
    assert writer.forms == ("writer",)


def test_ids_types_and_forms_are_kept_as_given() -> None:
    relation = Relation(" P 31 ", "Q\u00e9/5", ["b", "a", " c "])
    assert (relation.type, relation.object) == (" P 31 ", "Q\u00e9/5")
    assert relation.forms == ("b", "a", " c ")


def test_without_forms_the_object_is_its_own_name() -> None:
    assert Relation("capital", "Paris").forms == ("Paris",)
    assert Topic("France").names == ("France",)


def test_forms_are_taken_from_any_iterable_and_held_once_each() -> None:
    forms = (form for form in ["A", "B", "A"])
    assert Relation("t", "o", forms).forms == ("A", "B")
    assert Topic("s", "A").names == ("A",)


def test_values_are_frozen_equal_and_hashable() -> None:
    one, other = (Topic("s", ["n"], [Relation("t", "o", ["f"])]) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.id = "x"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.relations[0].forms = ()  # type: ignore[misc]


@pytest.mark.parametrize("blank", ["", "  ", "\t\n"])
def test_blank_texts_are_refused_by_name(blank: str) -> None:
    with pytest.raises(InputError, match=r"Relation\.type"):
        Relation(blank, "o")
    with pytest.raises(InputError, match=r"Relation\.object"):
        Relation("t", blank)
    with pytest.raises(InputError, match=r"Relation\.forms"):
        Relation("t", "o", ["fine", blank])
    with pytest.raises(InputError, match=r"Topic\.id"):
        Topic(blank)
    with pytest.raises(InputError, match=r"Topic\.names"):
        Topic("s", [blank])


def test_other_things_than_texts_are_refused() -> None:
    with pytest.raises(InputError, match="not 7"):
        Relation("t", 7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Relation values"):
        Topic("s", relations=[("t", "o")])  # type: ignore[list-item]


def test_the_title_cannot_be_given_as_a_fact() -> None:
    with pytest.raises(InputError, match="names="):
        Topic("s", relations=[Relation(TITLE, "s")])


CAPITAL = Topic(
    "Q1",
    ["Norland"],
    [
        Relation("capital", "Q2", ["Oslo", "Christiania"]),
        Relation("borders", "Q3", ["Sweden"]),
        Relation("borders", "Q4", ["Finland"]),
    ],
)


def test_a_fact_is_replaced_in_its_place() -> None:
    edited = CAPITAL.replace("capital", "Q2", "Q9", ["Bergen"])
    assert edited.relations == (Relation("capital", "Q9", ["Bergen"]), *CAPITAL.relations[1:])
    assert CAPITAL.relations[0].object == "Q2"
    assert CAPITAL.replace("capital", "Oslo", "Bergen").relations[0].forms == ("Bergen",)
    relation = Relation("borders", "Q7", ["Russia"])
    assert CAPITAL.replace("borders", "Finland", relation).relations[2] == relation


def test_facts_are_added_and_removed() -> None:
    population = Relation("population", "5 million")
    assert CAPITAL.add(population).relations == (*CAPITAL.relations, population)
    assert CAPITAL.add(population).remove("population") == CAPITAL
    assert [fact.object for fact in CAPITAL.remove("borders").relations] == ["Q2"]
    assert [fact.object for fact in CAPITAL.remove("borders", "Q3").relations] == ["Q2", "Q4"]


def test_facts_that_are_not_there_are_refused_with_near_ones() -> None:
    with pytest.raises(InputError, match=r"no relation 'captial'; did you mean 'capital'\?"):
        CAPITAL.replace("captial", "Q2", "Q9")
    with pytest.raises(InputError, match=r"no 'borders' named 'Q2'; it has: 'Q3', 'Q4'"):
        CAPITAL.remove("borders", "Q2")


def test_a_fact_is_not_told_twice() -> None:
    with pytest.raises(InputError, match="already"):
        CAPITAL.add(Relation("borders", "Q3"))
    with pytest.raises(InputError, match="already"):
        CAPITAL.replace("borders", "Q3", "Q4")
    assert CAPITAL.replace("borders", "Q3", "Q3", ["Sverige"]).relations[1].forms == ("Sverige",)


def test_a_form_of_two_objects_does_not_name_either() -> None:
    twins = Topic("t", relations=[Relation("r", "Q1", "Same"), Relation("r", "Q2", "Same")])
    with pytest.raises(InputError, match="'Same' may be any of 'Q1', 'Q2'"):
        twins.remove("r", "Same")


def test_a_replacement_keeps_the_type() -> None:
    with pytest.raises(InputError, match="cannot become one of 'borders'"):
        CAPITAL.replace("capital", "Q2", Relation("borders", "Q9"))
