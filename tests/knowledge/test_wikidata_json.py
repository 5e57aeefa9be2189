"""Single lines of Wikidata's JSON: what becomes of each kind of value, rank and oddity."""

import json
from typing import Any

import pytest

from lrlm.knowledge.sources.wikidata_json import WikidataJson, time_value
from lrlm.knowledge.statements import StatementKind, Statements

HALF = "holds the lone surrogate U+D800 (half a character)"


def read(*entities: dict[str, Any] | bytes, language: str = "en") -> Statements:
    lines = [e if isinstance(e, bytes) else json.dumps(e).encode() + b"," for e in entities]
    out = Statements()
    WikidataJson(language)([b"[", *lines, b"]"], out)
    return out


def item(claims: dict[str, Any] | list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "item", "id": "Q1", "labels": [], "aliases": [], "claims": claims, **more}


def snak(datatype: str, value: Any, rank: str = "normal") -> dict[str, Any]:
    datavalue = {"value": value, "type": "?"}
    main = {"snaktype": "value", "datatype": datatype, "datavalue": datavalue}
    return {"mainsnak": main, "rank": rank, "qualifiers": {"P1": [{"odd": 1}]}}


def facts(out: Statements) -> list[tuple[Any, ...]]:
    return [
        (row[2], StatementKind(row[0]), row[3], row[4])
        for row in out.rows
        if row[0] <= StatementKind.TEXT
    ]


def test_names_of_the_language_then_of_all_languages() -> None:
    labels = {code: {"language": code, "value": f"{code}  name"} for code in ("de", "en", "mul")}
    aliases = {"en": [{"value": "a"}, {"value": " "}], "mul": [{"value": "m"}]}
    out = read(item([], labels=labels, aliases=aliases))
    assert [(StatementKind(row[0]), row[3]) for row in out.rows] == [
        (StatementKind.LABEL, "en name"),
        (StatementKind.DEFAULT_LABEL, "mul name"),
        (StatementKind.ALIAS, "a"),
        (StatementKind.DEFAULT_ALIAS, "m"),
    ]
    assert [row[3] for row in read(item([], labels=labels), language="mul").rows] == ["mul name"]
    assert read(item([], labels=labels), language="zh-hans").rows[0][3] == "mul name"


def test_values() -> None:
    unit = "http://www.wikidata.org/entity/Q712226"
    out = read(
        item(
            {
                "P1": [snak("wikibase-item", {"id": "Q2"})],
                "P2": [snak("wikibase-item", {"numeric-id": 3, "entity-type": "item"})],
                "P3": [snak("time", {"time": "+1961-08-04T00:00:00Z", "precision": 11})],
                "P4": [snak("quantity", {"amount": "+12.5", "unit": unit})],
                "P5": [snak("quantity", {"amount": "-3", "unit": "1"})],
                "P6": [
                    snak("monolingualtext", {"text": "Hi\nthere", "language": "en"}),
                    snak("monolingualtext", {"text": "Hallo", "language": "de"}),
                ],
                "P7": [snak("string", "1984")],
                "P8": [snak("external-id", "x")],
                "P9": [snak("globe-coordinate", {"latitude": 1.5, "precision": None})],
            }
        )
    )
    assert facts(out) == [
        ("P1", StatementKind.ENTITY, "Q2", None),
        ("P2", StatementKind.ENTITY, "Q3", None),
        ("P3", StatementKind.DATE, "1961-08-04", None),
        ("P4", StatementKind.QUANTITY, "12.5", "Q712226"),
        ("P5", StatementKind.QUANTITY, "-3", None),
        ("P6", StatementKind.TEXT, "Hi there", None),
        ("P7", StatementKind.TEXT, "1984", None),
    ]
    assert out.counts["statements of data types left out"] == 2
    assert out.counts["texts in other languages"] == 1
    assert not out.bad


