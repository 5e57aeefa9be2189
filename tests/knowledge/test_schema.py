"""What a schema learns by counting, and that a file of it says the same."""

from pathlib import Path

import pytest

from lrlm.corpora.open_relations import lacking_relations
from lrlm.errors import FormatError
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.schema import NameKind, Schema, kind_of_name
from lrlm.text import LinkableRelation


def country(name: str, capital: str, *neighbours: str) -> Topic:
    facts = [Relation("capital", capital), *(Relation("borders", each) for each in neighbours)]
    return Topic(name, relations=facts)


COUNTRIES = [country(f"Land {n}", f"City {n}", f"Land {n + 1}", f"Land {n + 2}") for n in range(30)]
RIVERS = [Topic(f"River {n}", relations=[Relation("length", 100 + n)]) for n in range(30)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Oslo", NameKind.NAME), ("the Nile", NameKind.NAME), ("iPhone", NameKind.NAME),
        ("euro", NameKind.WORDS), ("大阪", NameKind.NAME),
        ("7 June 1905", NameKind.DATE), ("1905-06-07", NameKind.DATE), ("1905", NameKind.YEAR),
        ("5,550,000", NameKind.NUMBER), ("385,207 km²", NameKind.NUMBER),
        ("-38.8 °C", NameKind.NUMBER),
        ("7 June", NameKind.DATE), ("June 7", NameKind.DATE), ("June 1905", NameKind.DATE),
        ("12 pages", NameKind.NUMBER), ("+47", NameKind.CODE), ("Apollo 11", NameKind.NAME),
    ],
)  # fmt: skip
def test_kinds_of_names(text: str, kind: NameKind) -> None:
    assert kind_of_name(text) is kind


def test_types_with_one_object_and_with_many() -> None:
    schema = Schema.of(COUNTRIES)
    assert schema.is_single("capital", objects_here=2)
    assert not schema.is_single("borders", objects_here=1)
    assert schema.types["capital"].share(NameKind.NAME) == 1.0


def test_new_objects_are_usual_for_some_types_and_not_for_others() -> None:
    closed = [Topic(f"L{n}", relations=[Relation("continent", "Asia")]) for n in range(30)]
    schema = Schema.of([*COUNTRIES, *closed])
    assert schema.types["capital"].unseen == 0.5
    assert schema.types["continent"].unseen == 1 / 31


def test_where_little_is_known_the_topic_decides() -> None:
    few = Schema.of(COUNTRIES[:3])
    assert few.is_single("capital", objects_here=1)
    assert not few.is_single("capital", objects_here=2)
    assert not few.is_single("borders", objects_here=1)
    assert Schema().is_single("anything", objects_here=1)
    assert not Schema().is_single("anything", objects_here=3)


def test_types_of_topics_like_this_one() -> None:
    schema = Schema.of([*COUNTRIES, *RIVERS])
    assert schema.types_like(["capital"]) == ["capital", "borders"]
    assert schema.types_like(["unheard of"]) == ["unheard of"]
    assert schema.types_like([]) == list(schema.types)
    assert len(schema.types_like([], most=2)) == 2
    assert schema.types_like(["borders", "capital"], most=1) == ["borders"]


def test_a_type_with_ten_thousand_objects_keeps_few_examples() -> None:
    crowd = Topic("Crowd", relations=[Relation("member", f"Person {n}") for n in range(10_000)])
    schema = Schema.of([crowd])
    assert len(schema.types["member"].examples) == 4
    assert not schema.is_single("member", objects_here=10_000)


def test_names_lead_to_what_they_most_often_stand_for() -> None:
    topics = [Topic(f"T{n}", relations=[Relation("seat", "Q1", ["Paris"])]) for n in range(3)]
    topics.append(Topic("T4", relations=[Relation("seat", "Q2", ["Paris"]), Relation("n", 7)]))
    names = Schema.of(topics).names
    assert names["Paris"] == ("Q1", {"seat": 4})
    assert "7" not in names, "numbers name nothing"


def test_a_file_says_the_same(tmp_path: Path) -> None:
    schema = Schema.of([*COUNTRIES, *RIVERS])
    path = tmp_path / "schema.json"
    path.write_text(schema.to_json(), encoding="utf-8")
    assert Schema.open(path) == schema


@pytest.mark.parametrize("content", ["[]", "{}", '{"format": "lrlm schema", "version": 2}', "nil"])
def test_what_is_no_schema_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "schema.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=r"schema\.json"):
        Schema.open(path)


def test_counting_stops_after_enough_topics() -> None:
    assert Schema.of(COUNTRIES, most_topics=5).types["capital"].topics == 5


def test_of_two_schemas_the_second_counts() -> None:
    both = Schema.of(COUNTRIES).updated(Schema.of([*COUNTRIES[:2], *RIVERS]))
    assert both.types["capital"].topics == 2
    assert "length" in both.types


LABELLED = [
    Topic(each, relations=[Relation("P36", f"{each} City", label="capital"), Relation("in", "x")])
    for each in ("Norway", "Sweden")
]


def test_what_types_are_called_is_kept(tmp_path: Path) -> None:
    schema = Schema.of(LABELLED)
    (tmp_path / "schema.json").write_text(schema.to_json())
    for each in (schema, Schema.open(tmp_path / "schema.json")):
        labels = {type_: known.label for type_, known in each.types.items()}
        assert labels == {"P36": "capital", "in": ""}


def test_open_relations_of_types_that_a_topic_lacks_are_called_by_their_names() -> None:
    known = LinkableRelation("in", "x", (("x",),), ("x",))
    lacking = lacking_relations([known], Schema.of(LABELLED))
    assert {each.type: each.label for each in lacking} == {"P36": "capital"}
