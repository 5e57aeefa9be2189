"""`lrlm generate`, as a user runs it on runs that were trained for a second."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.corpora.corpus import Corpus
from lrlm.model import load
from lrlm.training.train import train
from tests.training import tiny

TOPIC = {
    "id": "T",
    "names": ["<b>Town & 3</b>"],
    "relations": [{"type": 'river "<i>"', "object": "Oder", "forms": ["Oder River", "Oder"]}],
}
KINDS = ("vanilla", "alias", "nklm", "lrlm")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, runs of all models, and topics."""
    folder = tmp_path_factory.mktemp("home")
    corpus = tiny.write_corpus(folder)
    for kind in KINDS:
        train(
            corpus,
            folder / kind,
            model=kind,
            configure=tiny.configured(*tiny.SETTINGS, "training.epochs=1"),
            features_cache=folder / "features",
        )
    (folder / "topic.json").write_text(json.dumps(TOPIC))
    (folder / "lonely.json").write_text(json.dumps({"id": "L", "names": ["?"]}))
    (folder / "broken.json").write_text(json.dumps({"names": ["Town 3"]}))
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def generated(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["generate", *arguments, "--max-length", "12"])
    said, errors = capsys.readouterr()
    assert code == 0, errors
    return said


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Give the one line that a command was refused with."""
    assert main(["generate", *arguments]) == 2
    said, errors = capsys.readouterr()
    assert said == ""
    assert errors.count("\n") == 1
    return errors


@pytest.mark.parametrize("kind", KINDS)
def test_json_says_where_every_piece_came_from(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    arguments = (kind, "--topic", "Town3", "-n", "4", "--seed", "5", "--format", "json")
    content = json.loads(generated(capsys, *arguments))
    assert (content["model"], content["topic"], content["seed"]) == (kind, "Town3", 5)
    assert content["options"]["max_length"] == 12
    assert len(content["samples"]) == 4
    for sample in content["samples"]:
        assert sample["is_joint"] == (kind == "nklm")
        assert 0 < sample["written_tokens"] == len(sample["tokens"]) <= 12
        assert all(
            sample["text"][piece["start"] : piece["end"]] == piece["text"]
            for piece in sample["pieces"]
        )
    assert json.loads(generated(capsys, *arguments)) == content
    topic = Corpus.open("corpus").topic("Town3")
    texts = load(kind, device="cpu").generate(topic, samples=4, seed=5, max_length=12)
    assert [text.text for text in texts] == [sample["text"] for sample in content["samples"]]


def test_text_has_marks_and_a_file_has_no_colours(
    here: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("lrlm", "--topic", "topic.json", "--must-use", 'river "<i>"=Oder', "-n", "2")
    said = generated(capsys, *arguments)
    assert said.count('[river "<i>"]') >= 2
    assert "perplexity" in said
    generated(capsys, *arguments, "--out", str(tmp_path / "texts.txt"))
    assert '[river "<i>"]' in (tmp_path / "texts.txt").read_text()
    assert "\x1b" not in (tmp_path / "texts.txt").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["texts.txt"]


def test_a_page_shows_text_as_text(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.types: set[str | None] = set()

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.add(tag)
            self.types |= {value for name, value in attrs if name == "data-type"}

    wishes = ("--must-use", "@title", "--must-use", 'river "<i>"')
    page = generated(capsys, "lrlm", "--topic", "topic.json", "--format", "html", *wishes)
    reader = Reader()
    reader.feed(page)
    assert not reader.tags & {"b", "i", "script", "link", "img"}
    assert reader.types == {"title", 'river "<i>"'}
    assert "http:" not in page
    assert "https:" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_shows_one_text_and_a_topic_may_know_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    said = generated(capsys, kind, "--topic", "lonely.json", "--stream", "--prompt", "It was")
    assert said.startswith("It was ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lrlm"], "--topic ID"),
        (["lrlm", "--topic", "Town33"], "has no topic 'Town33'; did you mean 'Town3'"),
        (["lrlm", "--topic", "no.json"], "no.json: cannot be read"),
        (["lrlm", "--topic", "broken.json"], "broken.json: lacks the field 'id'"),
        (["corpus", "--topic", "Town3"], "corpus is not an lrlm run"),
        (["no/such/run", "--topic", "Town3"], "no/such/run is not an lrlm run"),
        (["lrlm", "--topic", "Town3", "--format", "pdf"], "'pdf' is not one of"),
        (
            ["lrlm", "--topic", "Town3", "--temperature", "-1"],
            "temperature must be a number above 0",
        ),
        (
            ["lrlm", "--topic", "Town3", "--temperature", "warm"],
            "Invalid value for '--temperature'",
        ),
        (["lrlm", "--topic", "Town3", "--top-p", "1.5"], "top_p must be above 0 and at most 1"),
        (["lrlm", "--topic", "Town3", "--top-k", "0"], "top_k must be"),
        (["lrlm", "--topic", "Town3", "--min-length", "300"], "min_length (300) is more than"),
        (["lrlm", "--topic", "Town3", "--must-use", "rivers"], "did you mean 'river'"),
        (["lrlm", "--topic", "Town3", "--must-use", "river=Elbe"], "no 'river' named 'Elbe'"),
        (["lrlm", "--topic", "Town3", "--must-use", "=Oder"], "--must-use =Oder"),
        (["lrlm", "--topic", "Town3", "--must-use", "river="], "or TYPE=OBJECT"),
        (["vanilla", "--topic", "Town3", "--must-use", "river"], "uses no relations"),
        (["lrlm", "--topic", "Town3", "-n", "0"], "number of samples"),
        (["lrlm", "--topic", "Town3", "--stream", "--format", "json"], "--stream shows one text"),
        (["lrlm", "--topic", "Town3", "--out", "no/such/file"], "no/such is not a folder"),
        (["lrlm", "--topic", "T", "--graph", "x", "--corpus", "y"], "in one place"),
        (["lrlm", "--topic", "Town3", "--device", "abacus"], "abacus"),
    ],
)
def test_bad_input_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in refused(capsys, *arguments)
