"""`lrlm evaluate --gold` on corpora that were imported from DocRED."""

import json
from pathlib import Path
from typing import Any

import pytest

from lrlm.cli import main
from lrlm.corpora.importers import DocRed, import_corpus
from lrlm.training.train import train
from tests.training import tiny
from tests.training.tiny import SETTINGS


def mention(sentence: int, start: int, end: int) -> dict[str, Any]:
    return {"name": "x", "sent_id": sentence, "pos": [start, end], "type": "LOC"}


def document(number: int, river: str) -> dict[str, Any]:
    """A town on a river in a country that two relations lead to; the river has a second name."""
    return {
        "title": f"Town{number}",
        "sents": [
            [f"Town{number}", "lies", "on", "the", river, "River", "in", "Germany", "."],
            [river, "and", "the", "town", "are", "old", "."],
        ],
        "vertexSet": [
            [mention(0, 0, 1)],
            [mention(0, 4, 6), mention(1, 0, 1)],
            [mention(0, 7, 8)],
        ],
        "labels": [
            {"h": 0, "t": 1, "r": "P206"},
            {"h": 0, "t": 2, "r": "P17"},
            {"h": 0, "t": 2, "r": "P27"},
        ],
    }


def write(folder: Path, name: str, documents: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(documents))
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with training and dev documents, and a run on it."""
    folder = tmp_path_factory.mktemp("home")
    write(folder / "in", "train_annotated", [document(n, "Rhine") for n in range(12)])
    write(folder / "in", "dev", [document(n, "Elbe") for n in range(12, 16)])
    corpus = import_corpus(folder / "docred", DocRed(folder / "in"))
    train(
        corpus.folder,
        folder / "lrlm",
        model="lrlm",
        configure=tiny.configured(*SETTINGS, "training.epochs=1"),
        features_cache=folder / "features",
    )
    return folder


def gold_of(arguments: list[str], file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    assert main(["evaluate", *arguments, "--gold", "--json", str(file)]) == 0
    written = json.loads(file.read_text())
    (run,) = written["runs"]
    return written["gold"], run["gold"]


def test_the_dev_documents_are_evaluated(home: Path, tmp_path: Path) -> None:
    gold, run = gold_of([str(home / "lrlm"), "--split", "valid"], tmp_path / "e.json")
    assert gold["documents"] == 4
    # The town, the river twice and the country, whose relation is not known.
    assert gold["mentions"] == {"span": 16, "object": 16, "relation": 12}
    assert gold["unreachable"] == {"span": 0, "object": 0, "relation": 0}
    # "Elbe" within "Elbe River" is one candidate too many.
    every = gold["every_candidate"]
    assert {level: every[level]["claimed"] for level in every} == {
        "span": 20,
        "object": 20,
        "relation": 16,
    }
    assert gold["longest_match"]["object"]["f1"] == 1.0
    assert run["best_path"]["span"]["gold"] == 16


def test_another_import_is_evaluated_by_its_folder(home: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "in", "dev_revised", [document(n, "Oder") for n in range(20, 23)])
    corpus = import_corpus(tmp_path / "other", DocRed(other))
    arguments = [str(home / "lrlm"), "--corpus", str(corpus.folder), "--split", "valid"]
    gold, run = gold_of(arguments, tmp_path / "e.json")
    assert gold["mentions"]["span"] == run["best_path"]["span"]["gold"] == 12
