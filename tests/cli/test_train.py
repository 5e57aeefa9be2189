"""`lrlm train` from the command line: what it says, what it refuses, what it leaves alone."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lrlm.cli import main
from tests.corpora.small_world import digests
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def finished(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert main(tiny.arguments(corpus, out, "--set", "training.epochs=1")) == 0
    return out


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run what must not work; give the one line that says why."""
    capsys.readouterr()
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("lrlm: ")
    assert errors.count("\n") == 1
    return errors


def test_it_tells_what_it_does(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(tiny.arguments(corpus, out, "--model", "vanilla")) == 0
    output, errors = capsys.readouterr()
    assert output.startswith(f"Wrote {out}: validation perplexity ")
    assert output.count("\n") == 1
    lines = [line for line in errors.splitlines() if not line.startswith("making ")]  # if slow
    heads = [line.partition(":")[0] for line in lines]
    assert heads[:4] == ["20 training texts", "epoch 1", "epoch 2", "epoch 3"]
    assert "the best so far" in lines[1]
    assert heads[4] == "Warning"  # of tiny runs
    assert lines[4].endswith("training.epochs=13 and training.batch_size=2 (--set).")
    kinds = {json.loads(line)["kind"] for line in (out / "metrics.jsonl").read_text().splitlines()}
    assert kinds == {"train", "valid"}


def test_a_budget(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--minutes", "0.0001", "--set", "training.epochs=9999")
    assert main(tiny.arguments(corpus, tmp_path / "run", *more)) == 0
    assert "after 1 update," in capsys.readouterr().out


def test_a_finished_run_is_resumed_to_the_same(finished: Path, corpus: Path) -> None:
    before = (finished / "weights.safetensors").read_bytes()
    assert main(tiny.arguments(corpus, finished, "--set", "training.epochs=1", "--resume")) == 0
    assert (finished / "weights.safetensors").read_bytes() == before


def test_settings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["train", "--list-settings", "--backbone", "transformer-xl", "--size", "paper"]) == 0
    )
    output = capsys.readouterr().out
    assert "model.backbone.feed_forward_size" in output
    assert "0.00025" in output


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "training.epoch=3"], "did you mean 'training.epochs'?"),
        (["--set", "training.batch_size=0"], "training.batch_size must be at least 1, not 0"),
        (["--set", "training.batch_size"], "write key=value"),
        (["--minutes", "0"], "training.minutes must be above 0"),
        (["--minutes", "-1"], "training.minutes must be above 0"),
        (["--size", "huge"], "there is no size 'huge'; there are: mini, cpu, paper"),
        (
            ["--model", "gpt"],
            "there is no model 'gpt'; there are: vanilla, alias, prompted, nklm, lrlm",
        ),
        (["--backbone", "gru"], "there is no backbone 'gru'; there are: lstm, transformer-xl"),
        (["--set", "features.relations.width=9"], "vectors of the wrong width"),
        (["--set", "features.forms.source=nowhere.bin"], "nowhere.bin"),
        (["--set", "features.relations.source=nowhere"], "nowhere"),
        (["--set", "training.device=tpu"], "the device 'tpu' cannot be used here"),
    ],
)
def test_bad_wishes_leave_nothing_behind(
    corpus: Path, tmp_path: Path, more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(tiny.arguments(corpus, tmp_path / "run", *more), capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["train", "valid"])
def test_a_corpus_without_a_split(
    tmp_path: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = tuple(sorted({"train", "valid", "test"} - {missing}))
    other = tiny.write_corpus(tmp_path, splits=splits)
    line = refused(tiny.arguments(other, tmp_path / "run"), capsys)
    assert f"has no split '{missing}'; it has: " in line
    assert not (tmp_path / "run").exists()


def test_no_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(tiny.arguments(tmp_path / "nothing", tmp_path / "run"), capsys)
    assert "is not an lrlm corpus" in line
    assert "give a CORPUS" in refused(["train"], capsys)


def test_a_run_that_exists_is_refused_and_left_alone(
    corpus: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = digests(finished)
    assert "exists already" in refused(tiny.arguments(corpus, finished), capsys)
    changed = ("--resume", "--set", "training.clip=3")
    assert "started with training.clip=" in refused(
        tiny.arguments(corpus, finished, *changed), capsys
    )
    assert digests(finished) == before
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "file").write_text("mine")
    for more in ((), ("--resume",)):
        refused(tiny.arguments(corpus, strange, *more), capsys)
    assert (strange / "file").read_text() == "mine"
    file = tmp_path / "file"
    file.write_text("mine")
    refused(tiny.arguments(corpus, file), capsys)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("what", ["run", "checkpoint"])
def test_another_version_is_refused_and_left_alone(
    corpus: Path, finished: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(finished, copied)
    folder = copied if what == "run" else max((copied / "checkpoints").iterdir())
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    before = digests(copied)
    line = refused(tiny.arguments(corpus, copied, "--resume", "--set", "training.epochs=1"), capsys)
    assert "version 99" in line
    assert digests(copied) == before


def test_tensorboard_is_an_extra(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    line = refused(tiny.arguments(corpus, tmp_path / "run", "--tensorboard"), capsys)
    assert "pip install 'lrlm[tensorboard]'" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.extra("tensorboard")
def test_tensorboard_draws_what_the_metrics_say(corpus: Path, tmp_path: Path) -> None:
    # Another process, so that the writer's thread and what its libraries load end with it.
    out = tmp_path / "run"
    subprocess.run(tiny.command(corpus, out, "--tensorboard"), check=True, capture_output=True)
    reading = (
        "import json, sys\n"
        "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
        "events = EventAccumulator(sys.argv[1])\n"
        "events.Reload()\n"
        "points = events.Scalars('valid/perplexity')\n"
        "print(json.dumps([[point.step, point.value] for point in points]))\n"
    )
    command = [sys.executable, "-c", reading, str(out / "tensorboard")]
    drawn = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    valid = [[line["update"], line["perplexity"]] for line in lines if line["kind"] == "valid"]
    assert len(valid) == 3
    assert drawn == [[update, pytest.approx(value)] for update, value in valid]
