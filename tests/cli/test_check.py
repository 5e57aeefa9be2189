"""`lrlm check` and `lrlm kg suggest`, as a user runs them with the model of the package."""

import io
import json
import sys
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.knowledge import KnowledgeGraph
from lrlm.runs.shipped import SHIPPED

TEXT = "Norway is a country in Asia. Its capital is Oslo.\n"
LINES = [
    {"id": "one", "topic": "Norway", "text": TEXT},
    {"id": "two", "topic": "Norway", "text": "Norway is a country. It borders Germany."},
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "good.txt").write_text("Norway is a country. Its capital is Oslo.")
    lines = "".join(f"{json.dumps(line)}\n" for line in LINES)
    (tmp_path / "texts.jsonl").write_text(lines)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Give the one line that a command was refused with."""
    assert main(["check", *arguments]) == 2
    said, errors = capsys.readouterr()
    assert said == ""
    assert errors.count("\n") == 1
    return errors


def test_text_for_people(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "text.txt", "--topic", "Norway"]) == 0
    said = capsys.readouterr().out
    assert "2 statements: 1 supported, 1 contradicted, 0 new" in said
    assert "the graph says Europe" in said


def test_the_topic_is_found_where_none_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "text.txt"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Norway")
    assert "2 statements: 1 supported, 1 contradicted, 0 new" in said


def test_json_and_pages(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "text.txt", "--topic", "Norway", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["text"] == TEXT
    assert [each["verdict"] for each in content["findings"]] == ["contradicted", "supported"]
    page = ["check", "text.txt", "--topic", "Norway", "--format", "html", "--out", "page.html"]
    assert main(page) == 0
    assert "<!doctype html>" in (here / "page.html").read_text()


def test_a_pipeline_fails_on_what_it_is_told_to(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, fails, code in (
        ("text.txt", ["--fail-on", "contradicted"], 1),
        ("text.txt", ["--fail-on", "new"], 0),
        ("good.txt", ["--fail-on", "contradicted", "--fail-on", "new"], 0),
    ):
        assert main(["check", text, "--topic", "Norway", *fails]) == code
    assert main(["check", "--jsonl", "texts.jsonl", "--fail-on", "new"]) == 1
    assert capsys.readouterr().out.count('"format":"lrlm check"') == 2


def test_lines_and_folders_say_the_same(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["check", "--jsonl", "texts.jsonl", "--out", "checked.jsonl"]) == 0
    (here / "many").mkdir()
    (here / "many" / "a.jsonl").write_bytes((here / "texts.jsonl").read_bytes())
    assert main(["check", "--jsonl", "many", "--out", "results"]) == 0
    lines = (here / "checked.jsonl").read_text()
    assert (here / "results" / "a.jsonl").read_text() == lines
    assert [json.loads(line)["id"] for line in lines.splitlines()] == ["one", "two"]
    content = (here / "texts.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    capsys.readouterr()
    assert main(["check", "--jsonl", "-"]) == 0
    assert capsys.readouterr().out == lines


def test_a_trusted_graph_has_no_gaps(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--jsonl", "texts.jsonl", "--out"]
    assert main(["check", *given, "neither.jsonl"]) == 0
    assert main(["check", *given, "trusted.jsonl", "--trust", "graph"]) == 0
    assert '"new"' in (here / "neither.jsonl").read_text()
    assert '"new"' not in (here / "trusted.jsonl").read_text()
    (here / "many").mkdir()
    (here / "many" / "a.jsonl").write_bytes((here / "texts.jsonl").read_bytes())
    folder = ["--jsonl", "many", "--out", "results"]
    assert main(["check", *folder, "--trust", "graph"]) == 0
    assert (here / "results" / "a.jsonl").read_text() == (here / "trusted.jsonl").read_text()
    capsys.readouterr()
    assert "begun with another trust" in refused(capsys, *folder)


def test_bad_input_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "words.txt").write_text("Nothing of this is known.")
    assert "what is the text about?" in refused(capsys, "words.txt")
    assert "miniworld has no topic" in refused(capsys, "text.txt", "--topic", "Ruritania")
    assert "neither a run" in refused(capsys, "nothing.txt", "--topic", "Norway")
    assert "leave out --format" in refused(capsys, "--jsonl", "texts.jsonl", "--format", "html")
    (here / "many").mkdir()
    (here / "many" / "a.jsonl").write_text("")
    assert "--fail-on is for one text" in refused(
        capsys, "--jsonl", "many", "--out", "results", "--fail-on", "new"
    )


def test_new_facts_are_suggested(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [(f"Land {n}", "borders", f"Land {n + m}") for n in range(30) for m in (1, 2)]
    facts += [("Norway", "borders", "Sweden"), ("Norway", "capital", "Oslo")]
    KnowledgeGraph.from_triples(facts, out=here / "kg")
    given = ["kg", "suggest", str(SHIPPED), "texts.jsonl", "--graph", "kg"]
    assert main([*given, "--ntriples", "new.nt"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    germany = next(each for each in found if each["name"] == "Germany")
    assert germany["triple"] == ["Norway", "borders", "Germany"]
    assert germany["evidence"][0]["document"] == "two"
    assert "<urn:lrlm:Norway> <urn:lrlm:borders> <urn:lrlm:Germany> ." in (
        (here / "new.nt").read_text().splitlines()
    )
