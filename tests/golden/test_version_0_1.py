"""Runs, corpora and graphs that version 0.1 wrote still open.

`version_0_1` holds a graph of invented towns (`lrlm kg build` with titles), a corpus (`lrlm corpus
build --graph --letter-case variants`) and a run (`lrlm train`, LRLM on an LSTM, three epochs) with
its last checkpoint. Nothing there is ever written again.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.golden import behaviour
from tests.golden.behaviour import OLD
from tests.golden.recorded import assert_recorded


def test_the_run_is_used(tmp_path: Path) -> None:
    found = behaviour.of_old_run(tmp_path)
    assert found["evaluation"]["is_training_corpus"]  # it is known again by its content
    assert_recorded(found, "old run")


def test_the_run_is_trained_on(tmp_path: Path) -> None:
    losses = behaviour.of_old_run_resumed(tmp_path)
    assert losses[: len(behaviour.losses(OLD / "run"))] == behaviour.losses(OLD / "run")
    assert max(line["epoch"] for line in losses) == 4
    assert_recorded(losses, "old run, resumed", absolute=0)


def test_the_run_is_packed(tmp_path: Path) -> None:
    behaviour.run("pack", OLD / "run", "--out", tmp_path / "packed")
    packed, whole = (behaviour.scores(folder) for folder in (tmp_path / "packed", OLD / "run"))
    for one, other in zip(packed, whole, strict=True):
        assert one["nats"] == pytest.approx(other["nats"], rel=1e-2)  # half precision


def test_the_corpus_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    behaviour.run("corpus", "stats", OLD / "corpus", "--json")
    stats = json.loads(capsys.readouterr().out)
    manifest = json.loads((OLD / "corpus" / "manifest.json").read_text(encoding="utf-8"))
    for split, counts in manifest["splits"].items():
        assert stats[split]["documents"] == counts["documents"]
    behaviour.run("corpus", "show", OLD / "corpus", "Juniper_Cross.1")
    shown = capsys.readouterr().out
    assert "The town of Juniper Cross stands by the Otterwater." in " ".join(shown.split())
    for fact in ("@title → Juniper_Cross", "river → Otterwater"):
        assert fact in shown


def test_the_corpus_is_trained_on(tmp_path: Path) -> None:
    shutil.copytree(OLD / "corpus", tmp_path / "corpus")
    run = behaviour.train(tmp_path, "alias", "lstm", epochs=1)
    assert [line["kind"] for line in behaviour.losses(run)] == [*["train"] * 5, "valid"]


def test_topics_are_found_in_the_graph(tmp_path: Path) -> None:
    assert_recorded(behaviour.of_old_graph(), "old graph")
    (tmp_path / "text.txt").write_text("Aldermoor lies on the River Amber.", encoding="utf-8")
    found = [
        behaviour.written_json(
            tmp_path / "annotation.json",
            *("annotate", OLD / "run", tmp_path / "text.txt", "--format", "json"),
            *("--topic", name, "--graph", OLD / "graph"),
        )
        for name in ("Aldermoor", "aldermoor (town)")
    ]
    assert found[0]["spans"]
    assert found[0] == found[1]


def test_a_corpus_is_built_from_the_graph(tmp_path: Path) -> None:
    article = {"id": "a", "topic": "Aldermoor", "text": "Aldermoor lies on the River Amber."}
    (tmp_path / "train.jsonl").write_text(json.dumps(article) + "\n", encoding="utf-8")
    articles = ("--train", tmp_path / "train.jsonl")
    where = ("--graph", OLD / "graph", "--out", tmp_path / "corpus")
    behaviour.run("corpus", "build", *where, *articles, "--workers", 1)
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_text(encoding="utf-8"))
    counts = manifest["splits"]["train"]
    assert (counts["facts"], counts["spans"], counts["candidates"]) == (7, 3, 3)