@pytest.mark.parametrize(
    ("ranks", "kept"),
    [
        (["normal", "normal"], [0, 1]),
        (["normal", "preferred", "preferred"], [1, 2]),
        (["deprecated", "normal"], [1]),
        (["deprecated"], []),
    ],
)
def test_the_best_rank_counts(ranks: list[str], kept: list[int]) -> None:
    claims = {"P1": [snak("string", str(place), rank) for place, rank in enumerate(ranks)]}
    assert [fact[2] for fact in facts(read(item(claims)))] == [str(place) for place in kept]


def test_no_value_and_unknown_value_are_counted() -> None:
    some = {"mainsnak": {"snaktype": "somevalue", "datatype": "time"}, "rank": "normal"}
    none = {"mainsnak": {"snaktype": "novalue", "datatype": "time"}, "rank": "normal"}
    out = read(item({"P1": [some, none]}))
    assert not facts(out)
    assert out.counts["statements without a value"] == 2


def test_an_unknown_data_type_is_noted_and_the_rest_kept() -> None:
    claims = {"P1": [snak("hologram", [1, {"x": 2}])], "P2": [snak("string", "kept")]}
    out = read(item(claims))
    assert [fact[2] for fact in facts(out)] == ["kept"]
    assert out.notes == {"unknown data type 'hologram' (P1)": 1}
    assert not out.bad


@pytest.mark.parametrize(
    ("time", "precision", "kind", "text"),
    [
        ("+1961-08-04T00:00:00Z", 11, StatementKind.DATE, "1961-08-04"),
        ("+1961-08-00T00:00:00Z", 10, StatementKind.DATE, "1961-08"),
        ("+1961-00-00T00:00:00Z", 9, StatementKind.DATE, "1961"),
        ("+1961-00-00T00:00:00Z", 11, StatementKind.DATE, "1961"),
        ("-0044-03-15T00:00:00Z", 11, StatementKind.DATE, "-0044-03-15"),
        ("+1961-00-00T00:00:00Z", 8, StatementKind.TEXT, "1960s"),
        ("+1900-00-00T00:00:00Z", 7, StatementKind.TEXT, "19th century"),
        ("+1201-00-00T00:00:00Z", 7, StatementKind.TEXT, "13th century"),
        ("+2001-00-00T00:00:00Z", 7, StatementKind.TEXT, "21st century"),
        ("+1001-00-00T00:00:00Z", 6, StatementKind.TEXT, ""),
        ("-13798000000-00-00T00:00:00Z", 3, StatementKind.TEXT, ""),
        ("+12000-00-00T00:00:00Z", 9, StatementKind.DATE, ""),
        ("nonsense", 11, StatementKind.DATE, ""),
    ],
)
def test_times(time: str, precision: int, kind: StatementKind, text: str) -> None:
    assert time_value(time, precision)[1] == text
    if text:
        assert time_value(time, precision)[0] is kind


