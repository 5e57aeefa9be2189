"""Single lines of the truthy N-Triples dump."""

import pytest

from lrlm.knowledge.sources.ntriples import unescape
from lrlm.knowledge.sources.wikidata_ntriples import NTriples, date_of
from lrlm.knowledge.statements import StatementKind, Statements

Q = "<http://www.wikidata.org/entity/"
P = "<http://www.wikidata.org/prop/direct/"
XSD = "<http://www.w3.org/2001/XMLSchema#"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def read(*lines: str | bytes) -> Statements:
    out = Statements()
    NTriples("en")([x if isinstance(x, bytes) else x.encode() for x in lines], out)
    return out


def test_facts() -> None:
    out = read(
        f"{Q}Q1> {P}P31> {Q}Q5> .",
        f'{Q}Q1> {P}P569> "1961-08-04T00:00:00Z"^^{XSD}dateTime> .',
        f'{Q}Q1> {P}P1082> "+12.5"^^{XSD}decimal> .',
        f'{Q}Q1> {P}P1476> "Hi \\"there\\""@en .',
        f'{Q}Q1> {P}P1476> "Hallo"@de .',
        f'{Q}Q1> {P}P281> "075\\u00E9" .\r',
        f'{Q}Q1> {P}P625> "Point(1 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .',
        f"{Q}Q1> {P}P856> <https://example.org/> .",
        f"{Q}Q1> {P}P570> <http://www.wikidata.org/.well-known/genid/1234> .",
        f"{Q}Q1> {P}P570> _:b1 .",
        "# a comment",
        "",
        "_:b1 <http://example.org/x> _:b2 .",
        f"{Q}Q1>\t{P}P31>  {Q}Q6> .",
    )
    assert [(row[2], StatementKind(row[0]), row[3]) for row in out.rows] == [
        ("P31", StatementKind.ENTITY, "Q5"),
        ("P569", StatementKind.DATE, "1961-08-04"),
        ("P1082", StatementKind.QUANTITY, "12.5"),
        ("P1476", StatementKind.TEXT, 'Hi "there"'),
        ("P281", StatementKind.TEXT, "075é"),
        ("P31", StatementKind.ENTITY, "Q6"),
    ]
    assert out.counts == {
        "texts in other languages": 1,
        "statements of data types left out": 2,
        "statements without a value": 2,
    }
    assert not out.bad


@pytest.mark.parametrize("text", ["1E1000000000", "1e-1000000000", "NaN", "INF", "x1", ""])
def test_numbers_that_cannot_be_written_out_are_left_out(text: str) -> None:
    out = read(f'{Q}Q1> {P}P1082> "{text}"^^{XSD}double> .')
    assert not out.rows
    assert out.counts == {"malformed values": 1}


