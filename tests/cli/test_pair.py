"""Reading both ways as a user does it: train backward, fit the pair, annotate and evaluate."""

import json
from pathlib import Path

import pytest

import lrlm
from lrlm.cli import main
from lrlm.evaluation import evaluate, fit_pair
from lrlm.evaluation.pair_fitting import GOLD, RIVALS
from lrlm.runs.run import Run
from tests.cli.test_evaluate import write_corpus
from tests.training import tiny

TEXT = "Town 3 lies on the Oder River . It was founded in 1203 , not before 1203 ."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, runs that read forward and backward, and a text."""
    folder = tmp_path_factory.mktemp("home")
    corpus = write_corpus(folder, "towns")
    (folder / "runs").mkdir()
    for name, more in (
        ("forward", []),
        ("backward", ["--direction", "backward"]),
        ("vanilla", ["--model", "vanilla", "--direction", "backward"]),
    ):
        line = tiny.arguments(corpus, folder / "runs" / name, "--set", "training.epochs=2", *more)
        assert main(line) == 0
    (folder / "text.txt").write_text(TEXT)
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(list(arguments))
    output, errors = capsys.readouterr()
    assert code == 0, errors
    return output


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Give the one line that a command was refused with."""
    assert main(list(arguments)) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    return errors


def test_a_backward_run_says_so(here: Path) -> None:
    run = Run.open("runs/backward")
    assert run.config.model.is_backward
    assert 'direction = "backward"' in (here / "runs" / "backward" / "config.toml").read_text()
    assert not Run.open("runs/forward").config.model.is_backward


