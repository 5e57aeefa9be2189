"""Lines of RDF of any vocabulary: facts, names, and what is left out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.errors import InputError
from lrlm.knowledge.sources import SourceFormat, parser_of
from lrlm.knowledge.sources.addresses import NamePredicates, entity_names, expand, relation_label
from lrlm.knowledge.sources.rdf_values import reader_of, unit_name
from lrlm.knowledge.statements import StatementKind, Statements

pytest.importorskip("pyoxigraph")

E = "<http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def read(*lines: str | bytes, names: NamePredicates | None = None, source: int = 0) -> Statements:
    out = Statements(source)
    parse = parser_of(SourceFormat.RDF_LINES, "en", names or NamePredicates())
    parse([x if isinstance(x, bytes) else x.encode() for x in lines], out)
    return out


def facts(out: Statements) -> list[tuple[StatementKind, str | None, str | None]]:
    return [
        (StatementKind(kind), object_, unit)
        for kind, _, _, object_, unit in out.rows
        if kind <= StatementKind.TEXT
    ]


def test_facts_have_whole_addresses_and_names_from_them() -> None:
    out = read(f"{E}Oslo> {E}isCapitalOf> {E}Norway_(country)> .")
    assert out.rows == [
        (StatementKind.TYPE_LABEL, "http://example.org/isCapitalOf", None, "is capital of", None),
        (StatementKind.TITLE, "http://example.org/Oslo", None, "Oslo", None),
        (StatementKind.TITLE, "http://example.org/Norway_(country)", None, "Norway", None),
        (
            StatementKind.ENTITY,
            "http://example.org/Oslo",
            "http://example.org/isCapitalOf",
            "http://example.org/Norway_(country)",
            None,
        ),
    ]


def test_names_by_language_and_by_the_place_of_their_predicate() -> None:
    out = read(
        f'{E}1> {LABEL} "Oslo"@en .',
        f'{E}1> {LABEL} "Oslo"@de .',
        f'{E}1> {LABEL} "Oslo town"@en-GB .',
        f'{E}1> {ALIAS} "Christiania" .',
        f'{E}1> <http://schema.org/name> "The City of Oslo"@EN .',
        f"{E}1> {LABEL} {E}2> .",
    )
    assert [(StatementKind(row[0]), row[2], row[3]) for row in out.rows] == [
        (StatementKind.LABEL, "000", "Oslo"),
        (StatementKind.DEFAULT_LABEL, "000", "Oslo town"),
        (StatementKind.DEFAULT_ALIAS, "000", "Christiania"),
        (StatementKind.LABEL, "002", "The City of Oslo"),
    ]
    assert out.counts == {"names in other languages": 1, "names that are no text": 1}


def test_the_predicates_of_names_can_be_others() -> None:
    names = NamePredicates(labels=("http://example.org/called",), aliases=())
    out = read(f'{E}1> {E}called> "Oslo" .', f'{E}1> {LABEL} "x" .', names=names)
    assert [row[3] for row in out.rows] == ["Oslo"]
    assert out.counts == {"statements about vocabularies (RDFS, OWL)": 1}
    with pytest.raises(InputError, match="'label' is not a predicate"):
        NamePredicates(labels=("label",))
    assert expand("schema:name") == ("https://schema.org/name", "http://schema.org/name")


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (f'"709037"^^<{XSD}integer>', (StatementKind.QUANTITY, "709037", None)),
        (f'"+007"^^<{XSD}nonNegativeInteger>', (StatementKind.QUANTITY, "7", None)),
        (f'"-0.50"^^<{XSD}decimal>', (StatementKind.QUANTITY, "-0.50", None)),
        (f'".5"^^<{XSD}decimal>', (StatementKind.QUANTITY, "0.5", None)),
        (f'"1.50E3"^^<{XSD}double>', (StatementKind.QUANTITY, "1500", None)),
        (f'"23.0"^^<{XSD}float>', (StatementKind.QUANTITY, "23", None)),
        (f'"1961-08-04Z"^^<{XSD}date>', (StatementKind.DATE, "1961-08-04", None)),
        (f'"1961-08-04T10:00:00+01:00"^^<{XSD}dateTime>', (StatementKind.DATE, "1961-08-04", None)),
        (f'"1961-01-01"^^<{XSD}date>', (StatementKind.DATE, "1961-01-01", None)),
        (f'"1961"^^<{XSD}gYear>', (StatementKind.DATE, "1961", None)),
        (f'"-0043"^^<{XSD}gYear>', (StatementKind.DATE, "-0044", None)),
        (f'"1961-08"^^<{XSD}gYearMonth>', (StatementKind.DATE, "1961-08", None)),
        (f'"--05-17"^^<{XSD}gMonthDay>', (StatementKind.TEXT, "17 May", None)),
        (f'"14:30:00"^^<{XSD}time>', (StatementKind.TEXT, "14:30", None)),
        (f'"Oslo"^^<{XSD}string>', (StatementKind.LITERAL, "Oslo", None)),
        ('"4 August 1961"', (StatementKind.LITERAL, "4 August 1961", None)),
        ('"4 August 1961"@en', (StatementKind.TEXT, "4 August 1961", None)),
        ('"a \\"b\\" \\u00e9"', (StatementKind.LITERAL, 'a "b" é', None)),
        (
            '"454.0"^^<http://dbpedia.org/datatype/squareKilometre>',
            (StatementKind.QUANTITY, "454", "http://dbpedia.org/datatype/squareKilometre"),
        ),
    ],
)
def test_literals_become_what_people_write(
    literal: str, expected: tuple[StatementKind, str, str | None]
) -> None:
    assert facts(read(f"{E}a> {E}b> {literal} .")) == [expected]


@pytest.mark.parametrize(
    ("literal", "reason"),
    [
        (f'"true"^^<{XSD}boolean>', "values of data types left out"),
        (f'"<b>x</b>"^^<{RDF}HTML>', "values of data types left out"),
        (f'"NaN"^^<{XSD}double>', "malformed values"),
        (f'"1E1000000000"^^<{XSD}double>', "malformed values"),
        (f'"1961-02-31"^^<{XSD}date>', "malformed values"),
        (f'"--00-17"^^<{XSD}gMonthDay>', "malformed values"),
        ('"x"^^<http://example.org/own>', "values of unknown data types"),
        ('"Ganz schön"@de', "texts in other languages"),
        ('""', "empty texts"),
        (f'"{"long " * 60}"', "texts of more than 200 characters"),
    ],
)  # fmt: skip
def test_literals_that_are_left_out_are_counted(literal: str, reason: str) -> None:
    out = read(f"{E}a> {E}b> {literal} .")
    assert not facts(out)
    assert out.counts == {reason: 1}
    assert not out.bad


def test_links_vocabularies_and_lists_are_counted() -> None:
    rdf, rdfs, owl = (
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "<http://www.w3.org/2000/01/rdf-schema#",
        "<http://www.w3.org/2002/07/owl#",
    )
    out = read(
        f"{E}a> {owl}sameAs> {E}b> .",
        f"{E}a> {A} {owl}Thing> .",
        f"{E}a> {rdfs}subClassOf> {E}b> .",
        f'{E}a> {rdfs}comment> "A town." .',
        f"{E}a> {rdf}rest> _:b .",
        f"{E}a> {A} {E}PopulatedPlace> .",
    )
    assert sorted(out.counts.values()) == [1] * 5
    titles = [row[3] for row in out.rows if row[0] == StatementKind.TITLE]
    assert titles == ["a", "populated place", "Populated Place", "PopulatedPlace"]
    assert len(facts(out)) == 1


def test_blank_nodes_of_two_files_are_different_nodes() -> None:
    line = f"_:x {E}near> _:y ."
    first, second = read(line, source=0), read(line, source=1)
    assert facts(first) == [(StatementKind.ENTITY, "_:0/y", None)]
    assert facts(second) == [(StatementKind.ENTITY, "_:1/y", None)]


def test_other_layouts_graphs_and_comments() -> None:
    out = read(
        f"{E}a>{E}b>{E}c>.",
        f"  {E}a> {E}b>   {E}d>   .   # as it may be written",
        f"{E}a> {E}b> {E}e> {E}graph> .\r",
        f"{E}a> {E}b> {E}f> _:graph .",
        "# only a comment",
        "",
        f"{E}a> {E}b> <<( {E}x> {E}y> {E}z> )>> .",
    )
    assert [object_ for _, object_, _ in facts(out)] == [
        f"http://example.org/{each}" for each in "cdef"
    ]
    assert out.counts == {"statements about statements": 1}
    assert not out.bad


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{E}a> {E}b> .", "not a triple"),
        ("<a> <b> <c> .", "not a whole address"),
        (f'{E}a> {E}b> "x .', "not a triple"),
        (f'{E}a> {E}b> "\\ud800" .', "lone surrogate"),
        (f'{E}a> {E}b> "\x1b" .', "control character|not a triple"),
        (b"<http://a/\xff> <http://b> <http://c> .", "not a text"),
        (f"{E}{'x' * 3000}> {E}b> {E}c> .", "more than 2,000"),
        ("nothing of that kind", "not a triple"),
    ],
)
def test_bad_lines_are_told(line: str | bytes, reason: str) -> None:
    out = read(line, f"{E}a> {E}b> {E}c> .")
    assert len(facts(out)) == 1
    ((number, told),) = out.bad
    assert number == 0
    assert re.search(reason, told), told


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("http://dbpedia.org/resource/New_York_City", ("New York City",)),
        ("http://dbpedia.org/resource/S%C3%A3o_Paulo", ("São Paulo",)),
        ("http://example.org/mount-everest", ("mount everest",)),
        ("http://example.org/x#Jean-Luc", ("Jean-Luc",)),
        ("http://example.org/things/Oslo/", ("Oslo",)),
        ("urn:towns:Oslo", ("Oslo",)),
        ("http://example.org/", ()),
        ("http://example.org", ()),
        ("http://example.org/4711", ()),
        ("http://example.org/9f86d081884c7d659a2feaa0c55ad015", ()),
        ("http://example.org/Oslo.jpg", ()),
        ("http://example.org/%FF%FE", ()),
        ("http://example.org/%1B[31m", ()),
    ],
)
def test_names_from_addresses(address: str, names: tuple[str, ...]) -> None:
    assert entity_names(address) == names


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("http://dbpedia.org/ontology/populationTotal", "population total"),
        ("http://example.org/has_part", "has part"),
        ("http://example.org/ns#ISBN", "ISBN"),
        ("http://example.org/wikiPageID", "wiki page ID"),
        ("http://example.org/", "http://example.org/"),
    ],
)
def test_labels_of_relation_types_from_addresses(address: str, label: str) -> None:
    assert relation_label(address) == label


def test_units_are_those_that_are_written() -> None:
    assert unit_name("http://dbpedia.org/datatype/kilometre") == "km"
    assert unit_name("http://example.org/unit#nauticalMile") == "nautical mile"


@given(st.text(max_size=40), st.sampled_from(["integer", "double", "date", "gMonthDay", "time"]))
def test_any_text_of_any_type_is_read_or_left_out(text: str, datatype: str) -> None:
    reader = reader_of(XSD + datatype)
    assert reader is not None
    value = reader(text)
    if not isinstance(value, str):
        assert value.object.isascii()
        assert value.object.isprintable()


@given(st.binary(max_size=80))
def test_any_line_is_used_counted_or_bad(line: bytes) -> None:
    line = line.replace(b"\n", b"")
    out = read(line, b"<http://a/b> <http://a/c> " + line + b" .")
    out.to_table(block=0)
    assert len(out.bad) <= 2
