"""Topics from a real SPARQL engine on loopback, also when it is slow, busy or broken."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrlm.errors import EndpointError, InputError
from lrlm.knowledge import KnowledgeGraph, Relation
from lrlm.knowledge.endpoint import EndpointShape, SparqlEndpoint
from lrlm.knowledge.sparql import SparqlClient, text_term, written_term

pytest.importorskip("pyoxigraph")

from tests.knowledge.sparql_server import Mishap, SparqlServer, sparql_server

TURTLE = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Oslo a :City ; rdfs:label "Oslo"@en , "Осло"@ru ; skos:altLabel "Kristiania"@en ;
    :country :Norway ; :populationTotal 709037 ; :founded "1040"^^xsd:gYear ;
    :twin :Bergen , :Sofia ; :motto "a \\"b\\"\\n c"@en , "auf Deutsch"@de ;
    :area "454"^^<http://dbpedia.org/datatype/squareKilometre> .
:Norway rdfs:label "Norway"@en , "Norwegen"@de ; skos:altLabel "Kingdom of Norway"@en .
:Bergen rdfs:label "Bergen" . :Bergen_NL rdfs:label "Bergen" .
:twin rdfs:label "twin town"@en .
"""
WIKIDATA = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
wd:Q585 rdfs:label "Oslo"@en , "Oslo"@de ; skos:altLabel "Kristiania"@en ; wdt:P17 wd:Q20 ;
    wdt:P571 "1040-01-01T00:00:00Z"^^xsd:dateTime ; wdt:P227 "4043990-0" ; p:P17 wd:Q9 .
wd:Q20 rdfs:label "Norway"@en .
wd:P17 rdfs:label "country"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P571 rdfs:label "inception"@en ; wikibase:propertyType wikibase:Time .
wd:P227 rdfs:label "GND ID"@en ; wikibase:propertyType wikibase:ExternalId .
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[SparqlServer]:
    with sparql_server(TURTLE) as server:
        yield server


@pytest.fixture
def server(shared: SparqlServer, monkeypatch: pytest.MonkeyPatch) -> SparqlServer:
    for used in (shared.queries, shared.agents, shared.mishaps):
        used.clear()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return shared