def test_properties_redirects_and_other_entities() -> None:
    out = read(
        {"type": "property", "id": "P31", "labels": {"en": {"value": "instance of"}}},
        {"entity": "Q3", "redirect": "Q2"},
        {"type": "lexeme", "id": "L1", "lemmas": {}},
    )
    assert out.rows == [
        (StatementKind.TYPE_LABEL, "P31", None, "instance of", None),
        (StatementKind.REDIRECT, "Q3", None, "Q2", None),
    ]
    assert out.counts == {"entities of the type lexeme": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type": "item", "id": "Q1", "labels": {', "not JSON"),
        (b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "\xff"}}},', "UTF-8|not JSON"),
        (b'{"type": "item", "id": 7},', "not an entity of Wikidata"),
        (b'{"type": "item", "labels": []},', "without an id"),
        (b'{"id": "Q1"},', "no 'type'"),
        (b"x", "not JSON"),
        (b"[[", "not JSON|not an entity"),
        (b'{"type": "item", "id": "Q1", "claims": ' + b"[" * 100_000, "not JSON|not an entity"),
        (b'{"type": "item", "id": ""},', "'' is not the id of an item"),
        (b'{"type": "item", "id": "Q99\\n"},', r"'Q99\n' is not the id of an item"),
        (b'{"type": "item", "id": "P1"},', "'P1' is not the id of an item"),
        (b'{"type": "property", "id": ""},', "'' is not the id of a relation type"),
        (b'{"entity": "Q3", "redirect": ""},', "'' is not the id of an entity"),
        (b'{"type": "a\\u202e", "id": "X1"},', r"no entities of the type 'a\u202e'"),
        (b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "\\ud800"}}},', HALF),
        (b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "\\ud800"}}}', HALF),
        (b'{"type": "item", "id": "Q1", "labels": {"de": {"value": "x\\\\\\uD800."}}},', HALF),
        (
            b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "\xed\xa0\x80"}}},',
            "not UTF-8 at byte 58 of the line",
        ),
        (
            b'{"type": "item", "id": "Q1", "labels": {"en": {"value": "a\\u001b[2J"}}},',
            "the name holds the control character U+001B",
        ),
    ],
)
def test_bad_lines_are_told_and_the_others_kept(line: bytes, reason: str) -> None:
    good = item({"P1": [snak("string", "kept")]})
    out = read(good, line, good)
    assert len(facts(out)) == 2
    [(number, found)] = out.bad
    assert number == 2
    assert any(each in found for each in reason.split("|")), found


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"P31\n": [snak("string", "x")]}, r"'P31\n' is not the id of a relation type"),
        ({"P1": [snak("wikibase-item", {"id": "Q99\n"})]}, r"'Q99\n' is not the id of an item"),
        ({"P1": [snak("wikibase-item", {"id": ""})]}, "'' is not the id of an item"),
        ({"P1": [snak("string", "a\x07b")]}, "the text holds the control character U+0007"),
        (
            {"P1": [snak("monolingualtext", {"text": "\x9b", "language": "en"})]},
            "the text holds the control character U+009B",
        ),
    ],
)
def test_nothing_of_a_bad_line_is_used(claims: dict[str, Any], reason: str) -> None:
    labels = {"en": {"value": "name"}}
    before = {"P9": [snak("string", "x"), snak("url", "x"), snak("string", "y", "deprecated")]}
    unknown = {"P8": [snak("hologram", "x")]}
    good = item({"P2": [snak("string", "kept"), snak("string", "low", "deprecated")]})
    out = read(good, item({**before, **unknown, **claims}, labels=labels), good)
    assert out.bad == [(2, reason)]
    alone = read(good, good)
    assert (out.rows, out.counts, out.notes) == (alone.rows, alone.counts, {})


@pytest.mark.parametrize(
    "value",
    [
        {"time": "+x\n61-08-04T00:00:00Z", "precision": 11},
        {"time": "+1961-02-30T00:00:00Z", "precision": 11},
        {"time": "+0000-01-01T00:00:00Z", "precision": 11},
        {"amount": "+1", "unit": "http://www.wikidata.org/entity/Q1\n"},
        {"numeric-id": 10**300},
        {"numeric-id": -1},
    ],
)
def test_values_that_are_none_are_counted_and_left_out(value: dict[str, Any]) -> None:
    kind = {"time": "time", "amount": "quantity"}.get(next(iter(value)), "wikibase-item")
    out = read(item({"P1": [snak(kind, value)]}))
    assert not facts(out)
    assert not out.bad
    assert out.counts["malformed values"] + out.counts["times too coarse to write"] == 1


def test_statements_without_values_or_of_odd_shape_do_not_stop_an_entity() -> None:
    out = read(
        item(
            {
                "P0": [],
                "P1": [snak("wikibase-item", "Q5")],
                "P2": [snak("time", "1961")],
                "P3": [snak("quantity", {"amount": "many"})],
                "P4": [snak("string", {"id": "Q1"})],
                "P5": [snak("monolingualtext", "text")],
                "P6": [snak("wikibase-item", {})],
                "P7": [snak("string", "  ")],
            }
        )
    )
    assert not facts(out)
    assert out.counts["malformed values"] == 7


def test_dumps_of_old_name_only_the_type_of_the_value() -> None:
    old = {"snaktype": "value", "datavalue": {"value": {"id": "Q2"}, "type": "wikibase-entityid"}}
    assert facts(read(item({"P1": [{"mainsnak": old}]}))) == [
        ("P1", StatementKind.ENTITY, "Q2", None)
    ]
