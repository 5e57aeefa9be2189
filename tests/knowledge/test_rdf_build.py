"""Graphs from RDF: every format gives the same graph, whole, in parts, or after a kill."""

import bz2
import gzip
import lzma
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from lrlm.errors import DamagedFileError, FormatError, InputError, MissingExtraError
from lrlm.knowledge import KnowledgeGraph, Relation
from lrlm.knowledge import extract as extract_module
from lrlm.knowledge.build import BuildEngine, Selection, build_graph
from lrlm.knowledge.sources import SourceFormat, recognise
from lrlm.knowledge.sources.addresses import NamePredicates
from lrlm.knowledge.sources.rdf_documents import RdfDocument
from lrlm.text_files import beginning_of
from tests.knowledge.worlds import content

rdf = pytest.importorskip("pyoxigraph")

TURTLE = """\
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Oslo a :CapitalCity ;
    rdfs:label "Oslo"@en , "Осло"@ru ; skos:altLabel "Kristiania" ; schema:name "Oslo city"@en ;
    :country :Norway ; :populationTotal 709037 ; :founded "1040"^^xsd:gYear ;
    :area "454.03"^^<http://dbpedia.org/datatype/squareKilometre> ;
    :mayor [ schema:name "Marianne Borgen" ; :born "1951-06-24"^^xsd:date ] ;
    schema:address [
        a schema:PostalAddress ; schema:streetAddress "Rådhusplassen 1" ;
        schema:geo [ schema:latitude 59.9 ]
    ] ;
    :elevation [ <http://www.w3.org/1999/02/22-rdf-syntax-ns#value> 23 ] ;
    :near _:shared .
:Norway :near _:shared ; rdfs:label "Norwegen"@de .
_:shared :note "two things lead to it" .
:mayor rdfs:label "head of government"@en .
"""
OSLO = (
    Relation(
        "http://example.org/area",
        "454.03 km2",
        [f"454.03{x}" for x in (" km²", " km2", " square kilometres", " square kilometers", "")],
        label="area",
    ),
    Relation("http://example.org/country", "http://example.org/Norway", "Norway", label="country"),
    Relation("http://example.org/elevation", "23", "23", label="elevation"),
    Relation("http://example.org/founded", "1040", "1040", label="founded"),
    Relation("http://example.org/mayor", "_:0/-1", "Marianne Borgen", label="head of government"),
    Relation("http://example.org/populationTotal", "709037", label="population total"),
    Relation(
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://example.org/CapitalCity",
        ("capital city", "Capital City", "CapitalCity"),
        label="type",
    ),
    Relation(
        "https://schema.org/address / https://schema.org/streetAddress",
        "Rådhusplassen 1",
        label="address / street address",
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("turtle") / "my.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return path


def _written(turtle: Path, format_: str) -> bytes:
    """Write the example in another format; its blank nodes keep the numbers that they get."""
    with RdfDocument.open(turtle, SourceFormat.TURTLE) as document:
        buffer = bytearray(1 << 16)
        filled, _ = document.fill(memoryview(buffer))
    lines = bytes(buffer[:filled]).replace(b"_:-", b"_:n")
    found = rdf.parse(lines, format=rdf.RdfFormat.N_QUADS)
    quads = found if format_ in ("N_QUADS", "TRIG", "JSON_LD") else (each.triple for each in found)
    text: bytes = rdf.serialize(quads, format=getattr(rdf.RdfFormat, format_))
    return text


def test_a_turtle_file_becomes_a_graph(turtle: Path, tmp_path: Path) -> None:
    report = build_graph(tmp_path / "graph", turtle)
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        topic = graph.topic("http://example.org/Oslo")
        assert topic.names == ("Oslo", "Oslo city", "Kristiania")
        assert topic.relations == OSLO
        assert graph.relation_label("http://example.org/mayor") == "head of government"
        assert graph.relation_label(OSLO[-1].type) == "address / street address"
        assert graph.find("norway").id == "http://example.org/Norway"
        (born,) = graph.topic("_:0/-1").relations
        assert born.forms[0] == "24 June 1951"
    assert report.counts["facts of blank nodes, given to what they describe"] == 3
    assert report.counts["facts of blank nodes left out"] == 2
    assert report.counts["facts whose object has no name"] == 3
    assert report.counts["names in other languages"] == 2
    assert report.counts["entities named by their address"] == 3


@pytest.mark.parametrize(
    "format_", ["N_TRIPLES", "N_QUADS", "TURTLE", "TRIG", "RDF_XML", "JSON_LD"]
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_format_gives_the_same_topic(
    turtle: Path, tmp_path: Path, format_: str, compress: type[bytes]
) -> None:
    if compress is not bytes and format_ not in ("N_QUADS", "TURTLE"):
        pytest.skip("compression does not depend on the format")
    path = tmp_path / "same"
    path.write_bytes(compress(_written(turtle, format_)))
    build_graph(tmp_path / "graph", path)
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        topic = graph.topic("http://example.org/Oslo")
        without_blank = [each for each in topic.relations if "mayor" not in each.type]
        assert without_blank == [each for each in OSLO if "mayor" not in each.type]
        assert topic.names == ("Oslo", "Oslo city", "Kristiania")


def test_types_and_other_predicates_of_names(turtle: Path, tmp_path: Path) -> None:
    selection = Selection(
        language="ru",
        types=("http://example.org/CapitalCity",),
        names=NamePredicates(labels=("schema:name", "rdfs:label"), aliases=()),
    )
    build_graph(tmp_path / "graph", turtle, selection=selection)
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        (topic,) = graph.topics()
        assert topic.names == ("Осло",)
        assert graph.manifest["selection"]["labels"] == ["schema:name", "rdfs:label"]


def _towns(count: int) -> Iterator[str]:
    yield "@prefix e: <http://example.org/> . @prefix s: <https://schema.org/> .\n"
    for number in range(count):
        yield (
            f'e:Town_{number} s:name "Town {number}" ; e:near e:Town_{number * 7 % count} ;\n'
            f'    e:mayor [ s:name "Mayor {number}" ] ; e:size {number} .\n'
        )


def test_parts_workers_and_a_stop_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "towns.ttl.gz"
    path.write_bytes(gzip.compress("".join(_towns(400)).encode()))
    build_graph(tmp_path / "whole", path)
    build_graph(tmp_path / "parts", path, part_bytes=20_000, workers=2)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")

    parts = extract_module.file_parts

    def stopped(*arguments: object, **options: object) -> Iterator[object]:
        yield from islice(parts(*arguments, **options), 3)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(extract_module, "file_parts", stopped)
        with pytest.raises(KeyboardInterrupt):
            build_graph(tmp_path / "again", path, part_bytes=20_000)
    kept = {each: each.stat().st_mtime_ns for each in tmp_path.glob(".again.parts/*.parquet")}
    assert len(kept) == 3
    still: dict[Path, int] = {}
    build_graph(
        tmp_path / "again",
        path,
        part_bytes=20_000,
        progress=lambda *_: still.update(
            {each: each.stat().st_mtime_ns for each in kept if each.exists()}
        ),
    )
    assert still == kept
    assert content(tmp_path / "again") == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@prefix e: <http://e/> .\ne:a e:b 3\ne:c e:d 4 .\n", r"my: line 3: not Turtle .*\(A dot"),
        ("<?xml version='1.0'?>\n<rdf:RDF>\n", r"my: .*not RDF/XML"),
        ('{"@context": "https://schema.org/", "@id": "http://e/a"}', r"my: it names a context"),
        ('{"@context": {}, "@id": ', r"my: .*not JSON-LD"),
    ],
)  # fmt: skip
def test_broken_documents_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "my").write_text(text)
    with pytest.raises(DamagedFileError, match=message):
        build_graph(tmp_path / "graph", tmp_path / "my")
    assert not (tmp_path / "graph").exists()


