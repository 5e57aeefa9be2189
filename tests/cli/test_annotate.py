"""`lrlm annotate`, as a user runs it on a run that was trained for a second."""

import gzip
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.cli.outputs import STREAM
from lrlm.model import load
from lrlm.runs import topics as topics_module
from lrlm.runs.topics import topics_for
from lrlm.training.train import train
from tests.training import tiny

TEXT = "Town 3 lies on the Oder River.\r\n\r\nIt was founded in 1203. \U0001f600\n"
TOPIC = {
    "id": "T",
    "names": ["Town 3"],
    "relations": [{"type": "river", "object": "Oder", "forms": ["Oder River", "Oder"]}],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, two runs, a text and a topic."""
    folder = tmp_path_factory.mktemp("home")
    corpus = tiny.write_corpus(folder)
    for kind in ("lrlm", "vanilla"):
        train(
            corpus,
            folder / kind,
            model=kind,
            configure=tiny.configured(*tiny.SETTINGS, "training.epochs=1"),
            features_cache=folder / "features",
        )
    (folder / "text.txt").write_bytes(TEXT.encode())
    (folder / "topic.json").write_text(json.dumps(TOPIC))
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def annotated(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["annotate", *arguments])
    said, errors = capsys.readouterr()
    assert code == 0, errors
    return said


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Give the one line that a command was refused with."""
    assert main(["annotate", *arguments]) == 2
    said, errors = capsys.readouterr()
    assert said == ""
    assert errors.count("\n") == 1
    return errors


def from_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_json_has_every_span_of_exactly_the_text(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = annotated(capsys, "lrlm", "text.txt", "--topic", "Town3", "--format", "json")
    content = json.loads(said)
    assert content["text"] == TEXT
    assert content["topic"] == content["id"] == "Town3"
    texts = [span["text"] for span in content["spans"]]
    assert texts == ["Town 3", "Oder", "Oder River", "1203"]
    for span in content["spans"]:
        assert TEXT[span["start"] : span["end"]] == span["text"]
        assert sum(each["probability"] for each in span["explanations"]) == pytest.approx(1)
    some = annotated(
        capsys, "lrlm", "text.txt", "--topic", "Town3", "--format", "json", "--threshold", "1"
    )
    assert json.loads(some)["threshold"] == 1


@pytest.mark.parametrize(
    ("format_", "sign"),
    [("text", "perplexity"), ("html", "<!doctype html>"), ("conll", "# topic = T"), ("json", "{")],
)
def test_every_format_is_written_to_files_and_shown(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str, sign: str
) -> None:
    out = tmp_path / "out"
    asked = ["lrlm", "text.txt", "--topic", "topic.json", "--format", format_]
    shown = annotated(capsys, *asked)
    assert sign in shown
    assert annotated(capsys, *asked, "--out", str(out)) == ""
    assert sign in out.read_bytes().decode()
    assert "\x1b" not in out.read_text()
    if format_ != "text":  # which is laid out for the width of what it is shown on
        assert out.read_bytes().decode() == shown
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_text_is_the_format_and_standard_input_a_place(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from_stdin(monkeypatch, b"\xef\xbb\xbf" + TEXT.encode())
    said = annotated(capsys, "lrlm", "-", "--topic", "topic.json", "--threshold", "0")
    assert "T  " in said
    assert "river → Oder" in said
    assert said == annotated(
        capsys, "lrlm", "text.txt", "--topic", "topic.json", "--threshold", "0", "--out", "-"
    )


def test_without_a_run_the_shipped_one_is_used(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lrlm.model.SHIPPED", here / "lrlm")
    monkeypatch.setattr(topics_module, "SHIPPED", here / "lrlm")
    (here / "norway.txt").write_text("Norway is in Europe.")
    said = annotated(capsys, "norway.txt", "--topic", "Norway", "--format", "json")
    assert "Europe" in [span["text"] for span in json.loads(said)["spans"]]
    from_stdin(monkeypatch, b"Norway")
    assert annotated(capsys, STREAM, "--topic", "Norway")
    assert "did you mean 'Norway'" in refused(capsys, "norway.txt", "--topic", "Norwey")


def test_topics_can_lie_elsewhere(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, text = str(here / "lrlm"), str(here / "text.txt")
    graph = tmp_path / "kg"
    (tmp_path / "t.tsv").write_text("Q1\tcapital\tQ2\n")
    (tmp_path / "f.tsv").write_text("Q1\tTown 3\nQ2\tOder River\n")
    sources = [str(tmp_path / "t.tsv"), str(tmp_path / "f.tsv")]
    assert main(["kg", "build", *sources, "--out", str(graph)]) == 0
    capsys.readouterr()
    said = annotated(
        capsys, run, text, "--topic", "Town 3", "--graph", str(graph), "--format", "json"
    )
    assert json.loads(said)["topic"] == "Q1"
    said = annotated(
        capsys, run, text, "--topic", "Town3", "--corpus", str(here / "corpus"), "--format", "conll"
    )
    assert "# topic = Town3" in said
    both = ("--corpus", str(here / "corpus"), "--graph", str(graph))
    assert "in one place" in refused(capsys, run, text, "--topic", "Town3", *both)
    monkeypatch.setattr("lrlm.runs.topics._candidates", lambda _run: iter(()))
    said = refused(capsys, run, text, "--topic", "Town3")
    assert "the topic 'Town3' cannot be looked up" in said
    assert "--corpus DIR" in said
    assert "--graph KG" in said
    assert annotated(capsys, run, text, "--topic", str(here / "topic.json"))


def test_topics_without_relations_are_fine(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lonely.json"
    path.write_text(json.dumps({"id": "lonely", "names": ["Town 3"]}))
    said = annotated(capsys, "lrlm", "text.txt", "--topic", str(path), "--format", "json")
    assert [span["text"] for span in json.loads(said)["spans"]] == ["Town 3"]
    path.write_text(json.dumps({"id": "lonely", "names": ["?!"]}))
    for format_ in ("json", "html", "conll", "text"):
        assert annotated(capsys, "lrlm", "text.txt", "--topic", str(path), "--format", format_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lrlm", "text.txt", "--topic", "Town33"], "has no topic 'Town33'; did you mean 'Town3'"),
        (["vanilla", "text.txt"], "holds a Vanilla LM"),
        (["lrlm", "text.txt", "--topic", "no.json"], "no.json: cannot be read"),
        (["lrlm", "--topic", "Town3"], "there is no text"),
        (["nothing", "--topic", "Town3"], "nothing is neither"),
        (["lrlm", "no.txt", "--topic", "Town3"], "no.txt: cannot be read"),
        (["text.txt", "lrlm", "--topic", "Town3"], "lrlm text.txt"),
        (["lrlm", "corpus", "--topic", "Town3"], "corpus: cannot be read"),
        (["corpus", "text.txt", "--topic", "Town3"], "is not an lrlm run"),
        (["nowhere", "text.txt", "--topic", "Town3"], "is not an lrlm run"),
        (["text.txt", "text.txt", "text.txt", "--topic", "x"], "too many arguments"),
        (["vanilla", "text.txt", "--topic", "Town3"], "holds a Vanilla LM"),
        (["lrlm", "text.txt", "--topic", "Town3", "--format", "xml"], "'xml' is not one of"),
        (["lrlm", "text.txt", "--topic", "Town3", "--threshold", "2"], "--threshold"),
        (["lrlm", "text.txt", "--topic", "Town3", "--longest", "5"], "more than the 5"),
        (["lrlm", "text.txt", "--topic", "Town3", "--out", "no/where"], "no is not a folder"),
        (["lrlm", "text.txt", "--topic", "Town3", "--out", "corpus"], "corpus is a folder"),
        (["lrlm", "text.txt", "--topic", "Town3", "--device", "abacus"], "abacus"),
        (["lrlm", "text.txt", "--topic", "Town3", "--corpus", "lrlm"], "is not an lrlm corpus"),
        (["lrlm", "text.txt", "--topic", "Town3", "--graph", "lrlm"], "lrlm is not an lrlm"),
        (["lrlm", "--jsonl", "no.jsonl"], "no.jsonl: cannot be read"),
        (["lrlm", "--jsonl", "corpus"], "--out DIR"),
        (["lrlm", "--jsonl", "x", "--topic", "Town3"], "leave out --topic"),
        (["lrlm", "--jsonl", "x", "--format", "html"], "leave out --format html"),
        (["text.txt", "--jsonl", "x"], "text.txt is not a run"),
        (["lrlm", "text.txt", "--jsonl", "x"], "with --jsonl"),
    ],
)
def test_mistakes_are_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the text is empty"),
        (b" \r\n\t", "the text is empty"),
        (b"x" * 1_048_576, "1,048,576 characters, more than the 1,000,000"),
        (b"x" * 4_000_100, "more than the 1,000,000"),
        (b"one\ntwo\x00three", "control character U+0000 at character 7 (line 2)"),
        (b"one\x1b[31m", "control character U+001B"),
        (b"caf\xe9", "not UTF-8 at byte 4"),
    ],
)
def test_what_is_no_text_is_one_line(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    message: str,
) -> None:
    from_stdin(monkeypatch, content)
    assert message in refused(capsys, "lrlm", "-", "--topic", "Town3")


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ({"names": ["x"]}, "lacks the field 'id'"),
        ({"id": "x", "relations": [{"type": "t"}]}, "relation 1: lacks the field 'object'"),
        ([], "must be a JSON object"),
    ],
)
def test_a_topic_that_lacks_something_is_one_line(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], topic: object, message: str
) -> None:
    (tmp_path / "t.json").write_text(json.dumps(topic))
    assert message in refused(capsys, "lrlm", "text.txt", "--topic", str(tmp_path / "t.json"))


