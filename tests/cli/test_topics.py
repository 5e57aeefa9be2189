"""`lrlm topics`, and annotation of texts without a topic."""

import json
from pathlib import Path
from typing import Any

import pytest

from lrlm import KnowledgeGraph
from lrlm.cli.app import main

TEXT = "Norway is a country in Europe. Its capital is Oslo."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "nothing.txt").write_text("Nothing is said here.")
    (tmp_path / "several.txt").write_text(
        "The capital is Oslo. Stockholm is the capital, too, and Helsinki."
    )
    lines = [{"id": "a", "text": TEXT}, {"text": "Oslo.", "topic": "Norway"}]
    (tmp_path / "texts.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    KnowledgeGraph.from_triples(
        [("Q20", "capital", "Q585"), ("Q34", "capital", "Q1754")],
        names={"Q20": ["Norway"], "Q34": ["Sweden"], "Q585": ["Oslo"], "Q1754": ["Stockholm"]},
        out=tmp_path / "kg",
    )
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert main(list(arguments)) == 0
    return capsys.readouterr()


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(said(capsys, *arguments, "--format", "json")[0])
    return content


def test_topics_are_ranked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown, _ = said(capsys, "topics", "text.txt")
    assert "Norway" in shown
    assert "none of them" in shown
    content = json_of(capsys, "topics", "text.txt", "-n", "2")
    assert content["topics"][0]["id"] == "Norway"
    assert len(content["topics"]) == 2
    content = json_of(capsys, "topics", "text.txt", "--graph", "kg")
    assert [topic["id"] for topic in content["topics"]] == ["Q20"]
    said(capsys, "topics", "text.txt", "--out", "ranking.txt")
    assert "Norway" in (here / "ranking.txt").read_text()


def test_many_texts_are_ranked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown, told = said(capsys, "topics", "--jsonl", "texts.jsonl", "--graph", "kg")
    results = [json.loads(line) for line in shown.splitlines()]
    assert [each["id"] for each in results] == ["a", ""]
    assert [each["topics"][0]["id"] for each in results] == ["Q20", "Q20"]
    assert "2 texts" in told


def test_annotation_finds_the_topic_and_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, told = said(capsys, "annotate", "text.txt", "--graph", "kg")
    assert "Q20 (found, " in shown
    assert told == ""
    content = json_of(capsys, "annotate", "text.txt", "--graph", "kg")
    assert content["topic"] == "Q20"
    assert content["topic_probability"] > 0.9
    page, _ = said(capsys, "annotate", "text.txt", "--graph", "kg", "--format", "html")
    assert "topic found (" in page
    given = json_of(capsys, "annotate", "text.txt", "--topic", "Norway")
    assert "topic_probability" not in given


def test_annotation_of_lines_and_folders_finds_topics(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, _ = said(capsys, "annotate", "--jsonl", "texts.jsonl", "--graph", "kg")
    found, given = map(json.loads, shown.splitlines())
    assert (found["topic"], given["topic"]) == ("Q20", "Q20")
    assert found["topic_probability"] > 0.9
    assert "topic_probability" not in given
    (here / "texts").mkdir()
    (here / "texts.jsonl").rename(here / "texts" / "one.jsonl")
    said(capsys, "annotate", "--jsonl", "texts", "--graph", "kg", "--out", "results")
    assert (here / "results" / "one.jsonl").read_text() == shown


def test_a_doubt_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, told = said(capsys, "annotate", "several.txt")
    assert "warning: it is not sure that the text is about" in told
    assert told.count("%") >= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate", "nothing.txt"], "No name of a topic"),
        (["annotate", "nothing.txt"], "pass --topic ID"),
        (["annotate", "text.txt", "--endpoint", "wikidata"], "name one with --graph KG"),
        (["topics", "text.txt", "--graph", "nowhere"], "nowhere"),
        (["topics"], "there is no text"),
        (["topics", "text.txt", "-n", "0"], "--limit"),
    ],
)
def test_what_cannot_be_found_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    _, told = capsys.readouterr()
    assert message in told
    assert told.count("\n") == 1


def test_a_text_without_names_has_no_topic(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json_of(capsys, "topics", "nothing.txt")
    assert (content["topics"], content["none"]) == ([], 1.0)
