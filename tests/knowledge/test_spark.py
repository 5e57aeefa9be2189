"""The build on Spark, in its local mode: the same graph, to the byte, as without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lrlm.errors import InputError, MissingExtraError
from lrlm.knowledge.build import BuildEngine, Selection, build_graph
from lrlm.knowledge.extract import KnowledgeFile
from lrlm.knowledge.sources import SourceFormat
from lrlm.knowledge.sources.addresses import NAME_PREDICATES
from lrlm.knowledge.spark import _check_name, _parse
from lrlm.knowledge.statements import StatementKind
from lrlm.spark_session import _cause
from tests.generators.wikidata import World
from tests.knowledge.worlds import TangledWorld, content

WORLD = World(150, languages=("en", "de"))


@pytest.mark.slow
@pytest.mark.extra("spark")
def test_spark_makes_the_same_graph(tmp_path: Path) -> None:
    # One run with all there is: two dumps, one of them split, a table, a subset, a bad line.
    tangled = TangledWorld().write_json(tmp_path / "tangled.json")
    dump = WORLD.write_json(tmp_path / "world.json.bz2")
    names = tmp_path / "names.tsv"
    names.write_text(
        "".join(f"{WORLD.item(n).id}\tname {n % 3}\n" * 2 for n in range(150)) + "bad\n"
    )
    types, max_bad = ("Q5", "Q515", "Q6256"), 0.01
    here = build_graph(
        tmp_path / "here",
        [dump, tangled, names],
        selection=Selection(types=types),
        max_bad=max_bad,
        part_bytes=50_000,
    )
    command = [sys.executable, "-m", "lrlm", "kg", "build", str(dump), str(tangled), str(names)]
    command += ["--out", str(tmp_path / "there"), "--engine", "spark", "--master", "local[2]"]
    command += ["--types", ",".join(types), "--max-bad", str(max_bad)]
    quick_start = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JDK_JAVA_OPTIONS": quick_start},
    )
    assert result.returncode == 0, result.stderr
    assert "names.tsv: after byte 0: expected entity and form" in result.stderr
    assert content(tmp_path / "there") == content(tmp_path / "here")
    manifests = [(tmp_path / each / "manifest.json").read_text() for each in ("here", "there")]
    assert manifests[0] == manifests[1]
    assert here.bad_lines == 1
    assert {each.name for each in tmp_path.iterdir()} == {
        "world.json.bz2", "tangled.json", "names.tsv", "here", "there",
    }  # fmt: skip


def test_what_spark_would_take_for_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_bytes(b"\x1f\x8b...")
    with pytest.raises(InputError, match=r"ends with \.gz"):
        _check_name(tmp_path / "dump.json")
    (tmp_path / "dump.json.xz").write_bytes(b"\xfd7zXZ\x00")
    with pytest.raises(InputError, match="use gzip or bzip2"):
        _check_name(tmp_path / "dump.json.xz")


def test_without_pyspark_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    (tmp_path / "forms.tsv").write_text("Q1\tname\n")
    with pytest.raises(MissingExtraError, match=r"lrlm\[spark\]"):
        build_graph(tmp_path / "graph", [tmp_path / "forms.tsv"], engine=BuildEngine.SPARK)
    assert [each.name for each in tmp_path.iterdir()] == ["forms.tsv"]


def test_the_lines_of_a_task_keep_their_blocks_and_order() -> None:
    import pyarrow as pa

    batches = [
        pa.record_batch({"line": [b"a\tx", b"b\ty"], "block": [0, 100]}),
        pa.record_batch({"line": [b"c\tz", b"worse"], "block": [100, 100]}),
    ]
    rows = pa.Table.from_batches(
        _parse(7, SourceFormat.FORMS, None, ("en", NAME_PREDICATES), iter(batches))
    ).to_pylist()
    names = [row for row in rows if row["kind"] == StatementKind.LABEL]
    assert [(row["source"], row["block"], row["row"], row["object"]) for row in names] == [
        (7, 0, 0, "x"),
        (7, 100, 1, "y"),
        (7, 100, 2, "z"),
    ]
    lines = [
        row["row"]
        for row in rows
        if row["kind"] == StatementKind.COUNT and row["subject"] == "lines"
    ]
    assert sum(lines) == 4
    assert sum(row["kind"] == StatementKind.BAD for row in rows) == 1
    assert KnowledgeFile(Path("x"), SourceFormat.FORMS).format == "forms"


def test_of_javas_report_the_cause_is_told() -> None:
    report = (
        "An error occurred while calling o1.parquet.\n: org.apache.spark.SparkException: Failed.\n"
        "\tat org.apache.spark.Job: Encountered error while reading file:///d/cut.gz. \n"
        "Caused by: org.apache.spark.SparkException: more\n\tat somewhere\n"
        "Caused by: java.io.EOFException: Unexpected end of input stream\n\t... 1 more\n"
    )
    told = "java.io.EOFException: Unexpected end of input stream in file:///d/cut.gz"
    assert _cause(report) == told
    assert _cause("one\n  line") == "one line"
