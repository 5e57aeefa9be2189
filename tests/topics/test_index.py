"""The index of a collection: which topics the names in a text speak for, and where it is kept."""

import shutil
from pathlib import Path

import pytest

from lrlm.corpora import LinkOptions, NameRule
from lrlm.knowledge import KnowledgeGraph, Relation, Topic
from lrlm.topics import index as index_module
from lrlm.topics.index import FOLDER, TopicIndex

NORWAY = Topic(
    "Q20",
    ["Norway", "Kingdom of Norway"],
    [Relation("capital", "Q585", ["Oslo", "Kristiania"]), Relation("borders", "Q34", "Sweden")],
)
SWEDEN = Topic(
    "Q34",
    ["Sweden"],
    [Relation("capital", "Q1754", "Stockholm"), Relation("borders", "Q20", "Norway")],
)
JETT = Topic("Joan Jett", relations=[Relation("genre", "rock")])


@pytest.fixture
def graph(tmp_path: Path) -> KnowledgeGraph:
    triples = [
        (topic.id, fact.type, fact.object) for topic in (NORWAY, SWEDEN) for fact in topic.relations
    ]
    names = {"Q20": NORWAY.names, "Q34": SWEDEN.names, "Q585": ["Oslo"], "Q1754": ["Stockholm"]}
    return KnowledgeGraph.from_triples(triples, names=names, out=tmp_path / "kg")


def ids(index: TopicIndex, text: str, **options: int) -> list[str]:
    return [candidate.id for candidate in index.candidates(text, **options)]


def test_topics_are_found_by_their_names_and_by_those_of_their_objects() -> None:
    index = TopicIndex.of([NORWAY, SWEDEN, JETT])
    assert len(index) == 3
    assert ids(index, "They went to Kristiania.") == ["Q20"]
    assert ids(index, "Stockholm") == ["Q34"]
    assert sorted(ids(index, "Norway")) == ["Q20", "Q34"]  # itself, and what borders it
    assert ids(index, "They went home.") == []
    assert ids(index, "The Kingdom of Norway", most=1) == ["Q20"]


def test_the_title_is_told_with_its_place() -> None:
    index = TopicIndex.of([NORWAY, SWEDEN])
    found = {each.id: each.title for each in index.candidates("In Oslo, Norway, and in Stockholm.")}
    assert found == {"Q20": 9, "Q34": None}


def test_more_words_may_stand_within_a_name() -> None:
    index = TopicIndex.of([NORWAY, JETT])
    (found,) = index.candidates("Joan Marie Jett is a singer.")
    assert (found.id, found.title) == ("Joan Jett", 0)
    (found,) = index.candidates("Joan was so far away that nobody had ever seen Jett.")
    assert (found.id, found.title) == ("Joan Jett", None)


def test_a_telling_word_of_a_name_is_enough_and_a_frequent_one_is_not() -> None:
    people = [
        Topic(f"{given} {family}", relations=[Relation("genre", "rock")])
        for given in ("Bill", "Joan")
        for family in ("Sharman", *(f"Jones{number}" for number in range(50)))
    ]
    sharmans = ["Bill Sharman", "Joan Sharman"]
    index = TopicIndex.of(people)
    assert sorted(ids(index, "William Walton Sharman was a player.")) == sharmans
    assert ids(index, "Bill is a name.") == []
    assert ids(index, "It was much later, and told in very many words," * 5 + "Sharman") == []


def test_accents_and_full_stops_of_names_do_not_matter() -> None:
    index = TopicIndex.of([Topic("Malmö F.F.", relations=[Relation("sport", "football")])])
    assert ids(index, "Malmo FF") == ["Malmö F.F."]


def test_names_follow_the_rules_of_linking() -> None:
    assert ids(TopicIndex.of([NORWAY]), "an Oslo-based firm, OSLO") == []
    rules = LinkOptions(name_rules=frozenset([NameRule.COMPOUNDS]))
    index = TopicIndex.of([NORWAY], rules)
    (span,) = index.named("an Oslo-based firm")
    assert (span.start, span.end) == (3, 7)
    variants = LinkOptions().changed(letter_case="variants")
    assert ids(TopicIndex.of([NORWAY], variants), "OSLO") == ["Q20"]
    assert ids(TopicIndex.of([NORWAY]), "Norwayan") == []


def test_a_rare_name_tells_more_than_a_frequent_one() -> None:
    towns = [
        Topic(f"town {n}").add(Relation("country", "Norway")).add(Relation("mayor", f"Mayor{n}"))
        for n in range(20)
    ]
    best, *_ = ids(TopicIndex.of(towns), "Mayor7 of Norway")
    assert best == "town 7"


def test_the_index_of_a_graph_is_kept_in_its_folder(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0.0)
    made = TopicIndex.of(graph)
    (kept,) = (graph.folder / FOLDER).iterdir()
    monkeypatch.setattr(KnowledgeGraph, "topics", None)  # reading them again would fail
    opened = TopicIndex.of(KnowledgeGraph.open(graph.folder))
    text = "Oslo in Norway"
    found = made.candidates(text)
    assert opened.candidates(text) == found
    assert [opened.id(each) for each in range(4)] == [made.id(each) for each in range(4)]
    monkeypatch.undo()
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0.0)
    (kept / "facts.npy").unlink()
    (kept / "facts.npy").write_bytes(b"damaged")
    assert TopicIndex.of(graph).candidates(text) == found
    TopicIndex.of(graph, LinkOptions().changed(letter_case="variants"))
    assert len(list((graph.folder / FOLDER).iterdir())) == 2


def test_a_small_index_is_not_kept(graph: KnowledgeGraph) -> None:
    TopicIndex.of(graph)
    assert not (graph.folder / FOLDER).exists()


def test_an_index_that_cannot_be_kept_is_used_all_the_same(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0.0)
    (graph.folder / FOLDER).write_text("a file is in the way")
    assert ids(TopicIndex.of(graph), "Oslo") == ["Q20"]


def test_a_graph_with_an_index_is_whole(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lrlm.artifacts import verify

    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 0.0)
    TopicIndex.of(graph)
    shutil.copytree(graph.folder, tmp_path / "copy")
    assert verify(tmp_path / "copy").damaged == ()
    assert ids(TopicIndex.of(KnowledgeGraph.open(tmp_path / "copy")), "Oslo") == ["Q20"]