def test_a_topic_is_that_of_a_graph_of_the_same_data(server: SparqlServer, tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(TURTLE, encoding="utf-8")
    graph = KnowledgeGraph.from_rdf(tmp_path / "data.ttl")
    endpoint = SparqlEndpoint(server.address, cache=None)
    topic = endpoint.topic("http://example.org/Oslo")
    assert topic == graph.topic("http://example.org/Oslo")
    assert topic.names == ("Oslo", "Kristiania")
    for type_, label in graph.relation_types().items():
        assert endpoint.relation_label(type_) == label
    assert len(server.queries) == 2
    assert server.agents[0].startswith("lrlm")


def test_wikidata_has_its_own_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with sparql_server(WIKIDATA) as server:
        endpoint = SparqlEndpoint(server.address, shape=EndpointShape.WIKIDATA, cache=None)
        topic = endpoint.topic("Q585")
        assert topic == endpoint.topic("Oslo")
        assert topic.names == ("Oslo", "Kristiania")
        assert topic.relations == (
            Relation("P17", "Q20", "Norway", label="country"),
            Relation("P571", "1040", label="inception"),
        )
        assert endpoint.relation_label("P571") == "inception"


def test_topics_by_name(server: SparqlServer) -> None:
    endpoint = SparqlEndpoint(server.address, cache=None)
    assert endpoint.topic("Kingdom of Norway").id == "http://example.org/Norway"
    with pytest.raises(InputError, match=r"more than one .* 'Bergen': http://.*_NL; give"):
        endpoint.topic("Bergen")
    with pytest.raises(InputError, match="has nothing called"):
        endpoint.topic('x" } # \\')
    with pytest.raises(InputError, match=r"knows nothing about http://example.org/X"):
        endpoint.topic("http://example.org/X")
    with pytest.raises(InputError, match="is not an address"):
        endpoint.topic("http://example.org/> } #")


def test_answers_are_kept_on_disk(server: SparqlServer, tmp_path: Path) -> None:
    endpoint = SparqlEndpoint(server.address, cache=tmp_path / "cache")
    topic = endpoint.topic("http://example.org/Oslo")
    assert SparqlEndpoint(server.address, cache=tmp_path / "cache").topic(topic.id) == topic
    assert len(server.queries) == 2
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(b"damaged")
    assert endpoint.topic(topic.id) == topic
    assert len(server.queries) == 4


def test_a_topic_with_too_many_facts_is_refused(server: SparqlServer) -> None:
    with pytest.raises(InputError, match="more than 3 facts about"):
        SparqlEndpoint(server.address, cache=None, most_facts=3).topic("http://example.org/Oslo")


@pytest.mark.parametrize(
    ("mishap", "message"),
    [
        (Mishap(400, b"bad\x1b query\n at line 1"), r"answered 400 Bad Request: bad\? query at"),
        (Mishap(404), "answered 404"),
        (Mishap(200, b'{"head": {}, "results": {"bind'), "not JSON.*is this a SPARQL endpoint"),
        (Mishap(200, b"<html>"), "not JSON.*is this a SPARQL endpoint"),
        (Mishap(200, b'{"results": {"bindings": [{"p": 3}]}}'), "holds no rows"),
        (Mishap(200, b'{"boolean": true}'), "holds no rows"),
        (Mishap(200, b"[" * 100_000), "is this a SPARQL endpoint"),
        (Mishap(200, b"{}", is_cut=True), "the answer broke off"),
        (Mishap(429, headers={"Retry-After": "3600"}), "is busy .429.* asks to wait 3600 s"),
        (Mishap(is_silent=True), r"did not answer within 0\.2 s"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told(server: SparqlServer, mishap: Mishap, message: str) -> None:
    server.mishaps.append(mishap)
    timeout = 0.2 if mishap.is_silent else 10
    endpoint = SparqlEndpoint(server.address, cache=None, timeout=timeout)
    with pytest.raises(EndpointError, match=message) as caught:
        endpoint.topic("http://example.org/Oslo")
    assert server.address in str(caught.value)


def test_a_busy_server_is_asked_again_when_it_says(
    server: SparqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    server.mishaps += [Mishap(429, headers={"Retry-After": "7"}), Mishap(500), Mishap(503)]
    topic = SparqlEndpoint(server.address, cache=None).topic("http://example.org/Oslo")
    assert topic.names[0] == "Oslo"
    assert waited == [7, 2, 4]
    server.mishaps += [Mishap(500, b"out of memory")] * 4
    with pytest.raises(EndpointError, match="answered 500 Internal Server Error: out of memory"):
        SparqlEndpoint(server.address, cache=None).topic("http://example.org/Oslo")


def test_too_large_an_answer_is_refused(server: SparqlServer) -> None:
    server.mishaps.append(Mishap(200, b" " * 5000))
    with pytest.raises(EndpointError, match="more than 1 MiB"):
        SparqlClient(server.address, largest=1000).select("SELECT * {}")


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(EndpointError, match="cannot be reached"):
        SparqlEndpoint("http://127.0.0.1:9/sparql", cache=None).topic("http://example.org/Oslo")


def test_settings_are_checked() -> None:
    for address in ("file:///etc/passwd", "example.org", "http://a b"):
        with pytest.raises(InputError, match="is not the address of an endpoint"):
            SparqlEndpoint(address)
    with pytest.raises(InputError, match="language code"):
        SparqlEndpoint("http://a/", language='en" } #')
    with pytest.raises(InputError, match="time limit"):
        SparqlEndpoint("http://a/", timeout=0)
    with pytest.raises(InputError, match="user agent"):
        SparqlEndpoint("http://a/", user_agent="a\r\nX: y")


def test_terms_are_written_so_that_nothing_breaks_out() -> None:
    assert text_term('a"b\\\n', "en") == '"a\\"b\\\\\\n"@en'
    assert text_term("a", "en } x") == '"a"'
    assert written_term({"type": "uri", "value": "http://a> <b"}) is None
    assert written_term({"type": "triple", "value": ""}) is None
