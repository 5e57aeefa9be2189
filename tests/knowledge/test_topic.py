"""Topics and relations as values: what they keep, fill in, clean and refuse; topics as JSON."""

import dataclasses
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import lrlm
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.knowledge.topic_json import LARGEST_TOPIC_FILE


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


def test_ids_are_kept_as_given_and_names_are_cleaned() -> None:
    relation = Relation(
        " sub\u00addivisions\tof ", " Q\u00a0é/5 ", ["b", "a", " c\u200b ", "c", "\u200b"]
    )
    assert relation.type == "subdivisions of"
    assert relation.object == " Q\u00a0é/5 "
    assert relation.forms == ("b", "a", "c")
    topic = Topic("New\u00a0York ", relations=[relation])
    assert (topic.id, topic.names) == ("New\u00a0York ", ("New York",))
    assert Topic("Q60", "New  York\n").names == ("New York",)
    assert Relation("t", "\u200b").forms == ("\u200b",)  # better than nothing


def test_facts_are_found_by_names_that_are_not_clean() -> None:
    topic = Topic("Q55", relations=[Relation("subdivisions", "Q701", "North Holland")])
    assert topic.remove("sub\u00addivisions", "North\u00a0Holland") == Topic("Q55")
    moved = topic.replace("sub\u00addivisions", "Q701", "Q694", "South Holland")
    assert moved.relations == (Relation("subdivisions", "Q694", "South Holland"),)


def test_a_refused_character_is_named_with_its_field() -> None:
    for field, make in (
        ("Relation.type", lambda text: Relation(text, "o")),
        ("Relation.object", lambda text: Relation("t", text)),
        ("Relation.forms", lambda text: Relation("t", "o", ["fine", text])),
        ("Topic.id", Topic),
        ("Topic.names", lambda text: Topic("s", text)),
    ):
        with pytest.raises(InputError, match=rf"{field} holds the lone surrogate U\+DFFF"):
            make("half \udfff")
    with pytest.raises(InputError, match=r"Relation\.type must be a text that can be seen"):
        Relation("\u200b", "o")


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
        Relation(7, "o")  # type: ignore[arg-type]
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


TOPIC = Topic("Q1", ["Oslo", "Kristiania"], [Relation("country", "Q20", ["Norway"])])


def test_a_topic_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "topic.json"
    path.write_text(json.dumps(TOPIC.to_dict()), encoding="utf-8")
    assert Topic.from_json(path) == Topic.from_json(str(path)) == TOPIC
    assert Topic.from_json(TOPIC.to_dict()) == TOPIC