def test_names_redirects_and_types_of_properties() -> None:
    also = "<http://www.w3.org/2004/02/skos/core#altLabel>"
    out = read(
        f'{Q}Q1> {LABEL} "Paris"@en .',
        f'{Q}Q1> {LABEL} "Parigi"@it .',
        f'{Q}Q1> {LABEL} "PARIS"@mul .',
        f'{Q}Q1> <http://schema.org/name> "Paris"@en .',
        f'{Q}Q1> {also} "City of Light"@en .',
        f'{Q}P31> {LABEL} "instance of"@en .',
        f'{Q}P31> {also} "is a"@en .',
        f"{Q}Q7> <http://www.w3.org/2002/07/owl#sameAs> {Q}Q1> .",
        f"{Q}P31> <http://wikiba.se/ontology#propertyType> <http://wikiba.se/ontology#Url> .",
    )
    assert [(StatementKind(row[0]), row[1], row[3]) for row in out.rows] == [
        (StatementKind.LABEL, "Q1", "Paris"),
        (StatementKind.DEFAULT_LABEL, "Q1", "PARIS"),
        (StatementKind.ALIAS, "Q1", "City of Light"),
        (StatementKind.TYPE_LABEL, "P31", "instance of"),
        (StatementKind.REDIRECT, "Q7", "Q1"),
        (StatementKind.DATATYPE, "P31", "Url"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{Q}Q1> {P}P31> {Q}Q5>", "ends with"),
        ("hello .", "begins with"),
        (f'{Q}Q1> {P}P1> "open .', "not closed"),
        (f'{Q}Q1> {P}P1> "\\uD800"@en .', "lone surrogate U+D800 (half a character)"),
        (f"{Q}Q1> {P}P1 .", "three terms"),
        (f'{Q}Q1> {P}P1> "'.encode() + b'\xff"@en .', "not a text"),
        (f'{Q}Q1> {P}P1> "\\UFFFFFFFF"@en .', "no character FFFFFFFF"),
        (f'{Q}Q1> {LABEL} "\\U00110000"@en .', "no character 110000"),
        (f"{Q}Q".encode() + b"\xff" + f"> {P}P31> {Q}Q5> .".encode(), "not a text"),
        (f"{Q}Q1> {P}P".encode() + b"\xff" + f"> {Q}Q5> .".encode(), "not a text"),
        (f"{Q}Q1> {P}P".encode() + b'\xff> "text"@en .', "not a text"),
        (f"{Q}Q1> {P}P31> {Q}Q".encode() + b"\xff> .", "not a text"),
        (f"{Q}Q1> {P}P31> {Q}Q12 .", "the object is not closed with '>'"),
        (f"{Q}Q1 {P}P31> {Q}Q5> .", "the subject is not closed with '>'"),
        (f"{Q}Q1> {P}P31 {Q}Q5> .", "the relation type is not closed with '>'"),
        (f"{Q}Q1> {P}P31> .", "there is no object"),
        (f"{Q}Q1> .", "there is no relation type"),
        (f"{Q}Q1> {P}P31> {Q}Q5> {Q}Q6> .", "three terms"),
        (f"{Q}Q1> {P}P31>{Q}Q5> .", "three terms"),
        (f'{Q}Q1> {P}P1> "x"@ .', "a language or a data type"),
        (f'{Q}Q1> {P}P1> "x"^^{XSD}string .', "a language or a data type"),
        (f'{Q}Q1> {P}P1> "a"b"@en .', "not closed"),
        (f'{Q}Q1> {P}P1> "\\q"@en .', "there is no escape '\\\\q'"),
        (f'{Q}Q1> {P}P1> "\\u12"@en .', "there is no escape"),
        (f"{Q}> {P}P31> {Q}Q5> .", "'' is not an id of Wikidata"),
        (f"{Q}Q1> {P}P31> {Q}5> .", "'5' is not an id of Wikidata"),
        (f"{Q}Q1> {P}31> {Q}Q5> .", "'31' is not the id of a relation type"),
        (f"{Q}Q1\x07> {P}P31> {Q}Q5> .", "the control character U+0007 at byte 35"),
        (f'{Q}Q1> {LABEL} "\\u001B[2J"@en .', "the name holds the control character U+001B"),
        ("<http://example.org/1> <http://example.org/2> .", "there is no object"),
        ("<http://example.org/1 <http://example.org/2> _:b .", "the subject is not closed"),
    ],
)
def test_bad_lines(line: str | bytes, reason: str) -> None:
    good = f"{Q}Q1> {P}P31> {Q}Q5> ."
    out = read(good, line, good)
    assert len(out.rows) == 2
    [(number, found)] = out.bad
    assert number == 1
    assert reason in found


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1961-08-04T00:00:00Z", "1961-08-04"),
        ("1961-01-01T00:00:00Z", "1961"),
        ("0000-05-02T00:00:00Z", "-0001-05-02"),
        ("-0043-03-15T00:00:00Z", "-0044-03-15"),
        ("12000-01-01T00:00:00Z", ""),
        ("1961-13-01T00:00:00Z", ""),
        ("1961-02-30T00:00:00Z", ""),
        ("1961-00-05T00:00:00Z", "1961"),
        ("１９６１-08-04T00:00:00Z", ""),
        ("today", ""),
    ],
)
def test_dates(text: str, date: str) -> None:
    assert date_of(text) == date


def test_escapes() -> None:
    assert unescape(rb"a\tb\\n\"\u00e9\U0001F600") == 'a\tb\\n"é😀'
