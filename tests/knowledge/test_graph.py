"""Reading a graph: topics, entities, search, several processes, files that are not right."""

import copy
import multiprocessing
import pickle
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import lrlm
from lrlm.artifacts import rewrite_manifests
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import Entity, KnowledgeGraph, Relation
from lrlm.knowledge import rows as rows_module
from lrlm.knowledge.build import build_graph
from lrlm.knowledge.index import CHECKS, INDEX

FORMS = """
Q1\tAlbert Einstein
Q1\tEinstein
Q2\tBeyoncé Knowles-Carter
Q2\tBeyoncé
Q3\tParis
Q4\tParis
Q5\tParis Hilton
Q6\tUlm
Q7\tEinsteinium
Q8\tA very long title of a scholarly article about something
"""
LANGUAGES = """
Q11\tC
Q12\tC++
Q13\tC#
Q14\tVitamin C
Q15\tC--
Q15\tGo!
Q16\tGO
Q17\tgo
Q18\tRust
Q18\trust
Q19\tRüst
"""
TRIPLES = "Q1\tborn in\tQ6\nQ1\tborn on\t1879-03-14\tliteral\nQ4\tnear\tQ6\nQ7\tnamed after\tQ1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("graph of [names] #*")
    (place / "forms.tsv").write_text(FORMS.lstrip(), encoding="utf-8")
    (place / "triples.tsv").write_text(TRIPLES)
    build_graph(place / "kg", [place / "triples.tsv", place / "forms.tsv"])
    return place / "kg"


@pytest.fixture
def graph(folder: Path) -> KnowledgeGraph:
    return lrlm.KnowledgeGraph.open(folder)


def test_entities_and_topics(graph: KnowledgeGraph) -> None:
    assert graph.entity("Q1") == Entity("Q1", ("Albert Einstein", "Einstein"), facts=2)
    assert graph.entity("Q1").label == "Albert Einstein"
    topic = graph.topic("Q1")
    assert topic.names == ("Albert Einstein", "Einstein")
    assert [(each.type, each.object) for each in topic.relations] == [
        ("born in", "Q6"),
        ("born on", "1879-03-14"),
    ]
    assert topic.relations[1].forms[:2] == ("14 March 1879", "March 14, 1879")
    assert not graph.topic("Q6").relations
    assert "Q1" in graph
    assert "Q99" not in graph
    assert 1 not in graph
    assert len(graph) == 8
    assert graph.relation_types() == {x: x for x in ("born in", "born on", "named after", "near")}
    assert graph.relation_label("unheard of") == "unheard of"


def test_literals_are_read_as_they_were_written(tmp_path: Path) -> None:
    objects = ['say "hi"', "back\\slash", "[1, 2]", "007", "1e5", "null", "naïve 東京 😀"]
    lines = "".join(f"Q1\tcode\t{each}\tliteral\n" for each in objects)
    (tmp_path / "triples.tsv").write_text(lines, encoding="utf-8")
    graph = build_graph(tmp_path / "kg", [tmp_path / "triples.tsv"]).graph
    assert [each.object for each in graph.topic("Q1").relations] == sorted(objects)


@pytest.mark.parametrize("amount", ["1E1000000000", "0E-1000000000", "many"])
def test_a_number_that_no_build_wrote_stays_as_it_is(tmp_path: Path, amount: str) -> None:
    site = "http://www.wikidata.org"
    number = '"5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    (tmp_path / "dump.nt").write_text(f"<{site}/entity/Q1> <{site}/prop/direct/P1> {number} .\n")
    build_graph(tmp_path / "kg", [tmp_path / "dump.nt"])
    with closing(sqlite3.connect(tmp_path / "kg" / INDEX)) as index:
        index.execute("UPDATE stars SET facts = replace(facts, '5', ?)", (amount,))
        index.commit()
    with pytest.raises(
        FormatError, match=r"graph\.sqlite: cannot be read .* build the graph again"
    ):
        KnowledgeGraph.open(tmp_path / "kg").topic("Q1")
    rewrite_manifests(tmp_path / "kg")
    graph = KnowledgeGraph.open(tmp_path / "kg")
    assert graph.topic("Q1").relations == (Relation("P1", amount),)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("albert einstein", "Q1"),
        ("EINSTEIN", "Q1"),
        ("Albert Einstien", "Q1"),
        ("Albert Einstei", "Q1"),
        ("einstien", "Q1"),
        ("Beyonce", "Q2"),
        ("knowles carter", "Q2"),
        ("Pariss", "Q4"),
        ("a very long title of a scholarly", "Q8"),
    ],
)
def test_search_finds_what_is_meant(graph: KnowledgeGraph, asked: str, found: str) -> None:
    assert graph.search(asked)[0].entity.id == found


