"""Topics whose facts are followed further, by brute force and by hand."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrlm.cli import main
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph, Topic

BOOKS = [
    ("Hunger", "author", "Hamsun"),
    ("Hunger", "published", "1890"),
    ("Hamsun", "place of birth", "Lom"),
    ("Hamsun", "notable work", "Hunger"),
    ("Pan", "author", "Hamsun"),
    ("Lom", "country", "Norway"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    out = tmp_path_factory.mktemp("books") / "kg"
    return KnowledgeGraph.from_triples(BOOKS, out=out)


def paths(topic: Topic) -> list[tuple[str, str]]:
    return [(fact.type, fact.object) for fact in topic.relations]


def test_one_hop_is_the_topic_itself(graph: KnowledgeGraph) -> None:
    assert graph.topic("Hunger", hops=1) == graph.topic("Hunger")


def test_paths_are_types_and_the_nearest_come_first(graph: KnowledgeGraph) -> None:
    assert paths(graph.topic("Hunger", hops=3)) == [
        ("author", "Hamsun"),
        ("published", "1890"),
        ("author / place of birth", "Lom"),
        ("author / place of birth / country", "Norway"),
    ]
    assert paths(graph.topic("Hunger", hops=3, limit=3))[-1] == ("author / place of birth", "Lom")


def test_inverse_facts(graph: KnowledgeGraph) -> None:
    assert paths(graph.topic("Hamsun", inverse=True)) == [
        ("notable work", "Hunger"),
        ("place of birth", "Lom"),
        ("inverse of author", "Hunger"),
        ("inverse of author", "Pan"),
    ]
    further = paths(graph.topic("Pan", hops=2, inverse=True))
    assert ("author / inverse of author", "Hunger") in further
    assert all(object_ != "Pan" for _, object_ in further)


def test_labels_of_paths(graph: KnowledgeGraph) -> None:
    assert graph.relation_label("author / inverse of place of birth") == (
        "author / inverse of place of birth"
    )
    assert graph.relation_label("unknown") == "unknown"


@pytest.mark.parametrize("wrong", [{"hops": 0}, {"hops": 9}, {"hops": 2, "limit": 0}])
def test_wrong_numbers_are_refused(graph: KnowledgeGraph, wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be"):
        graph.topic("Hunger", hops=wrong["hops"], limit=wrong.get("limit"))


def test_the_command_shows_paths(
    graph: KnowledgeGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kg", "show", str(graph.folder), "hunger", "--hops", "2"]) == 0
    assert "author / place of birth" in capsys.readouterr().out
    command = ["kg", "show", str(graph.folder), "Lom", "--inverse", "--limit", "2", "--json"]
    assert main(command) == 0
    shown = json.loads(capsys.readouterr().out)
    assert paths(Topic.from_json(shown)) == [
        ("country", "Norway"),
        ("inverse of place of birth", "Hamsun"),
    ]


def test_a_damaged_table_of_facts_is_refused(tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_triples(BOOKS, out=tmp_path / "kg")
    facts = tmp_path / "kg" / "facts.parquet"
    facts.write_bytes(facts.read_bytes()[:-9])
    with pytest.raises(FormatError, match=r"facts\.parquet"):
        graph.topic("Hamsun", inverse=True)


LETTERS = st.sampled_from("abcde")


@settings(max_examples=8, deadline=None)
@given(st.sets(st.tuples(LETTERS, st.sampled_from(["p", "q"]), LETTERS), min_size=1, max_size=12))
def test_two_hops_are_what_enumeration_finds(triples: set[tuple[str, str, str]]) -> None:
    graph = KnowledgeGraph.from_triples(sorted(triples))
    start = min(subject for subject, _, _ in triples)
    one = {(p, o) for s, p, o in triples if s == start and o != start}
    two = {(f"{p} / {q}", o) for p, middle in one for s, q, o in triples if s == middle}
    expected = one | {(path, o) for path, o in two if o != start}
    assert set(paths(graph.topic(start, hops=2))) == expected
