"""`lrlm kg`: build and show, and what is said when it cannot be."""

import json
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.knowledge.build import build_graph
from tests.generators.wikidata import World

WORLD = World(60, languages=("en", "de"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kg")


@pytest.fixture(scope="module")
def graph(folder: Path) -> Path:
    dump = WORLD.write_json(folder / "world.json.gz")
    assert main(["kg", "build", str(dump), "--out", str(folder / "graph"), "--workers", "1"]) == 0
    return folder / "graph"


def test_build_says_what_was_written(
    graph: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["kg", "build", str(folder / "world.json.gz"), "--out", str(folder / "some")]
    assert main([*arguments, "--types", "Q5, Q515", "--language", "en", "--workers", "1"]) == 0
    output, errors = capsys.readouterr()
    assert output.startswith("Wrote")
    assert "facts of 12 types" in output or "types, in" in output
    assert "statements of data types left out" in errors
    assert main([*arguments, "--workers", "1"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*arguments, "--workers", "1", "--overwrite"]) == 0
    assert graph.is_dir()


def test_show(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = WORLD.item(1)
    assert main(["kg", "show", str(graph), item.id]) == 0
    assert "instance of" in capsys.readouterr().out
    assert main(["kg", "show", str(graph), item.labels["en"].upper(), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["id"] == item.id
    assert shown["names"] == item.names()
    instance = next(each for each in shown["relations"] if each["type"] == "P31")
    assert instance["label"] == "instance of"
    assert instance["forms"]
    assert Topic.from_json(shown) == KnowledgeGraph.open(graph).topic(item.id)


def test_json_does_not_turn_what_a_terminal_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "triples.tsv").write_text("Q1\tin\tQ\u202e2\tentity\n", encoding="utf-8")
    (tmp_path / "forms.tsv").write_text("Q1\tZürich\nQ\u202e2\tZug\n", encoding="utf-8")
    build_graph(tmp_path / "graph", [tmp_path / "triples.tsv", tmp_path / "forms.tsv"])
    assert main(["kg", "show", str(tmp_path / "graph"), "Q1", "--json"]) == 0
    shown = capsys.readouterr().out
    assert "\u202e" not in shown
    assert '"Zürich"' in shown
    assert json.loads(shown)["relations"][0]["object"] == "Q\u202e2"


def test_what_is_not_there(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = WORLD.item(1).labels["en"]
    assert main(["kg", "show", str(graph), name[:-1] + "q"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["kg", "show", str(graph.parent), "Q1"]) == 2
    assert "lrlm kg build" in capsys.readouterr().err


def test_bad_input_is_one_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = WORLD.write_json(tmp_path / "world.json")
    lines = dump.read_bytes().split(b"\n")
    lines[30] = lines[30][:100] + b"\xff" + lines[30][100:200]
    dump.write_bytes(b"\n".join(lines))
    arguments = ["kg", "build", str(dump), "--out", str(tmp_path / "graph"), "--workers", "1"]
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "world.json:31:" in errors
    assert [each.name for each in tmp_path.iterdir()] == ["world.json"]
    assert main([*arguments, "--max-bad", "0.1"]) == 0
    errors = capsys.readouterr().err
    assert "skipped" in errors
    assert "1 malformed line skipped\n" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--types", ""], "the list of types is empty"),
        (["--types", " , "], "the list of types is empty"),
        (["--memory", "lots"], "'lots' is not a memory limit, such as 800MB or 2GB"),
    ],
)
def test_options_that_cannot_be_are_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    (tmp_path / "forms.tsv").write_text("Q1\tname\n")
    arguments = ["kg", "build", str(tmp_path / "forms.tsv"), "--out", str(tmp_path / "graph")]
    assert main([*arguments, *options]) == 2
    assert capsys.readouterr().err == f"lrlm: {message}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["forms.tsv"]


def test_a_note_of_unknown_data_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snak = {"snaktype": "value", "datatype": "new", "datavalue": {"value": 1, "type": "new"}}
    item = {"type": "item", "id": "Q1", "labels": {"en": {"value": "x"}}}
    item["claims"] = {"P1": [{"mainsnak": snak, "rank": "normal"}]}
    (tmp_path / "dump.json").write_text(f"[\n{json.dumps(item)}\n]\n")
    arguments = ["kg", "build", str(tmp_path / "dump.json"), "--out", str(tmp_path / "graph")]
    assert main([*arguments, "--workers", "1", "--max-unknown", "1"]) == 0
    assert "dump.json:2: unknown data type 'new' (P1)" in capsys.readouterr().err.replace("\n", "")
