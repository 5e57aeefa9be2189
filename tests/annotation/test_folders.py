"""Folders of texts: the same results here and through Spark, and none of them made twice."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from lrlm.annotation.folders import FolderSettings, annotate_folder
from lrlm.artifacts import sole_writer, verify
from lrlm.cli import main
from lrlm.errors import InputError, LrlmError
from lrlm.training.train import train
from tests.training import tiny


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = tiny.write_corpus(tmp_path_factory.mktemp("folders"))
    settings = (*tiny.SETTINGS, "training.epochs=1")
    train(corpus, corpus.parent / "run", configure=tiny.configured(*settings))
    return corpus.parent / "run"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(3):
        topic = {"id": "t", "relations": [{"type": "river", "object": "Oder"}]}
        lines = [
            json.dumps({"id": f"{number}.{k}", "text": f"On the Oder {k} .", "topic": topic})
            for k in range(4)
        ]
        (folder / f"part-{number}.jsonl").write_text("\n".join(lines) + "\n")
    whole = (folder / "part-2.jsonl").read_bytes()
    (folder / "part-2.jsonl").unlink()
    (folder / "part-2.jsonl.gz").write_bytes(gzip.compress(whole))
    (folder / "notes.txt").write_text("not a text to annotate")
    return folder


def results(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.jsonl")}


def test_every_file_has_its_result(run: Path, texts: Path, tmp_path: Path) -> None:
    reports = annotate_folder(texts, tmp_path / "out", FolderSettings(run))
    assert [report.texts for report in reports] == [4, 4, 4]
    found = results(tmp_path / "out")
    assert sorted(found) == ["part-0.jsonl", "part-1.jsonl", "part-2.jsonl"]
    lines = [json.loads(line) for line in found["part-2.jsonl"].splitlines()]
    assert [line["id"] for line in lines] == ["2.0", "2.1", "2.2", "2.3"]
    assert lines[0]["spans"][0]["text"] == "Oder"
    assert (verify(tmp_path / "out").files, verify(tmp_path / "out").damaged) == (4, ())
    (tmp_path / "out" / "part-1.jsonl").write_text("other")
    assert "part-1.jsonl: cannot be read" in verify(tmp_path / "out").damaged[0]
    (tmp_path / "out" / "part-1.jsonl").unlink()
    annotate_folder(str(texts), str(tmp_path / "out"), FolderSettings(str(run)))
    assert verify(tmp_path / "out").damaged == ()


def test_what_is_there_is_not_made_again(run: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    annotate_folder(texts, out, FolderSettings(run))
    (out / "part-1.jsonl").unlink()
    (out / "part-0.jsonl").write_text("kept\n")
    reports = annotate_folder(texts, out, FolderSettings(run))
    assert [report.name for report in reports] == ["part-1.jsonl"]
    assert (out / "part-0.jsonl").read_text() == "kept\n"
    with pytest.raises(InputError, match="begun with another threshold"):
        annotate_folder(texts, out, FolderSettings(run, threshold=0.5))
    with pytest.raises(InputError, match="begun with another corpus"):
        annotate_folder(texts, out, FolderSettings(run, corpus=run.parent / "corpus"))


def test_drafts_of_a_killed_command_are_cleared(run: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    annotate_folder(texts, out, FolderSettings(run))
    (out / ".part-1.jsonl.12345678.partial").write_text("half")
    annotate_folder(texts, out, FolderSettings(run))
    assert not list(out.glob(".*"))


def test_two_commands_do_not_annotate_one_folder(run: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    annotate_folder(texts, out, FolderSettings(run))
    with (
        sole_writer(tmp_path / ".out.lock", out),
        pytest.raises(InputError, match="another process is writing"),
    ):
        annotate_folder(texts, out, FolderSettings(run))


def test_a_bad_file_does_not_cost_the_others(run: Path, texts: Path, tmp_path: Path) -> None:
    (texts / "part-1.jsonl").write_text("{\n")
    with pytest.raises(LrlmError, match=r"part-1\.jsonl:1: not JSON.*1 of 3 files"):
        annotate_folder(texts, tmp_path / "out", FolderSettings(run))
    assert sorted(results(tmp_path / "out")) == ["part-0.jsonl", "part-2.jsonl"]


def test_folders_that_cannot_be_used(run: Path, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        annotate_folder(tmp_path / "missing", tmp_path / "out", FolderSettings(run))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no files that end with"):
        annotate_folder(tmp_path / "empty", tmp_path / "out", FolderSettings(run))
    with pytest.raises(InputError, match="did not write"):
        annotate_folder(texts, texts, FolderSettings(run))
    shutil.copy(texts / "part-1.jsonl", texts / "part-1.jsonl.gz")
    with pytest.raises(InputError, match="would have the same result"):
        annotate_folder(texts, tmp_path / "out", FolderSettings(run))


@pytest.mark.slow
@pytest.mark.extra("spark")
def test_spark_gives_the_same(run: Path, texts: Path, tmp_path: Path) -> None:
    annotate_folder(texts, tmp_path / "here", FolderSettings(run))
    annotate_folder(texts, tmp_path / "there", FolderSettings(run), spark=True, master="local[2]")
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    assert here.keys() == there.keys()
    for name, content in here.items():
        for one, other in zip(content.splitlines(), there[name].splitlines(), strict=True):
            mine, theirs = json.loads(one), json.loads(other)
            assert mine["best"] == theirs["best"]
            assert mine["nats"] == pytest.approx(theirs["nats"], rel=1e-5)


def test_the_command(
    run: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["annotate", str(run), "--jsonl", str(texts)]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert "Annotated 12 texts in 3 files" in capsys.readouterr().err
    assert len(results(tmp_path / "out")) == 3
    assert main(command) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert main([*command, "--out", str(tmp_path / "other"), "--master", "local"]) == 2
    assert "for --engine spark" in capsys.readouterr().err
