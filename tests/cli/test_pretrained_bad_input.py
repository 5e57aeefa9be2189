"""What is wrong with a pretrained language model is told in one line, and nothing stays behind."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import lrlm
from lrlm.cli import main
from tests.generators.tiny_backbones import save_tiny_llama
from tests.generators.tiny_language_models import byte_level_bpe
from tests.golden import towns


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a language model of a few kilobytes, and a run on it."""
    folder = tmp_path_factory.mktemp("world")
    towns.write(folder / "raw")
    lrlm.build_corpus(
        folder / "corpus",
        triples=folder / "raw" / "triples.tsv",
        forms=folder / "raw" / "forms.tsv",
        train=folder / "raw" / "train.jsonl",
        valid=folder / "raw" / "valid.jsonl",
        test=folder / "raw" / "test.jsonl",
    )
    save_tiny_llama(folder / "lm", byte_level_bpe(), width=16, spread=0.1)
    assert main(train(folder, folder / "lm", folder / "run")) == 0
    return folder


def train(world: Path, source: Path, out: Path) -> list[str]:
    return [
        "train", str(world / "corpus"), "--out", str(out), "--model", "lrlm",
        "--backbone", "pretrained", "--set", f"model.backbone.source={source}",
        "--set", "training.epochs=1", "--set", "model.backbone.context=32",
        "--features-cache", str(world / "features"),
    ]  # fmt: skip


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """Give the one line of an error."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("lrlm: ")
    assert sum(line.startswith("lrlm: ") for line in lines) == 1
    assert not any("Traceback" in line for line in lines)
    return lines[-1]


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def with_settings(**settings: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))

    return change


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def truncated(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", 5000)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without("tokenizer.json"), "has no tokenizer"),
        (with_settings(model_type="t5", architectures=["T5Model"]), "no causal language model"),
        (pickled, "can run code"),
        (with_settings(auto_map={"AutoModelForCausalLM": "own.Model"}), "code"),
        (truncated, "truncated"),
    ],
)
def test_a_language_model_that_cannot_be_used(
    world: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    said: str,
) -> None:
    source = tmp_path / "lm"
    shutil.copytree(world / "lm", source)
    damage(source)
    assert main(train(world, source, tmp_path / "out")) == 2
    line = told(capsys)
    assert said in line
    assert str(source) in line
    assert not (tmp_path / "out").exists()


def test_another_language_model_than_that_of_the_run(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, run = tmp_path / "lm", tmp_path / "run"
    shutil.copytree(world / "lm", source)
    assert main(train(world, source, run)) == 0
    save_tiny_llama(source, byte_level_bpe(), width=16, seed=5)
    capsys.readouterr()
    assert main(["evaluate", str(run), "--corpus", str(world / "corpus")]) == 2
    assert "is not the one that" in told(capsys)


def test_no_room_for_what_was_read(
    world: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    arguments = train(world, world / "lm", tmp_path / "out")
    arguments[-1] = str(tmp_path / "features")
    assert main(arguments) == 2
    assert "no room left in" in told(capsys)


def test_a_text_longer_than_the_context_is_read_in_blocks(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, topic = tmp_path / "text.txt", tmp_path / "topic.json"
    text.write_text("Aldermoor lies on the Amber. " * 40)
    topic.write_text(
        json.dumps(
            {
                "id": "Aldermoor",
                "names": ["Aldermoor"],
                "relations": [{"type": "river", "object": "Amber"}],
            }
        )
    )
    arguments = ["annotate", str(world / "run"), str(text), "--topic", str(topic)]
    assert main([*arguments, "--format", "json"]) == 0
    spans = json.loads(capsys.readouterr().out)["spans"]
    assert [span["text"] for span in spans] == ["Aldermoor", "Amber"] * 40
    assert main([*arguments, "--longest", "100"]) == 2
    assert "more than the 100 characters" in told(capsys)