def lines() -> bytes:
    """Two good lines, a bad one between them, and a last one without a line end."""
    made = [
        json.dumps({"id": "one", "text": TEXT, "topic": "Town3"}),
        json.dumps({"text": "", "topic": "Town3"}),
        json.dumps({"text": "Oder", "topic": TOPIC}),
        json.dumps({"id": 3, "text": "Town 4", "topic": "Town4"}),
    ]
    return "\n".join(made).encode()


def test_many_texts(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl"
    source.write_bytes(gzip.compress(lines()))
    code = main(["annotate", "lrlm", "--jsonl", str(source), "--out", str(out), "--max-bad", "0.3"])
    said, errors = capsys.readouterr()
    assert code == 0
    assert said == ""
    told, skipped, number = errors.splitlines()
    assert told == "Annotated 3 texts."
    assert number == "1 malformed line skipped"
    assert f"{source}:2: the text is empty" in skipped
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert [each["id"] for each in written] == ["one", "T", "3"]
    alone = annotated(capsys, "lrlm", "text.txt", "--topic", "Town3", "--format", "json")
    assert written[0]["text"] == TEXT
    assert written[0]["nats"] == pytest.approx(json.loads(alone)["nats"], rel=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl.gz", "out.jsonl"]


def test_too_many_bad_lines_leave_nothing(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(lines())
    out.write_text("as it was")
    said = refused(capsys, "lrlm", "--jsonl", str(source), "--out", str(out))
    assert f"{source}:2: the text is empty" in said
    assert "1 of 4 lines are bad" in said
    assert out.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_lines_stream_through(here: Path) -> None:
    command = [sys.executable, "-m", "lrlm", "annotate", "lrlm", "--jsonl", "-", "--max-bad", "0.3"]
    result = subprocess.run(command, input=lines(), capture_output=True, check=True)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["one", "T", "3"]
    assert b"standard input:2: the text is empty" in result.stderr


def test_ctrl_c_leaves_nothing_half_written(here: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "lrlm", "annotate", "lrlm", "--jsonl", "-", "--out", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < end:
            time.sleep(0.1)
        assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"stopped by Ctrl-C" in errors
    assert list(tmp_path.iterdir()) == []


def test_the_topics_of_a_run_are_looked_for_when_they_are_needed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = load(here / "lrlm", device="cpu").run
    topics = topics_for(run)
    assert topics.topic("Town3").names[0] == "Town 3"
    monkeypatch.setattr(topics_module, "training_corpus", None)  # it is looked for once
    assert topics.topic("Town4").id == "Town4"
