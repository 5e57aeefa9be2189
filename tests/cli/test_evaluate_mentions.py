"""`lrlm evaluate --mentions`, on runs that were trained for a second."""

import json
import shutil
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.training.train import train
from tests.training import tiny


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    corpus = tiny.write_corpus(folder)
    for kind in ("vanilla", "nklm", "lrlm"):
        train(
            corpus,
            folder / kind,
            model=kind,
            configure=tiny.configured(*tiny.SETTINGS, "training.epochs=1"),
            features_cache=folder / "features",
        )
    return folder


def test_mentions_of_nklm_and_lrlm_stand_beside_the_articles(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(home / kind) for kind in ("vanilla", "nklm", "lrlm")]
    written = tmp_path / "e.json"
    options = ["--split", "valid", "--mentions", "3", "--samples", "5", "--json", str(written)]
    assert main(["evaluate", *runs, *options]) == 0
    said = capsys.readouterr().out
    assert "Mentions in a text: 5 samples about each of 3 topics of valid" in said
    mentions = json.loads(written.read_text())["mentions"]
    assert list(mentions["runs"]) == ["nklm", "lrlm"]
    assert mentions["runs"]["nklm"]["texts"] == mentions["runs"]["lrlm"]["texts"] == 15
    assert mentions["runs"]["lrlm"]["partial"] == 0
    assert mentions["gold"]["texts"] == 3
    # The town, its river and its year in every article; the river once more in most of them.
    assert mentions["gold"]["full"] >= 3
    assert mentions["gold"]["partial"] == 0


def test_what_repetitions_cost_is_fitted_and_kept(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "lrlm"
    shutil.copytree(home / "lrlm", run)
    options = ["--split", "valid", "--corpus", str(home / "corpus"), "--mentions", "3"]
    written = tmp_path / "e.json"
    assert main(["evaluate", str(run), *options, "--fit-repetitions", "--json", str(written)]) == 0
    fitted = json.loads(written.read_text())["mentions"]
    cost = fitted["repetition_costs"]["lrlm"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["repetition_cost"] == cost
    assert manifest["repetition_cost_fitted_on"]["split"] == "valid"
    # Later evaluations, and generated texts, pay what was fitted.
    assert main(["evaluate", str(run), *options, "--json", str(written)]) == 0
    assert json.loads(written.read_text())["mentions"] == fitted
    assert main(["verify", str(run)]) == 0


def test_what_cannot_be_counted_is_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["vanilla", "--mentions", "2"], "none of the runs does"),
        (["lrlm", "--mentions", "0"], "at least one topic"),
        (["lrlm", "--fit-repetitions"], "also give --mentions N"),
    ):
        kind, *options = arguments
        assert main(["evaluate", str(home / kind), "--split", "valid", *options]) == 2
        output, errors = capsys.readouterr()
        assert output == ""
        assert message in errors
        assert errors.count("\n") == 1