def test_search_order_and_limit(graph: KnowledgeGraph) -> None:
    matches = graph.search("paris")
    assert [each.entity.id for each in matches] == ["Q4", "Q3", "Q5"]  # Q4 has more facts
    assert [each.likeness for each in matches[:2]] == [1.0, 1.0]
    assert matches[2].name == "Paris Hilton"
    assert len(graph.search("paris", limit=1)) == 1
    assert graph.search("zzzzzz") == []
    assert graph.search("  ") == []
    with pytest.raises(InputError, match="limit"):
        graph.search("paris", limit=0)


def test_what_is_not_there_is_suggested(graph: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match=r"no entity 'Ulmm'; did you mean Q6 \(Ulm\)\?"):
        graph.topic("Ulmm")
    with pytest.raises(InputError, match=r"no entity 'xyzzy'$"):
        graph.entity("xyzzy")
    assert graph.find("Q6") == graph.find("ulm")
    with pytest.raises(InputError, match="did you mean"):
        graph.find("Einstien")


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    place = tmp_path_factory.mktemp("languages")
    people = "".join(f"Q{number}\tJohn Smith\n" for number in range(20, 27))
    (place / "forms.tsv").write_text(LANGUAGES.lstrip() + people, encoding="utf-8")
    (place / "triples.tsv").write_text("Q13\tlike\tQ12\nQ13\tlike\tQ11\nQ17\tlike\tQ11\n")
    return build_graph(place / "kg", [place / "triples.tsv", place / "forms.tsv"]).graph


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("C", "Q11"),
        (" C++ ", "Q12"),
        ("C#", "Q13"),
        ("c#", "Q13"),
        ("c", "Q11"),
        ("vitamin c", "Q14"),
        ("go", "Q17"),
        ("go!", "Q15"),
        ("RUST", "Q18"),
        ("rüst", "Q19"),
    ],
)
def test_the_name_that_is_most_exactly_the_same_is_found(
    languages: KnowledgeGraph, asked: str, found: str
) -> None:
    assert languages.find(asked).id == found


def test_names_that_several_have_need_an_id(
    languages: KnowledgeGraph, graph: KnowledgeGraph
) -> None:
    both = r"has 2 entities called 'paris': Q4 \(Paris\), Q3 \(Paris\); give the id of one$"
    with pytest.raises(InputError, match=both):
        graph.find("paris")
    with pytest.raises(InputError, match=r"2 entities called 'Go': Q17 \(go\), Q16 \(GO\);"):
        languages.find("Go")
    with pytest.raises(InputError, match=r"4 entities called 'C\?': Q13 \(C#\), Q11 \(C\), Q12"):
        languages.find("C?")
    with pytest.raises(InputError, match=r"7 entities .*Q20 .*Q24 \(John Smith\), …; give the id"):
        languages.find("John Smith")


def test_what_is_no_text_is_not_there(graph: KnowledgeGraph) -> None:
    for ask in (graph.find, graph.topic, graph.entity):
        with pytest.raises(InputError, match=r"has no entity 'Q1\\ud800'$"):
            ask("Q1\ud800")
    assert "Q1\ud800" not in graph
    assert graph.search("\ud800") == []
    assert graph.relation_label("\ud800") == "\ud800"


def test_closing_copies_and_threads(graph: KnowledgeGraph) -> None:
    before = graph.topic("Q1")
    graph.close()
    graph.close()
    assert graph.topic("Q1") == before
    assert copy.copy(graph).topic("Q1") == before
    assert pickle.loads(pickle.dumps(graph)).topic("Q1") == before
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(graph.topic, ["Q1"] * 64)) == [before] * 64


