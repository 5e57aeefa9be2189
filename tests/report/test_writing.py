"""The report of runs that were trained for a second."""

import json
import sys
from pathlib import Path

import pytest

import lrlm
from lrlm.artifacts import verify
from lrlm.cli import main
from lrlm.errors import ExistsError, FormatError, InputError, MissingExtraError
from lrlm.report.writing import write_report
from lrlm.runs.packing import pack
from lrlm.training.train import train
from tests.cli.test_evaluate import write_corpus
from tests.generators.tiny_backbones import save_tiny_llama
from tests.generators.tiny_language_models import byte_level_bpe
from tests.report.pages import check_page
from tests.training import tiny

SHORT = (*tiny.SETTINGS, "training.epochs=1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and runs, one of them on a pretrained language model."""
    folder = tmp_path_factory.mktemp("home")
    corpus = write_corpus(folder, "towns")
    (folder / "runs").mkdir()
    for kind in ("vanilla", "lrlm"):
        train(
            corpus,
            folder / "runs" / kind,
            model=kind,
            configure=tiny.configured(*SHORT),
            features_cache=folder / "features",
        )
    save_tiny_llama(folder / "language-model", byte_level_bpe(), width=16, spread=0.1)
    train(
        corpus,
        folder / "runs" / "pretrained",
        model="lrlm",
        backbone=lrlm.Pretrained(str(folder / "language-model")),
        minutes=0.02,
    )
    return folder


def runs(home: Path, *names: str) -> list[Path]:
    return [home / "runs" / name for name in names]


def test_several_runs_with_different_tokens(home: Path, tmp_path: Path) -> None:
    page = write_report(
        runs(home, "vanilla", "lrlm", "pretrained"), tmp_path / "report", topics=1, mentions=1
    )
    assert page == tmp_path / "report" / "index.html"
    read = check_page(page.read_text())
    assert "3 language models compared" in read.text
    assert "nothing" not in read.values("class")
    assert "mean probability of the true explanation" in read.text
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    assert [run["name"] for run in results["runs"]] == ["vanilla", "lrlm", "pretrained"]
    assert set(results["mentions"]["runs"]) == {"lrlm", "pretrained"}
    assert verify(tmp_path / "report").damaged == ()


def test_one_run_of_a_packed_model(home: Path, tmp_path: Path) -> None:
    pack(home / "runs" / "vanilla", tmp_path / "packed")
    page = write_report(
        tmp_path / "packed", tmp_path / "report", corpus=home / "towns", documents=3, topics=0
    )
    read = check_page(page.read_text())
    assert read.text.count("Vanilla LM, LSTM") > 2
    assert read.values("class").count("nothing") == 5
    assert "3 documents" in read.text


def test_an_evaluation_that_was_made_is_used(home: Path, tmp_path: Path) -> None:
    folders = runs(home, "vanilla", "lrlm")
    evaluation = lrlm.evaluate(folders, split="valid")
    page = write_report(
        folders,
        tmp_path / "report",
        evaluation=evaluation,
        topics=0,
        mentions=0,
        title="Towns & co",
    )
    text = check_page(page.read_text()).text
    assert "Towns & co" in text
    assert "towns, valid" in text
    with pytest.raises(InputError, match="of other runs"):
        write_report(folders[:1], tmp_path / "other", evaluation=evaluation)
    other = lrlm.evaluate(folders, corpus=write_corpus(tmp_path, "others", towns=14))
    with pytest.raises(InputError, match="of other documents than"):
        write_report(folders, tmp_path / "other", evaluation=other)
    assert not (tmp_path / "other").exists()


def test_the_command(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    arguments = ["report", str(home / "runs" / "lrlm"), "--out", str(out)]
    arguments += ["--topics", "1", "--mentions", "0", "--documents", "4"]
    assert main(arguments) == 0
    assert capsys.readouterr() == ("", f"Wrote {out / 'index.html'}.\n")
    first = (out / "index.html").read_bytes()
    assert main(arguments) == 2
    assert "(pass --overwrite)" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0
    assert (out / "index.html").read_bytes() == first


def test_only_a_report_is_replaced_by_a_report(home: Path, tmp_path: Path) -> None:
    for run in runs(home, "vanilla"):
        with pytest.raises(ExistsError):
            write_report(run, run)
        with pytest.raises(FormatError, match="is not an lrlm report"):
            write_report(run, run, overwrite=True)
        assert (run / "weights.safetensors").exists()


def test_nothing_is_done_without_the_library_that_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[plots\]'"):
        write_report("no such run", tmp_path / "report")
    assert main(["report", "no such run", "--out", str(tmp_path / "report")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
