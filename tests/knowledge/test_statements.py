"""What every source makes of texts: one line, without what a terminal would obey."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.knowledge.sources import Format, parser_of
from lrlm.knowledge.statements import Statements, one_line

ODD = "a\x1b[31m  b\x00\x9b c\x7f"
PLAIN = "a [31m b c"


@given(st.text("ab \t\x00\x1b\x7f\x85\x9b\xa0\u2028é\ud800\U0001f600"))
def test_a_line_has_no_control_characters_and_single_spaces(text: str) -> None:
    line = one_line(text)
    assert not any(each < " " or "\x7f" <= each <= "\x9f" or each == "\ud800" for each in line)
    assert line == " ".join(line.split())
    assert set(line) - {" "} <= set(text)


def test_other_characters_stay() -> None:
    assert one_line("naïve 東京 😀 \u200d\u00ad") == "naïve 東京 😀 \u200d\u00ad"
    assert one_line("") == one_line("\x1b\x07") == ""


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
        (Format.NTRIPLES, _ntriples(), 2),
        (Format.WIKIDATA_JSON, _wikidata_json(), 2),
        (Format.TRIPLES, [f"Q1\tP1\t{ODD}\tliteral"], 1),
        (Format.FORMS, [f"Q1\t{ODD}"], 1),
        (Format.TITLES, [f"Q1\t{ODD}"], 1),
    ],
)
def test_names_and_texts_of_all_sources_are_cleaned(
    format_: Format, lines: list[str], texts: int
) -> None:
    out = Statements()
    parser_of(format_, "en")([line.encode() for line in lines], out)
    assert not out.bad
    assert [row[3] for row in out.rows] == [PLAIN] * texts


def test_a_literal_of_control_characters_only_is_a_bad_line() -> None:
    out = Statements()
    parser_of(Format.TRIPLES, "en")([b"Q1\tP1\t\x01\tliteral"], out)
    assert not out.rows
    assert out.bad == [(0, "the literal has nothing but control characters")]