def _topic_names(graph: KnowledgeGraph) -> list[str]:
    return [topic.names[0] for topic in graph.topics()]


def test_many_processes_at_once(graph: KnowledgeGraph) -> None:
    expected = _topic_names(graph)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_topic_names, [graph] * 4) == [expected] * 4
    code = f"""
import os
import lrlm
graph = lrlm.KnowledgeGraph.open({str(graph.folder)!r})
before = graph.topic("Q1")
child = os.fork()
assert graph.topic("Q1") == before
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reading_needs_no_heavy_library(folder: Path) -> None:
    code = f"""
import sys, lrlm
lrlm.KnowledgeGraph.open({str(folder)!r}).topic("Q1")
assert not {{"torch", "duckdb", "pyarrow", "numpy", "msgspec"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_folders_that_are_no_graph(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(FormatError, match="lrlm kg build"):
        KnowledgeGraph.open(tmp_path)
    (tmp_path / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    with pytest.raises(FormatError, match=r"graph.sqlite: cannot be read"):
        KnowledgeGraph.open(tmp_path).topic("Q1")
    (tmp_path / "graph.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(FormatError, match=r"graph.sqlite: cannot be read .* build the graph again"):
        KnowledgeGraph.open(tmp_path).topic("Q1")
    assert not (tmp_path / "graph.sqlite-journal").exists()


# An index that is too large to be read whole


@pytest.fixture
def large(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the graph, taken for a large one."""
    monkeypatch.setattr(rows_module, "LARGEST_WHOLE", 0)
    shutil.copytree(folder, tmp_path / "large")
    return tmp_path / "large"


def everything(folder: Path) -> list[object]:
    with KnowledgeGraph.open(folder) as graph:
        entities = [(graph.entity(id_), graph.search(graph.entity(id_).label)) for id_ in graph]
        return [*entities, *graph.topics(), graph.relation_types()]


def test_rows_of_a_large_index_are_as_they_were_written(large: Path, folder: Path) -> None:
    assert everything(large) == everything(folder)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entities SET names = replace(names, 'e', 'a')",
        "UPDATE entities SET titles = titles || 'x'",
        "UPDATE entities SET facts = facts + 1",
        "UPDATE stars SET facts = replace(facts, '1', '2')",
        "UPDATE types SET label = label || 'x' WHERE number = 0",
        "DELETE FROM stars WHERE number = (SELECT min(number) FROM stars)",
        "DELETE FROM entities WHERE number = 1",
        "UPDATE OR REPLACE keys SET entity = (entity + 1) % (SELECT count(*) FROM entities)",
    ],
)
def test_a_changed_row_of_a_large_index_is_told(large: Path, change: str) -> None:
    with closing(sqlite3.connect(large / INDEX)) as index:
        assert index.execute(change).rowcount > 0
        index.commit()
    with pytest.raises(FormatError, match=r"graph\.sqlite: cannot be read \(a row is not as lrlm"):
        everything(large)


def test_an_id_of_a_large_index_is_not_overlooked(large: Path) -> None:
    path = large / INDEX
    whole = path.read_bytes()
    with KnowledgeGraph.open(large) as graph:
        ids = list(graph)
        expected = {id_: graph.topic(id_) for id_ in ids}
        assert "no such id" not in graph
    told = 0
    live = [place for place, byte in enumerate(whole) if byte]
    for place in live[:: len(live) // 200]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with KnowledgeGraph.open(large) as graph:
            for id_ in ids:
                try:
                    assert id_ in graph
                    assert graph.topic(id_) == expected[id_]
                except FormatError:
                    told += 1
    assert told > 100


def test_checks_of_rows_are_needed_and_checked(large: Path) -> None:
    checks = (large / CHECKS).read_bytes()
    for content in (checks[:-1], checks + b"1", b"", bytes(len(checks))):
        (large / CHECKS).write_bytes(content)
        with pytest.raises(FormatError):
            everything(large)
    (large / CHECKS).unlink()
    with pytest.raises(FormatError, match=r"graph\.checks: cannot be read"):
        everything(large)
