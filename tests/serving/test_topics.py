"""Topics are found by name in graphs and corpora, and read by their ids."""

from pathlib import Path

import pytest

from lrlm.corpora import build_corpus
from lrlm.knowledge.build import build_graph
from lrlm.knowledge.index import likeness
from lrlm.serving.topics import (
    BrokenCollectionError,
    GraphTopics,
    NamedTopics,
    TopicFinder,
    UnknownTopicError,
    corpus_topics,
    miniworld,
)
from tests.corpora.small_world import write


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "names.tsv").write_text("Q20\tNorway\nQ585\tOslo\n", encoding="utf-8")
    (folder / "facts.tsv").write_text("Q20\tcapital\tQ585\n", encoding="utf-8")
    build_graph(folder / "kg", [folder / "facts.tsv", folder / "names.tsv"])
    return folder / "kg"


def test_a_graph(graph: Path) -> None:
    topics = GraphTopics(graph)
    (found,) = topics.search("norwey", 5)
    assert (found.name, found.collection, found.facts) == ("Norway", "kg", 1)
    topic = topics.topic(found.id)
    assert topic is not None
    assert topic.relations[0].forms == ("Oslo",)
    assert topics.topic("nobody") is None


def test_an_entity_by_its_id(graph: Path) -> None:
    assert [each.name for each in GraphTopics(graph).search("Q585", 5)] == ["Oslo"]
    assert [each.name for each in TopicFinder([GraphTopics(graph)]).search("Q20", 5)] == ["Norway"]


def test_few_of_many_names_are_compared_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [(f"Q{number}", f"Sand castle {number}", None) for number in range(100_000)]
    names += [("Q-1", "Sand", None), ("Q-2", "Sandy", None)]
    compared: list[str] = []

    def counted(asked: str, name: str) -> float:
        compared.append(name)
        return likeness(asked, name)

    monkeypatch.setattr("lrlm.serving.topics.likeness", counted)
    topics = NamedTopics("many", lambda: names, lambda _: None)
    assert [each.id for each in topics.search("sand", 2)] == ["Q-1", "Q-2"]
    assert topics.search("castle", 50)
    assert len(compared) <= 800


def test_a_corpus(tmp_path: Path) -> None:
    inputs = write(tmp_path / "inputs")
    corpus = build_corpus(
        tmp_path / "rivers",
        triples=inputs.triples,
        forms=inputs.forms,
        train=inputs.articles["train"],
        test=inputs.articles["test"],
    )
    topics = corpus_topics(corpus)
    (found,) = topics.search("rhine", 5)
    assert (found.id, found.name, found.collection) == ("Rhine", "Rhine (river)", "rivers")
    topic = topics.topic("Rhine")
    assert topic is not None
    assert "mouth" in {relation.type for relation in topic.relations}
    assert topics.topic("nobody") is None


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("norway", "Norway"),
        ("Kingdom of Norw", "Norway"),
        ("NORWEY", "Norway"),
        ("curie", "Marie_Curie"),
    ],
)
def test_near_names_are_found(asked: str, first: str) -> None:
    assert first in [each.id for each in miniworld().search(asked, 5)]


def test_the_first_collection_that_has_a_topic_gives_it(graph: Path) -> None:
    finder = TopicFinder([GraphTopics(graph), miniworld()])
    assert {each.collection for each in finder.search("Norway", 10)} == {"kg", "miniworld"}
    assert finder.described("Norway")["collection"] == "miniworld"
    with pytest.raises(UnknownTopicError, match="there is no topic 'Norwegia'; did you mean"):
        finder.topic("Norwegia")


def test_a_broken_graph_is_not_the_fault_of_who_asks(graph: Path, tmp_path: Path) -> None:
    copy = tmp_path / "broken"
    copy.mkdir()
    for file in graph.iterdir():
        content = file.read_bytes()
        (copy / file.name).write_bytes(content[:-9] if file.suffix == ".sqlite" else content)
    finder = TopicFinder([GraphTopics(copy)])
    with pytest.raises(BrokenCollectionError, match="topics of 'broken' cannot be read here"):
        finder.search("Norway", 5)


def test_nothing_is_found_for_signs_alone() -> None:
    assert NamedTopics("none", lambda: [("a", "A", None)], lambda _: None).search("  ", 3) == []