def test_the_settings_show_the_direction(capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(capsys, "train", "--list-settings", "--direction", "backward")
    assert "model.direction" in listed
    (line,) = [each for each in listed.splitlines() if each.startswith("model.direction")]
    assert line.split()[1] == '"backward"'


def test_resuming_takes_the_same_direction(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = tiny.arguments(here / "towns", here / "runs" / "backward", "--resume")
    assert 'which cannot become "forward"' in refused(capsys, *line, "--direction", "forward")


def test_both_directions_are_evaluated_side_by_side(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = said(capsys, "evaluate", "runs/forward", "runs/backward", "runs/vanilla")
    assert "LRLM (backward)" in listed
    assert "Vanilla LM (backward)" in listed


def test_a_pair_is_annotated_with(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ("annotate", "runs/forward", "text.txt", "--topic", "Town3", "--format", "json")
    alone, pair, other = (
        json.loads(said(capsys, *line, *more))
        for more in (
            (),
            ("--backward", "runs/backward"),
            ("--backward", "runs/backward", "--backward-weight", "0.2"),
        )
    )
    assert pair["nats"] == pytest.approx(alone["nats"])
    spans = [
        [(each["start"], each["end"]) for each in found["spans"]] for found in (alone, pair, other)
    ]
    assert spans[0] == spans[1] == spans[2]
    assert alone["spans"] != pair["spans"] != other["spans"]
    model = lrlm.load("runs/forward", backward="runs/backward")
    assert (
        json.loads(model.annotate(TEXT, model.topic("Town3")).to_json())["spans"] == pair["spans"]
    )
    assert model.run.direction == "both"


def test_many_texts_are_annotated_with_a_pair(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = json.dumps({"id": "1", "text": TEXT, "topic": "Town3"})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(line + "\n")
    both = ("--backward", "runs/backward")
    one = said(
        capsys, "annotate", "runs/forward", "--jsonl", str(tmp_path / "in" / "a.jsonl"), *both
    )
    folder = ("--jsonl", str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert main(["annotate", "runs/forward", *folder, *both]) == 0
    assert json.loads((tmp_path / "out" / "a.jsonl").read_text()) == json.loads(one)
    capsys.readouterr()
    assert "begun with another backward" in refused(capsys, "annotate", "runs/forward", *folder)


def test_a_pair_is_evaluated_by_gold(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "e.json"
    listed = said(
        capsys, "evaluate", "runs/forward", "--gold", "--backward", "runs/backward",
        "--backward-weight", "0.5", "--json", str(file),
    )  # fmt: skip
    assert "LRLM (both)" in listed
    (pair,) = json.loads(file.read_text())["runs"]
    (alone,) = evaluate("runs/forward", gold=True).to_dict()["runs"]
    assert (pair["direction"], pair["backward_weight"]) == ("both", 0.5)
    assert (alone["direction"], alone["backward_weight"]) == ("forward", None)
    assert pair["perplexity"] == alone["perplexity"]
    assert pair["annotation"] != alone["annotation"]
    assert pair["gold"]["best_path"]


def test_the_weight_is_fitted_on_gold_and_kept(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, "pair", "runs/forward", "runs/backward")
    content = json.loads((here / "runs" / "backward" / "partner.json").read_text())
    assert f"counts {content['weight']:g}" in told
    assert content["criterion"] == GOLD
    assert content["split"] == "valid"
    assert content["nats_pair"] <= content["nats_forward"]
    partner = lrlm.load("runs/forward", backward="runs/backward").run.partner
    assert partner is not None
    assert partner.weight == content["weight"]
    assert main(["verify", "runs/backward"]) == 0
    capsys.readouterr()
    (here / "runs" / "backward" / "partner.json").write_text("{}")
    line = ("annotate", "runs/forward", "text.txt", "--topic", "Town3")
    assert "partner.json" in refused(capsys, *line, "--backward", "runs/backward")
    fit_pair("runs/forward", "runs/backward")


def test_without_gold_it_is_fitted_on_rivals(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = write_corpus(tmp_path, "plain", with_gold=False)
    fit = fit_pair("runs/forward", "runs/backward", corpus=plain)
    assert fit.criterion == RIVALS
    assert fit.corpus == "plain"
    assert fit.places > 0
    assert fit.nats_pair <= fit.nats_forward
    assert RIVALS in said(capsys, "pair", "runs/forward", "runs/backward", "--rivals")
    fit_pair("runs/forward", "runs/backward")
    assert main(["pair", "runs/forward", "runs/backward", "--split", "nowhere"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("annotate", "runs/forward", "text.txt", "--topic", "Town3", "--backward", "runs/forward"),
         "reads forward, but the second run of a pair reads backward"),
        (("annotate", "runs/backward", "text.txt", "--topic", "Town3", "--backward",
          "runs/backward"), "reads backward, but the first run of a pair reads forward"),
        (("annotate", "runs/forward", "text.txt", "--topic", "Town3", "--backward", "runs/vanilla"),
         "does not know where words come from"),
        (("annotate", "runs/forward", "text.txt", "--topic", "Town3", "--backward-weight", "1"),
         "no backward run is named"),
        (("evaluate", "runs/forward", "--backward-weight", "1"), "no backward run is named"),
        (("evaluate", "runs/forward", "--backward", "runs/backward", "--backward-weight", "11"),
         "from 0 to 10"),
        (("generate", "runs/backward", "--topic", "Town3"), "texts are written forward"),
        (("pair", "runs/backward", "runs/forward"), "reads backward, but the first run"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(
    here: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, *arguments)


def test_a_pretrained_backbone_reads_forward_only(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("train", "towns", "--out", str(tmp_path / "run"), "--direction", "backward")
    told = refused(
        capsys, *line, "--backbone", "pretrained", "--set", "model.backbone.source=nowhere"
    )
    assert "reads forward only" in told
    assert "reads forward only" in refused(capsys, *line, "--model", "prompted")
    assert "forward, backward" in refused(capsys, *line[:-1], "sideways")


def test_a_text_is_checked_with_a_pair(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("--backward", "runs/backward", "--backward-weight", "0.5")
    line = ("check", "runs/forward", "text.txt", "--topic", "Town3", "--format", "json")
    found = json.loads(said(capsys, *line, "--threshold", "0", *both))
    alone = json.loads(said(capsys, *line, "--threshold", "0"))
    assert found["text"] == alone["text"] == TEXT
    assert found["findings"] != alone["findings"]
    model = lrlm.load("runs/forward", backward="runs/backward", backward_weight=0.5)
    assert model.run.readings == 1.5
    checked = model.check(TEXT, model.topic("Town3"), threshold=0)
    assert json.loads(checked.to_json())["findings"] == found["findings"]

    (tmp_path / "in").mkdir()
    text = {"id": "1", "text": TEXT, "topic": "Town3"}
    (tmp_path / "in" / "a.jsonl").write_text(json.dumps(text) + "\n")
    folder = ("--jsonl", str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert main(["check", "runs/forward", *folder, "--threshold", "0", *both]) == 0
    (written,) = (tmp_path / "out" / "a.jsonl").read_text().splitlines()
    assert json.loads(written)["findings"] == found["findings"]
