"""Whole builds from generated dumps: what they hold, and that nothing else changes it."""

import bz2
import errno
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from lrlm.errors import (
    DamagedFileError,
    DiskFullError,
    FormatError,
    InputError,
    TooManyBadLinesError,
    TooMuchUnknownError,
)
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge import index as index_module
from lrlm.knowledge import join as join_module
from lrlm.knowledge.build import BuildEngine, Selection, build_graph
from tests.generators.wikidata import CLASSES, UNITS, World
from tests.knowledge.worlds import TangledWorld, content, expected_topics

WORLD = World(220, languages=("en", "de", "fr"))


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return WORLD.write_json(tmp_path_factory.mktemp("dump") / "world.json")


@pytest.fixture(scope="module")
def built(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "graph"
    build_graph(out, [dump])
    return out


def test_the_graph_holds_the_world(built: Path) -> None:
    expected = expected_topics(WORLD)
    with KnowledgeGraph.open(built) as graph:
        assert list(graph) == sorted(expected)
        assert len(graph) == len(expected)
        for id_, topic in expected.items():
            assert graph.topic(id_) == topic
        assert [topic.id for topic in graph.topics()] == sorted(
            topic.id for topic in expected.values() if topic.relations
        )
        assert graph.relation_label("P31") == "instance of"


def test_old_ids_lead_to_the_last_one_and_never_in_circles(tmp_path: Path) -> None:
    world = TangledWorld()
    build_graph(tmp_path / "graph", [world.write_json(tmp_path / "world.json")])
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        expected = expected_topics(world)
        assert [graph.topic(id_) for id_ in expected] == [*expected.values()]
        assert graph.topic("Q1").relations[0].object == "7 metre"
        assert graph.manifest["counts"]["redirects"] == 18  # without three that never end


def test_ntriples_hold_the_same_but_precisions_and_units(built: Path, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", [WORLD.write_ntriples(tmp_path / "world.nt.gz")])
    lossy = ("P569", "P571", "P2046")
    with KnowledgeGraph.open(built) as whole, KnowledgeGraph.open(tmp_path / "graph") as graph:
        assert list(graph) == list(whole)
        assert graph.relation_types() == whole.relation_types()
        for id_ in whole:
            ours, theirs = graph.topic(id_), whole.topic(id_)
            assert ours.names == theirs.names
            assert [each for each in ours.relations if each.type not in lossy] == [
                each for each in theirs.relations if each.type not in lossy
            ]
            assert {each.forms[-1] for each in ours.relations if each.type == "P571"} == {
                each.forms[-1] for each in theirs.relations if each.type == "P571"
            }


@pytest.mark.parametrize("suffix", [".json.gz", ".json.bz2"])
@pytest.mark.parametrize("fast", [True, False])
def test_compression_changes_nothing(
    built: Path, tmp_path: Path, suffix: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fast and not all(find_spec(name) for name in ("isal", "rapidgzip")):
        pytest.skip("the extra 'wikidata' is not installed")
    if not fast:
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "rapidgzip", None)
    path = WORLD.write_json(tmp_path / f"world{suffix}")
    build_graph(tmp_path / "graph", [path], part_bytes=100_000)
    assert content(tmp_path / "graph") == content(built)


def test_workers_and_parts_change_nothing(built: Path, dump: Path, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", [dump], workers=2, part_bytes=50_000)
    assert content(tmp_path / "graph") == content(built)
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_a_killed_build_goes_on_and_gives_the_same(built: Path, dump: Path, tmp_path: Path) -> None:
    code = f"""
import sys, time
from importlib.util import find_spec
from pathlib import Path
from lrlm.knowledge.build import build_graph

def slowly(doing, done, total):
    time.sleep(0.05)

out, dump = Path({str(tmp_path / "graph")!r}), Path({str(dump)!r})
build_graph(out, [dump], part_bytes=50_000, progress=slowly)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    staging = tmp_path / ".graph.parts"
    deadline = time.monotonic() + 60
    while len(list(staging.glob("*.parquet"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    finished = {path: path.stat().st_mtime_ns for path in staging.glob("*.parquet")}
    assert len(finished) >= 5
    assert not (tmp_path / "graph").exists()
    (staging / "000-000002.parquet").write_bytes(b"half a part")  # as after a loss of power

    still: dict[Path, int] = {}

    def look(*_: object) -> None:
        still.update({path: path.stat().st_mtime_ns for path in finished if path.exists()})

    build_graph(tmp_path / "graph", [dump], part_bytes=50_000, progress=look)
    assert content(tmp_path / "graph") == content(built)
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    kept = [path for path, when in still.items() if when == finished[path]]
    assert len(kept) >= 2


def test_parts_of_another_build_are_not_used(built: Path, dump: Path, tmp_path: Path) -> None:
    staging = tmp_path / ".graph.parts"
    staging.mkdir()
    (staging / "plan.json").write_text("{}")
    (staging / "000-000000.parquet").write_bytes(b"of something else")
    build_graph(tmp_path / "graph", [dump])
    assert content(tmp_path / "graph") == content(built)


def _full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _full_database(*_: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize(
    ("module", "function", "fails"),
    [
        (join_module, "write_tables", _full_disk),
        (index_module, "_collect_keys", _full_database),
    ],
)
def test_a_full_disk_leaves_the_finished_parts(
    dump: Path,
    built: Path,
    tmp_path: Path,
    module: ModuleType,
    function: str,
    fails: Callable[..., None],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, function, fails)
        with pytest.raises(DiskFullError, match=r"no room left to write \S+/graph;"):
            build_graph(tmp_path / "graph", [dump], part_bytes=50_000)
    assert [path.name for path in tmp_path.iterdir()] == [".graph.parts"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.parquet")}
    assert before
    still: dict[Path, int] = {}

    def look(*_: object) -> None:
        still.update({path: path.stat().st_mtime_ns for path in before if path.exists()})

    build_graph(tmp_path / "graph", [dump], part_bytes=50_000, progress=look)
    assert still == before
    assert content(tmp_path / "graph") == content(built)


def test_a_full_disk_is_told_while_tables_are_written_beside(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_busy = threading.Event()

    def write_for_long(database: join_module.Database, *_: object) -> int:
        is_busy.set()
        query = "SELECT sum(sqrt(a.range * b.range)) FROM range(200000) AS a, range(200000) AS b"
        database.execute(query).fetchall()
        raise AssertionError("nobody stopped it")

    def fail(*_: object) -> None:
        assert is_busy.wait(60)
        time.sleep(0.2)
        _full_database()

    monkeypatch.setattr(join_module, "_write", write_for_long)
    monkeypatch.setattr(index_module, "_collect_keys", fail)
    with pytest.raises(DiskFullError, match=r"no room left to write \S+/graph;"):
        build_graph(tmp_path / "graph", [dump])


def test_the_manifest_says_what_went_in_and_what_was_left_out(built: Path, dump: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    assert manifest["inputs"][0]["name"] == "world.json"
    assert manifest["inputs"][0]["bytes"] == dump.stat().st_size
    counts = manifest["counts"]
    claims = [claim for item in WORLD for claim in item.claims]
    assert counts["redirects"] == len(WORLD.redirects)
    assert counts["lines"] == dump.read_bytes().count(b"\n")
    assert counts["items without a name"] == sum(not item.names() for item in WORLD)
    left_out = ("external-id", "url", "commonsMedia", "globe-coordinate")
    assert counts["statements of data types left out"] == sum(
        claim.datatype in left_out for claim in claims
    )
    for table, rows in manifest["tables"].items():
        assert pq.read_metadata(built / f"{table}.parquet").num_rows == rows


def test_a_subset_by_types(dump: Path, built: Path, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", [dump], selection=Selection(types=("Q5", "Q515")))
    with KnowledgeGraph.open(built) as whole, KnowledgeGraph.open(tmp_path / "graph") as graph:
        wanted = [
            topic
            for topic in whole.topics()
            if any(each.type == "P31" and each.object in ("Q5", "Q515") for each in topic.relations)
        ]
        assert wanted
        assert [*graph.topics()] == wanted
        objects = {each.object for topic in wanted for each in topic.relations}
        assert set(graph) <= objects | {topic.id for topic in wanted} | set(UNITS)


def test_a_subset_by_topics_keeps_the_names_of_objects(
    dump: Path, built: Path, tmp_path: Path
) -> None:
    ids = [WORLD.item(number).id for number in (1, 2, 99)]
    redirected = next(iter(WORLD.redirects))
    (tmp_path / "topics.txt").write_text(f"{ids[0]}\nA title\t{ids[1]}\n{ids[2]}\n{redirected}\n")
    selection = Selection(topics=tmp_path / "topics.txt")
    build_graph(tmp_path / "graph", [dump], selection=selection)
    with KnowledgeGraph.open(built) as whole, KnowledgeGraph.open(tmp_path / "graph") as graph:
        for id_ in (*ids, WORLD.redirects[redirected]):
            assert graph.topic(id_) == whole.topic(id_)
        assert sum(1 for _ in graph.topics()) == 3
        assert len(graph) < len(whole)


def test_another_language(dump: Path, tmp_path: Path) -> None:
    build_graph(tmp_path / "graph", [dump], selection=Selection(language="de"))
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        for item in WORLD:
            if item.names("de"):
                assert graph.entity(item.id).names == tuple(item.names("de"))


def test_tables_of_triples_forms_and_titles(tmp_path: Path) -> None:
    triples = tmp_path / "triples.tsv"
    triples.write_text(
        "Q1\tcapital\tQ2\nQ1\tfounded\t1991-07-27\tliteral\nQ1\tcapital\tQ2\nQ1\tborders\tQ9\n"
        'Q1\tmotto\t"Hi\tliteral\n'
    )
    forms = tmp_path / "forms.tsv.gz"
    forms.write_bytes(gzip.compress(b"Q1\tLand\nQ2\tTown\nQ2\tThe Town\nQ2\tTown\n"))
    titles = tmp_path / "titles.tsv"
    titles.write_text("Land (country)\tQ1\nQ3\tElsewhere\n")
    report = build_graph(tmp_path / "graph", [triples, forms], titles=titles)
    assert report.counts["facts whose object has no name"] == 1
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        topic = graph.topic("Q1")
        assert topic.names == ("Land",)
        assert [(each.type, each.object, each.forms[0]) for each in topic.relations] == [
            ("capital", "Q2", "Town"),
            ("founded", "1991-07-27", "27 July 1991"),
            ("motto", '"Hi', '"Hi'),
        ]
        assert topic.relations[0].forms == ("Town", "The Town")
        assert graph.find("land (country)").id == "Q1"
        assert graph.entity("Q3").names == ("Elsewhere",)
        assert graph.relation_label("capital") == "capital"


def broken(dump: Path, target: Path, *, bad: int = 1) -> Path:
    lines = dump.read_bytes().split(b"\n")
    for number in range(bad):
        lines[60 + number] = lines[60 + number][:-30]
    target.write_bytes(b"\n".join(lines))
    return target


def test_a_broken_line_is_skipped_and_counted(dump: Path, tmp_path: Path) -> None:
    path = broken(dump, tmp_path / "broken.json")
    report = build_graph(tmp_path / "graph", [path], max_bad=0.01, part_bytes=50_000)
    assert report.bad_lines == 1
    [example] = report.examples
    assert example.startswith(f"{path}:61: not JSON")
    assert len(report.graph) >= 200


def test_too_many_broken_lines_leave_nothing_behind(dump: Path, tmp_path: Path) -> None:
    path = broken(dump, tmp_path / "broken.json", bad=3)
    with pytest.raises(
        TooManyBadLinesError, match=r"broken.json:61: not JSON .*3 of 252 lines are bad"
    ):
        build_graph(tmp_path / "graph", [path], part_bytes=50_000)
    assert [each.name for each in tmp_path.iterdir()] == ["broken.json"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
@pytest.mark.parametrize("fast", [True, False])
def test_a_truncated_file(
    dump: Path, tmp_path: Path, suffix: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fast:
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "rapidgzip", None)
    if suffix == ".gz":
        data = gzip.compress(dump.read_bytes())
    else:
        data = b"".join(
            bz2.compress(dump.read_bytes()[start : start + 200_000])
            for start in range(0, dump.stat().st_size, 200_000)
        )
    path = tmp_path / f"cut.json{suffix}"
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(DamagedFileError, match=r"cut.json.*:\d+: damaged or truncated"):
        build_graph(tmp_path / "graph", [path], part_bytes=50_000)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    # However large the parts are that are read together, little is lost.
    for name, part_bytes in (("graph", 50_000), ("large", 1 << 25)):
        report = build_graph(
            tmp_path / name, [path], part_bytes=part_bytes, max_bad=0.01, keep_damaged=True
        )
        assert len(report.damaged) == 1
        assert report.bad_lines == 0
        assert 50 < len(report.graph) < 227


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"is empty"),
        (b"hello\n", r"1: not a known format"),
        (b"a\tb\tc\td\te\n", r"the graph would have no facts"),
        (b"[\n" + b"x" * 70_000, r"a line of more than"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(text)
    with pytest.raises((FormatError, TooMuchUnknownError), match=message):
        build_graph(tmp_path / "graph", [tmp_path / "file"], part_bytes=50_000)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_arguments_that_cannot_be(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sources"):
        build_graph(tmp_path / "graph", [])
    with pytest.raises(InputError, match="no such file"):
        build_graph(tmp_path / "graph", [tmp_path / "absent"])
    with pytest.raises(InputError, match="absent: cannot be read"):
        build_graph(tmp_path / "graph", [dump], selection=Selection(topics=tmp_path / "absent"))
    with pytest.raises(InputError, match="language"):
        Selection(language="en'; --")
    with pytest.raises(InputError, match="only for the Spark engine"):
        build_graph(tmp_path / "graph", [dump], master="local")
    with pytest.raises(InputError, match="Spark engine cannot use a damaged file"):
        build_graph(tmp_path / "graph", [dump], engine=BuildEngine.SPARK, keep_damaged=True)
    with pytest.raises(InputError, match="share"):
        build_graph(tmp_path / "graph", [dump], max_bad=1.0)
    with pytest.raises(InputError, match="question mark"):
        build_graph(tmp_path / "what?", [dump])
    with pytest.raises(InputError, match="'lots' is not a memory limit, such as 800MB or 2GB"):
        build_graph(tmp_path / "graph", [tmp_path / "absent"], memory="lots")
    with pytest.raises(InputError, match="list of types is empty"):
        Selection(types=())
    with pytest.raises(InputError, match="worker"):
        build_graph(tmp_path / "graph", [dump], workers=0)
    assert BuildEngine("duckdb") is BuildEngine.DUCKDB
    assert set(CLASSES) >= {"Q5", "Q515"}


def test_sources_are_taken_together(built: Path, dump: Path, tmp_path: Path) -> None:
    (tmp_path / "more.tsv").write_text(f"{WORLD.item(0).id}\tanother name\n")
    build_graph(tmp_path / "graph", [dump, tmp_path / "more.tsv"])
    with KnowledgeGraph.open(tmp_path / "graph") as graph:
        assert "another name" in graph.entity(WORLD.item(0).id).names
