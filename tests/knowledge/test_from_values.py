"""Graphs of what is there in Python have the same interface as those of files."""

import gc
from datetime import date
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pytest

import lrlm
from lrlm import KnowledgeGraph
from lrlm.errors import ExistsError, InputError, TooMuchUnknownError

TRIPLES = [
    ("Everest", "country", "Nepal"),
    ("Everest", "height", 8849),
    ("Everest", "first ascent", date(1953, 5, 29)),
    ("K2", "country", "Pakistan"),
]


class Frame:
    """A data frame that offers nothing but Arrow's protocol, as those of other libraries do."""

    def __init__(self, **columns: list[Any]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_triples() -> None:
    graph = KnowledgeGraph.from_triples(TRIPLES, names={"Everest": ["Mount Everest", "Everest"]})
    topic = graph.topic("Everest")
    assert topic.names == ("Mount Everest", "Everest")
    assert {fact.type: fact.forms[0] for fact in topic.relations} == {
        "country": "Nepal",
        "first ascent": "29 May 1953",
        "height": "8,849",
    }
    assert graph.find("mount everest").id == "Everest"
    assert len(graph) == 4


def test_a_graph_without_a_folder_goes_with_its_last_user() -> None:
    graph = KnowledgeGraph.from_triples(TRIPLES)
    folder = graph.folder
    assert folder.is_dir()
    graph.close()
    del graph
    gc.collect()
    assert not folder.parent.exists()


def test_a_graph_may_be_kept(tmp_path: Path) -> None:
    KnowledgeGraph.from_triples(TRIPLES, out=tmp_path / "kg").close()
    assert "K2" in KnowledgeGraph.open(tmp_path / "kg")
    with pytest.raises(ExistsError):
        KnowledgeGraph.from_triples(TRIPLES, out=tmp_path / "kg")
    KnowledgeGraph.from_triples(TRIPLES, out=str(tmp_path / "kg"), overwrite=True)


def test_a_corpus_is_built_with_it(tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_triples(TRIPLES)
    articles = [{"id": "K2", "text": "K2 is in Pakistan."}]
    corpus = lrlm.build_corpus(tmp_path / "corpus", graph=graph, train=articles)
    assert corpus.report.facts["used"] == 1


def test_data_frames() -> None:
    subjects, types, objects = zip(*(map(str, triple) for triple in TRIPLES), strict=True)
    columns = {"subject": subjects, "relation": types, "object": objects}
    frame = Frame(**{name: list(column) for name, column in columns.items()})
    long = list(KnowledgeGraph.from_dataframe(frame).topics())
    wide = Frame(
        name=["Everest", "K2"],
        country=["Nepal", "Pakistan"],
        height=[8849, None],
        **{"first ascent": [date(1953, 5, 29), None]},
    )
    assert list(KnowledgeGraph.from_dataframe(wide).topics()) == long
    assert list(KnowledgeGraph.from_triples(TRIPLES).topics()) == long
    renamed = Frame(peak=["K2"], country=["Pakistan"])
    (k2,) = KnowledgeGraph.from_dataframe(renamed, wide=True, names={"K2": "Chogori"}).topics()
    assert k2.names == ("Chogori",)


def test_networks() -> None:
    network = nx.MultiDiGraph()
    network.add_node("Q1", name="Everest", height=8849, climbed=date(1953, 5, 29), dry=True)
    network.add_node("Q2", label="Nepal", aliases=["Federal Republic of Nepal"])
    network.add_edge("Q1", "Q2", relation="country")
    network.add_edge("Q2", "Q1", key="highest point")
    graph = KnowledgeGraph.from_networkx(network)
    everest = graph.topic("Q1")
    assert everest.names == ("Everest",)
    assert [fact.type for fact in everest.relations] == ["climbed", "country", "height"]
    assert graph.topic("Q2").relations[0].type == "highest point"
    assert graph.topic("Q2").names == ("Nepal", "Federal Republic of Nepal")


def test_networks_that_say_too_little() -> None:
    with pytest.raises(InputError, match="not directed"):
        KnowledgeGraph.from_networkx(nx.Graph([("a", "b", {"relation": "x"})]))
    with pytest.raises(InputError, match="from 'a' to 'b' does not say which relation"):
        KnowledgeGraph.from_networkx(nx.DiGraph([("a", "b")]))
    with pytest.raises(InputError, match="expected a graph of networkx, not a list"):
        KnowledgeGraph.from_networkx([("a", "b")])


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        ("abc", "triple 0 must be"),
        (("a", "b"), "triple 0 must be"),
        (("a", "b", "c", "number"), "'entity' or 'literal'"),
        (("a", "b", True), "text, number or date"),
        (("a", "b", None), "text, number or date"),
        (("", "b", "c"), "the subject must be a text"),
        ((1, "b", "c"), "the subject must be a text"),
        (("a", "b\x07", "c"), "control character"),
        (("a", "b", float("nan")), "not a number"),
    ],
)
def test_wrong_triples_are_named(triple: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        KnowledgeGraph.from_triples([triple])


def test_what_is_empty_or_no_frame() -> None:
    with pytest.raises(InputError, match="no triples"):
        KnowledgeGraph.from_triples([])
    with pytest.raises(InputError, match="a list is not a data frame"):
        KnowledgeGraph.from_dataframe([1])
    with pytest.raises(TooMuchUnknownError, match="no facts"):
        KnowledgeGraph.from_dataframe(Frame(entity=["a"], form=["b"]))