def test_a_document_can_be_used_up_to_where_it_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "my.ttl"
    path.write_text('@prefix e: <http://e/> .\ne:Oslo e:country e:Norway .\ne:a e:b "x\n')
    report = build_graph(tmp_path / "graph", path, keep_damaged=True)
    assert len(report.damaged) == 1
    assert report.graph.topic("http://e/Oslo").relations[0].forms == ("Norway",)


def test_hostile_documents_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rdf:RDF>'
    (tmp_path / "bomb").write_text(f"<?xml version='1.0'?>\n{bomb}")
    with pytest.raises(FormatError, match="XML entities could expand without end"):
        build_graph(tmp_path / "graph", tmp_path / "bomb")
    late = "<!--" + "x" * 70_000 + '--><!DOCTYPE r [<!ENTITY a "a">]><rdf:RDF>'
    (tmp_path / "late").write_text(f"<?xml version='1.0'?>\n{late}")
    with pytest.raises(FormatError, match="XML entities could expand without end"):
        build_graph(tmp_path / "graph", tmp_path / "late")
    prefix = "x" * 100_000
    (tmp_path / "long").write_text(f"@prefix e: <http://e/{prefix}> .\n" + "e:a e:a e:a .\n" * 2000)
    with pytest.raises(FormatError, match="is this the right file"):
        build_graph(tmp_path / "graph", tmp_path / "long")


