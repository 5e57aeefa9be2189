"""What a relation type is called goes from the graph to everything that people see."""

import json
from pathlib import Path

import pytest

import lrlm
from lrlm import KnowledgeGraph, Relation, Topic
from lrlm.annotation.exports import annotation_to_conll
from lrlm.annotation.html import annotation_to_html, html_fragment
from lrlm.annotation.terminal import annotation_view
from lrlm.batching.encoding import type_name
from lrlm.batching.preface import PrefaceConfig
from lrlm.cli.console import as_plain_text
from lrlm.corpora import linkable_relations
from lrlm.corpora.corpus import TYPES
from lrlm.errors import FormatError, InputError
from lrlm.generation.views import generated_to_html, generated_view

TURTLE = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:firstAscent rdfs:label "first climbed by"@en, "Erstbesteigung"@de .
:K2 rdfs:label "K2" ; :firstAscent :Compagnoni ; :inRange :Karakoram ; :height 8611 .
:Compagnoni rdfs:label "Achille Compagnoni" .
:Karakoram rdfs:label "Karakoram" ; :inCountry :Pakistan .
:Pakistan rdfs:label "Pakistan" .
"""
K2 = "http://example.org/K2"
ASCENT = "http://example.org/firstAscent"
TEXT = "K2 was first climbed by Achille Compagnoni. It is in the Karakoram."

CAPITAL = Relation("P36", "Q585", "Oslo", label="capital")
NORWAY = Topic("Q20", "Norway", [CAPITAL])


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    folder = tmp_path_factory.mktemp("graph")
    (folder / "my.ttl").write_text(TURTLE)
    return KnowledgeGraph.from_rdf(folder / "my.ttl", out=folder / "kg")


def article(id_: str = "a") -> dict[str, str]:
    return {"id": id_, "topic": K2, "title": "K2", "text": TEXT}


def test_relations_of_rdf_carry_the_label_of_their_predicate(graph: KnowledgeGraph) -> None:
    labels = {fact.type: fact.label for fact in graph.topic(K2).relations}
    assert labels == {
        ASCENT: "first climbed by",
        "http://example.org/inRange": "in range",
        "http://example.org/height": "height",
    }


def test_paths_are_called_by_the_names_of_their_steps(graph: KnowledgeGraph) -> None:
    labels = [fact.label for fact in graph.topic(K2, hops=2).relations]
    assert "in range / in country" in labels
    back = graph.topic("http://example.org/Karakoram", inverse=True)
    assert [fact.label for fact in back.relations] == ["in country", "inverse of in range"]
    for fact in back.relations:
        assert fact.label == graph.relation_label(fact.type)


def test_a_corpus_keeps_the_names_of_its_types(graph: KnowledgeGraph, tmp_path: Path) -> None:
    corpus = lrlm.build_corpus(tmp_path / "corpus", graph=graph, train=[article()])
    assert corpus.topic(K2) == Topic(K2, "K2", sorted(graph.topic(K2).relations, key=_key))
    labels = json.loads((corpus.folder / TYPES).read_text())
    assert labels[ASCENT] == "first climbed by"
    assert "http://example.org/inCountry" not in labels  # no document has it
    assert TYPES in [each["name"] for each in corpus.manifest["files"]]


def test_names_of_types_count_for_what_a_corpus_is(graph: KnowledgeGraph, tmp_path: Path) -> None:
    corpus = lrlm.build_corpus(tmp_path / "corpus", graph=graph, train=[article()])
    before = corpus.fingerprint
    (corpus.folder / TYPES).write_text("{}")
    assert lrlm.Corpus.open(corpus.folder).fingerprint != before
    with pytest.raises(FormatError, match=r"types\.json.*build the corpus again"):
        list(lrlm.Corpus.open(corpus.folder).documents("train"))


def test_a_graph_whose_types_are_their_own_names_changes_nothing(tmp_path: Path) -> None:
    plain = KnowledgeGraph.from_triples([(K2, "range", "Karakoram")])
    corpus = lrlm.build_corpus(tmp_path / "corpus", graph=plain, train=[article()])
    assert not (corpus.folder / TYPES).exists()
    assert corpus.type_labels == {}


def test_an_annotation_shows_names_and_keeps_keys() -> None:
    annotation = lrlm.load().annotate("The capital of Norway is Oslo.", NORWAY)
    (span,) = [span for span in annotation.spans if span.text == "Oslo"]
    assert span.relation.fact == ("P36", "Q585", "Oslo", "capital")
    shown = (
        as_plain_text(annotation_view(annotation, threshold=0)),
        annotation_to_html(annotation, threshold=0),
        html_fragment(annotation, threshold=0),
    )
    for each in shown:
        assert "capital → Q585" in each
        assert "P36" not in each
    (step,) = json.loads(annotation.to_json())["spans"][-1]["explanations"][0]["steps"]
    assert (step["type"], step["label"]) == ("P36", "capital")
    assert "B-P36\tQ585" in annotation_to_conll(annotation, threshold=0)


def test_a_generated_text_shows_names_and_keeps_keys() -> None:
    (text,) = lrlm.load().generate(NORWAY, samples=1, must_use=["capital"], max_length=30, seed=1)
    piece = next(piece for piece in text.pieces if piece.object == "Q585")
    assert (piece.type, piece.label) == ("P36", "capital")
    assert "[capital]" in as_plain_text(generated_view([text]))
    assert "P36" not in generated_to_html([text], title="Norway", about="")
    assert {"type": "P36", "label": "capital"}.items() <= max(
        text.to_dict()["pieces"], key=len
    ).items()


def test_a_text_that_is_read_before_has_the_names_of_types() -> None:
    assert PrefaceConfig().written("Norway", linkable_relations(NORWAY)) == (
        "Norway\ncapital: Oslo\n\n"
    )


def test_vectors_from_names_are_of_the_label() -> None:
    (_, capital) = linkable_relations(NORWAY)
    assert type_name(capital.label) == ("capital",)


def test_an_article_without_a_title_has_the_name_of_its_topic(
    graph: KnowledgeGraph, tmp_path: Path
) -> None:
    bare = {"id": "a", "topic": K2, "text": TEXT}
    corpus = lrlm.build_corpus(tmp_path / "corpus", graph=graph, train=[bare])
    (document,) = corpus.documents("train")
    assert document.title == "K2"
    assert document.relations[0].texts == ("K2",)  # and not the address


# The value itself


def test_a_type_without_a_label_is_its_own_name() -> None:
    assert Relation("capital", "Oslo").label == "capital"
    assert Relation("capital", "Oslo", label="capital") == Relation("capital", "Oslo")
    assert Relation(" ca\u00adpital", "Oslo").label == "capital"
    assert repr(Relation("capital", "Oslo", label="capital")) == repr(Relation("capital", "Oslo"))


def test_a_label_is_a_name() -> None:
    assert Relation("P36", "Oslo", label=" the\u00a0capital\n").label == "the capital"
    with pytest.raises(InputError, match=r"Relation\.label"):
        Relation("P36", "Oslo", label=" ")


def test_labels_go_through_json() -> None:
    assert Topic.from_json(NORWAY.to_dict()) == NORWAY
    assert NORWAY.to_dict()["relations"][0]["label"] == "capital"
    assert "label" not in Topic("a", relations=[Relation("b", "c")]).to_dict()["relations"][0]
    given = {"type": "P36", "object": "Q585", "label": None}
    assert Topic.from_json({"id": "Q20", "relations": [given]}).relations[0].label == "P36"
    with pytest.raises(FormatError, match="'label' must be a text, not 7"):
        Topic.from_json({"id": "Q20", "relations": [{**given, "label": 7}]})


def test_facts_are_changed_by_the_name_of_their_type() -> None:
    assert NORWAY.remove("capital").relations == ()
    (moved,) = NORWAY.replace("capital", "Oslo", "Q26793", "Bergen").relations
    assert moved == Relation("P36", "Q26793", "Bergen", label="capital")
    with pytest.raises(InputError, match="did you mean 'capital'"):
        NORWAY.remove("capitol")


def test_a_key_counts_before_a_name() -> None:
    topic = Topic("a", relations=[Relation("b", "1", label="c"), Relation("c", "2", label="d")])
    assert [fact.object for fact in topic.remove("c").relations] == ["1"]


def _key(fact: Relation) -> tuple[str, str]:
    return fact.type, fact.object
