"""What every source makes of names and texts: all are cleaned, and refused, alike."""

import json
from collections.abc import Callable

import pytest

from lrlm.knowledge.sources import SourceFormat, parser_of
from lrlm.knowledge.statements import StatementKind, Statements

ODD = "\ufeffa\x0c  b\u202e\x85 c\t d\u00ade\u00a0f\u200b"
PLAIN = "a b c de f"


def _ntriples(odd: str) -> list[str]:
    site, text = "http://www.wikidata.org", json.dumps(odd)
    return [
        f"<{site}/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> {text}@en .",
        f"<{site}/entity/Q1> <{site}/prop/direct/P1> {text} .",
    ]


def _wikidata_json(odd: str) -> list[str]:
    main = {"snaktype": "value", "datatype": "string", "datavalue": {"value": odd}}
    labels = {"en": {"value": odd}}
    item = {"type": "item", "id": "Q1", "labels": labels, "claims": {"P1": [{"mainsnak": main}]}}
    return [json.dumps(item)]


SOURCES = [
    (SourceFormat.NTRIPLES, _ntriples, 2),
    (SourceFormat.WIKIDATA_JSON, _wikidata_json, 2),
    (SourceFormat.TRIPLES, lambda odd: [f"Q1\tP1\t{odd}\tliteral"], 1),
    (SourceFormat.FORMS, lambda odd: [f"Q1\t{odd}"], 1),
    (SourceFormat.TITLES, lambda odd: [f"Q1\t{odd}"], 1),
]


@pytest.mark.parametrize(("format_", "lines", "texts"), SOURCES)
def test_names_and_texts_of_all_sources_are_cleaned(
    format_: SourceFormat, lines: Callable[[str], list[str]], texts: int
) -> None:
    is_table = format_ in (SourceFormat.TRIPLES, SourceFormat.FORMS, SourceFormat.TITLES)
    odd = ODD.replace("\t", " ") if is_table else ODD
    out = Statements()
    parser_of(format_, "en")([line.encode() for line in lines(odd)], out)
    assert not out.bad
    assert [row[3] for row in out.rows] == [PLAIN] * texts


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x9b"])
@pytest.mark.parametrize(("format_", "lines", "texts"), SOURCES)
def test_a_control_character_makes_a_line_of_any_source_a_bad_one(
    format_: SourceFormat, lines: Callable[[str], list[str]], texts: int, character: str
) -> None:
    good, bad = (
        [line.encode() for line in lines(text)] for text in ("a name", f"a{character}name")
    )
    out = Statements()
    parser_of(format_, "en")([*good, *bad, *good], out)
    assert [row[3] for row in out.rows] == ["a name"] * (2 * texts)
    assert [number for number, _ in out.bad] == [*range(len(good), 2 * len(good))]
    assert all(f"the control character U+{ord(character):04X}" in why for _, why in out.bad)


@pytest.mark.parametrize("format_", [SourceFormat.TRIPLES, SourceFormat.FORMS])
def test_ids_hold_no_control_characters_at_all(format_: SourceFormat) -> None:
    line = {SourceFormat.TRIPLES: "Q1\tP1\tQ\x0c2", SourceFormat.FORMS: "Q\x0c2\ta"}[format_]
    out = Statements()
    parser_of(format_, "en")([line.encode()], out)
    [(_, reason)] = out.bad
    assert reason.endswith("holds the control character U+000C")


def test_a_literal_of_invisible_characters_only_is_a_bad_line() -> None:
    out = Statements()
    parser_of(SourceFormat.TRIPLES, "en")(["Q1\tP1\t\u200b\tliteral".encode()], out)
    assert not out.rows
    assert out.bad == [(0, "the literal has nothing but invisible characters")]


def test_types_of_tables_are_names_and_subjects_and_objects_are_keys() -> None:
    out = Statements()
    parser_of(SourceFormat.TRIPLES, "en")(["Q\u00a01\tsub\u00addivisions\tQ\u00ad2".encode()], out)
    assert out.rows == [(StatementKind.ENTITY, "Q\u00a01", "subdivisions", "Q\u00ad2", None)]
    out = Statements()
    parser_of(SourceFormat.FORMS, "en")(["Q\u00a01\tNew\u00a0 York".encode()], out)
    assert out.rows == [(StatementKind.LABEL, "Q\u00a01", None, "New York", None)]
    parser_of(SourceFormat.FORMS, "en")(["Q1\t\u200b".encode()], out)
    assert out.bad == [(0, "entity or form is empty")]


def test_a_title_before_its_id_is_cleaned() -> None:
    out = Statements()
    parser_of(SourceFormat.TITLES, "en")(["New\u00a0York\tQ60".encode()], out)
    assert out.rows == [(StatementKind.TITLE, "Q60", None, "New York", None)]