def test_entities_of_namespaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "my.owl").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [<!ENTITY e "http://example.org/">]>\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="&e;">'
        '<rdf:Description rdf:about="&e;Oslo"><e:country rdf:resource="&e;Norway"/>'
        "</rdf:Description></rdf:RDF>"
    )
    report = build_graph(tmp_path / "graph", tmp_path / "my.owl")
    assert report.graph.topic("http://example.org/Oslo").relations[0].forms == ("Norway",)


def test_wikidata_in_turtle_is_read_as_its_dump_is(tmp_path: Path) -> None:
    (tmp_path / "oslo.ttl").write_text(
        "@prefix wikibase: <http://wikiba.se/ontology#> .\n"
        "@prefix wd: <http://www.wikidata.org/entity/> .\n"
        "@prefix wdt: <http://www.wikidata.org/prop/direct/> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'wd:Q585 rdfs:label "Oslo"@en ; wdt:P17 wd:Q20 .\nwd:Q20 rdfs:label "Norway"@en .\n'
        'wd:P17 rdfs:label "country"@en ; wikibase:propertyType wikibase:WikibaseItem .\n'
    )
    report = build_graph(tmp_path / "graph", tmp_path / "oslo.ttl")
    assert report.graph.topic("Q585").relations == (
        Relation("P17", "Q20", "Norway", label="country"),
    )
    assert report.graph.relation_label("P17") == "country"


def test_without_the_parser_the_extra_is_named(
    turtle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[rdf\]'"):
        build_graph(tmp_path / "graph", turtle)


def test_a_cluster_reads_lines_only(turtle: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="convert it to N-Triples"):
        build_graph(tmp_path / "graph", turtle, engine=BuildEngine.SPARK)


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("<http://a> <http://b> <http://c> .\n", SourceFormat.RDF_LINES),
        ("# made by\n_:a <http://b> <http://c> <http://g> .\n", SourceFormat.RDF_LINES),
        ("\ufeff@prefix e: <http://e/> .\n", SourceFormat.TURTLE),
        ("PREFIX e: <http://e/>\ne:a e:b e:c .\n", SourceFormat.TURTLE),
        ("# a comment\n\n@base <http://e/> .\n", SourceFormat.TURTLE),
        ("<http://a>\n    <http://b> <http://c> ;\n    <http://d> 4 .\n", SourceFormat.TURTLE),
        ("[] <http://a> 4 .\n", SourceFormat.TURTLE),
        ('<?xml version="1.0"?>\n', SourceFormat.RDF_XML),
        ('<rdf:RDF xmlns:rdf="x">', SourceFormat.RDF_XML),
        ('{"@context": {}}', SourceFormat.JSON_LD),
        ('[\n{"@id": "http://a"}]', SourceFormat.JSON_LD),
        ('[\n{"id":"Q1","type":"item"},\n', SourceFormat.WIKIDATA_JSON),
        (
            "<http://www.wikidata.org/entity/Q1> <http://schema.org/name> <http://b> .\n",
            SourceFormat.NTRIPLES,
        ),
        ("<http://a> <http://b> <http://www.wikidata.org/entity/Q1> .\n", SourceFormat.RDF_LINES),
        ("a\tb\tc\n", SourceFormat.TRIPLES),
        ("prefix\tb\tc\n", SourceFormat.TRIPLES),
    ],
)
def test_formats_are_recognised_by_their_content(
    tmp_path: Path, text: str, format_: SourceFormat
) -> None:
    (tmp_path / "any").write_text(text, encoding="utf-8")
    assert recognise("any", beginning_of(tmp_path / "any")) is format_
