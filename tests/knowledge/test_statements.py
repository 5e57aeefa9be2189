"""What every source makes of names and texts: all are cleaned alike."""

import json

import pytest

from lrlm.knowledge.sources import SourceFormat, parser_of
from lrlm.knowledge.statements import StatementKind, Statements

ODD = "\ufeffa\x1b[31m  b\x00\x9b c\x7f d\u00ade\u00a0f\u200b"
PLAIN = "a [31m b c de f"


def _ntriples() -> list[str]:
    site, text = "http://www.wikidata.org", json.dumps(ODD)
    return [
        f"<{site}/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> {text}@en .",
        f"<{site}/entity/Q1> <{site}/prop/direct/P1> {text} .",
    ]


def _wikidata_json() -> list[str]:
    main = {"snaktype": "value", "datatype": "string", "datavalue": {"value": ODD}}
    labels = {"en": {"value": ODD}}
    item = {"type": "item", "id": "Q1", "labels": labels, "claims": {"P1": [{"mainsnak": main}]}}
    return [json.dumps(item)]


@pytest.mark.parametrize(
    ("format_", "lines", "texts"),
    [
        (SourceFormat.NTRIPLES, _ntriples(), 2),
        (SourceFormat.WIKIDATA_JSON, _wikidata_json(), 2),
        (SourceFormat.TRIPLES, [f"Q1\tP1\t{ODD}\tliteral"], 1),
        (SourceFormat.FORMS, [f"Q1\t{ODD}"], 1),
        (SourceFormat.TITLES, [f"Q1\t{ODD}"], 1),
    ],
)
def test_names_and_texts_of_all_sources_are_cleaned(
    format_: SourceFormat, lines: list[str], texts: int
) -> None:
    out = Statements()
    parser_of(format_, "en")([line.encode() for line in lines], out)
    assert not out.bad
    assert [row[3] for row in out.rows] == [PLAIN] * texts


def test_a_literal_of_control_characters_only_is_a_bad_line() -> None:
    out = Statements()
    parser_of(SourceFormat.TRIPLES, "en")([b"Q1\tP1\t\x01\tliteral"], out)
    assert not out.rows
    assert out.bad == [(0, "the literal has nothing but control and invisible characters")]


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