def test_names_and_forms_may_be_left_out_or_single() -> None:
    content = {"id": "Oslo", "relations": [{"type": "country", "object": "Norway"}]}
    assert Topic.from_json(content) == Topic("Oslo", relations=[Relation("country", "Norway")])
    assert Topic.from_json({"id": "Q1", "names": "Oslo"}) == Topic("Q1", ["Oslo"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "must be a JSON object"),
        ({}, "lacks the field 'id'"),
        ({"id": 3}, "'id' must be a text, not 3"),
        ({"id": " "}, "not blank"),
        ({"id": "a", "name": "b"}, r"unknown field 'name'; did you mean 'names'\?"),
        (
            {"id": "a", "relations": [{"type": "t", "object": "o", "form": ["f"]}]},
            r"relation 1: unknown field 'form'; did you mean 'forms'\?",
        ),
        ({"id": "a", "names": [1]}, "'names' must be a list of texts"),
        ({"id": "a", "relations": {}}, "'relations' must be a list"),
        ({"id": "a", "relations": ["b"]}, "relation 1: must be a JSON object"),
        ({"id": "a", "relations": [{"type": "t"}]}, "relation 1: lacks the field 'object'"),
        ({"id": "a", "relations": [{"object": "o"}]}, "relation 1: lacks the field 'type'"),
        ({"id": "a", "relations": [{"type": "@title", "object": "o"}]}, "give it as names"),
        ({"id": "a\tb"}, r"here: 'id' holds the control character U\+0009: 'a\\tb'"),
        ({"id": "a", "names": ["b\x1b"]}, r"here: 'names' holds the control character U\+001B"),
        ({"id": "a", "names": "\ud800"}, r"here: 'names' holds the lone surrogate U\+D800"),
        (
            {"id": "a", "relations": [{"type": "t", "object": "o"}, {"type": "\0", "object": "o"}]},
            r"here, relation 2: 'type' holds the control character U\+0000",
        ),
    ],
)
def test_what_is_missing_is_named(content: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Topic.from_json(content, where="here")


def test_names_in_a_topic_file_are_cleaned() -> None:
    fact = {"type": "sub\u00addivisions", "object": "Q\u00a01", "forms": [" North\u00a0Holland\n"]}
    topic = Topic.from_json({"id": "Q55", "relations": [fact]})
    assert topic.relations == (Relation("subdivisions", "Q\u00a01", "North Holland"),)


def test_files_that_are_no_topic(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Topic.from_json(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(FormatError, match=r"bad\.json: not JSON"):
        Topic.from_json(tmp_path / "bad.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not JSON"):
        Topic.from_json(tmp_path / "bytes.json")
    with (tmp_path / "dump.json").open("wb") as file:
        file.truncate(LARGEST_TOPIC_FILE + 1)
    with pytest.raises(FormatError, match=r"dump\.json is larger than 64 MiB; is it a topic\?$"):
        Topic.from_json(tmp_path / "dump.json")


def test_dates_and_numbers_have_the_forms_that_people_write() -> None:
    opened = Relation("opened", "1 July 2000")
    assert opened.forms[:2] == ("1 July 2000", "July 1, 2000")
    assert Relation("opened", date(2000, 7, 1)).forms == Relation("opened", "2000-07-01").forms
    assert Relation("height", 8848.86).forms == ("8,848.86", "8848.86")
    assert Relation("population", "709,037").forms == ("709,037", "709037")
    assert Relation("opened", "1 July 2000", forms=["in July"]).forms == ("in July",)
    with pytest.raises(InputError, match="text"):
        Relation("open", True)


def test_numbers_in_json() -> None:
    relations = [{"type": "height", "object": 8849}, {"type": "share", "object": 0.25}]
    topic = Topic.from_json({"id": "Everest", "relations": relations})
    assert [fact.object for fact in topic.relations] == ["8849", "0.25"]
    assert topic.relations[0].forms == ("8,849", "8849")
    assert Topic.from_json(topic.to_dict()) == topic
    several: list[Any] = [True, None, [1], {}, float("inf")]
    for wrong in several:
        with pytest.raises(FormatError, match="relation 1"):
            Topic.from_json({"id": "x", "relations": [{"type": "a", "object": wrong}]})


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ({"aliases": []}, "did you mean 'names'"),
        ({"label": "x"}, "did you mean 'names'"),
        ({"facts": []}, "did you mean 'relations'"),
        ({"relatons": []}, "did you mean 'relations'"),
        ({"colour": 1}, "a topic has the fields id, names, relations"),
        ({"relations": [{"predicate": "a"}]}, "did you mean 'type'"),
        ({"relations": [{"type": "a", "value": "b"}]}, "did you mean 'object'"),
        ({"relations": [{"type": "a", "object": "b", "names": []}]}, "did you mean 'forms'"),
        ({"relations": [{"colour": "a"}]}, "a relation has the fields type, label, object, forms"),
    ],
)
def test_unknown_fields_get_the_right_hint(fields: dict[str, object], hint: str) -> None:
    with pytest.raises(FormatError, match=hint):
        Topic.from_json({"id": "Q1", **fields})


def test_json_as_a_text_is_told_from_a_path() -> None:
    with pytest.raises(InputError, match=r"the path of a file; .* json\.loads"):
        Topic.from_json('{"id": "Oslo"}')
