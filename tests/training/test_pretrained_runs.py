"""Runs on a pretrained language model: trained, resumed, packed, evaluated, used."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import lrlm
from lrlm.annotation.annotation import ExplanationKind
from lrlm.errors import FormatError, InputError, StoppedError
from lrlm.models.kept_readings import PARTS, SCORES, STATES, ReadingStore
from lrlm.runs.packing import pack
from lrlm.runs.run import WEIGHTS, Run
from lrlm.training.environment import Reporter
from lrlm.training.reading_once import RECORD, OnceReader
from tests.generators.tiny_backbones import save_tiny_llama
from tests.generators.tiny_language_models import byte_level_bpe
from tests.golden import towns
from tests.training import tiny

TOPIC = lrlm.Topic(
    "Aldermoor",
    names=["Aldermoor"],
    relations=[lrlm.Relation("river", "Amber"), lrlm.Relation("founded", "1200")],
)
TEXT = "Aldermoor lies on the Amber, an Amber-based town of 1200."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of towns, and a language model of a few kilobytes with random weights."""
    folder = tmp_path_factory.mktemp("pretrained")
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
    return folder


Train = Callable[..., Path]


@pytest.fixture
def train(world: Path, tmp_path: Path) -> Train:
    """Train a run in a folder of the test, with a cache of its own unless told otherwise."""

    def trained(
        name: str = "run",
        *,
        model: str = "lrlm",
        tuning: str = "frozen",
        facts: bool = False,
        plus: bool = False,
        epochs: int = 2,
        cache: Path = tmp_path / "cache",
        source: Path | None = None,
        **more: object,
    ) -> Path:
        def configure(config: lrlm.RunConfig) -> lrlm.RunConfig:
            return replace(
                config,
                model=replace(
                    config.model,
                    facts_in_context=facts,
                    relations=replace(config.model.relations, named=plus, shapes=plus),
                ),
                training=replace(config.training, epochs=epochs, batch_size=4, log_updates=1),
            )

        backbone = lrlm.Pretrained(str(source or world / "lm"), tuning=tuning, lora_rank=2)
        out = tmp_path / name
        lrlm.train(
            world / "corpus",
            out,
            model=model,
            backbone=backbone,
            configure=configure,
            features_cache=cache,
            **more,  # type: ignore[arg-type]
        )
        return out

    return trained


def weights(run: Path) -> dict[str, torch.Tensor]:
    model = Run.open(run).model
    return {name: each.detach().clone() for name, each in model.named_parameters()}


@pytest.mark.parametrize(
    ("model", "tuning", "facts"),
    [
        ("vanilla", "frozen", False),
        ("alias", "frozen", False),
        ("prompted", "frozen", False),
        ("lrlm", "frozen", False),
        ("lrlm", "frozen", True),
        ("lrlm", "lora", True),
        ("vanilla", "full", False),
    ],
)
def test_a_run_is_trained_and_used(model: str, tuning: str, facts: bool, train: Train) -> None:
    run = train(model=model, tuning=tuning, facts=facts)
    opened = lrlm.load(run)
    score = opened.score(TEXT, TOPIC)
    assert 0 < score.nats < 1000
    assert score.tokens > score.words
    (text,) = opened.generate(TOPIC, samples=1, seed=1, max_length=12)
    assert len(text.tokens) <= 12
    assert text.log_prob <= text.marginal_log_prob + 1e-4
    if model == "lrlm":
        annotation = opened.annotate(TEXT, TOPIC)
        assert [span.text for span in annotation.spans] == ["Aldermoor", "Amber", "Amber", "1200"]
        assert annotation.nats == pytest.approx(score.nats, abs=1e-4)


def test_what_was_named_is_known_beside_kept_readings(train: Train) -> None:
    opened = lrlm.load(train(plus=True))
    assert opened.run.config.model.relations.named
    score = opened.score(TEXT, TOPIC)
    assert opened.annotate(TEXT, TOPIC).nats == pytest.approx(score.nats, abs=1e-4)
    for text in opened.generate(TOPIC, samples=3, seed=1, max_length=20, prompt="Amber"):
        assert text.log_prob <= text.marginal_log_prob + 1e-4


def test_nothing_is_learned_where_nothing_can_learn(train: Train) -> None:
    run = train(model="vanilla")
    assert not weights(run)
    assert (run / WEIGHTS).exists()


def test_nklm_is_refused(train: Train) -> None:
    with pytest.raises(InputError, match="the models that fit it are: vanilla, alias, prompted"):
        train(model="nklm")


def test_runs_with_different_tokens_stand_in_one_table(world: Path, train: Train) -> None:
    runs = [train(name, model=name) for name in ("vanilla", "prompted", "lrlm")]
    words = lrlm.train(
        world / "corpus", runs[0].parent / "lstm", minutes=0.05, features_cache=runs[0].parent / "f"
    )
    evaluation = lrlm.evaluate([*runs, words.folder], corpus=world / "corpus", documents=4)
    counted = {sum(score.words for score in run.scores) for run in evaluation.runs}
    assert len(counted) == 1
    assert {run.backbone for run in evaluation.runs} == {"pretrained", "lstm"}
    assert evaluation.runs[2].significance


def test_later_runs_find_what_was_read(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train("first")
    read: list[str] = []
    original = OnceReader._read_split

    def noted(self: OnceReader, split: str, members: Any, store: ReadingStore, most: Any) -> None:
        before = store.documents
        original(self, split, members, store, most)
        read.append(f"{split} {store.documents - before}")

    monkeypatch.setattr(OnceReader, "_read_split", noted)
    second = train("second")
    assert read == ["valid 0", "train 0"]
    assert all(torch.equal(value, weights(second)[name]) for name, value in weights(first).items())


@pytest.mark.parametrize("file", [STATES, SCORES, PARTS])
def test_damaged_readings_are_read_again(file: str, train: Train, tmp_path: Path) -> None:
    first = train("first")
    for path in (tmp_path / "cache").glob(f"readings-*/{file}"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0x40
        path.write_bytes(content)
    second = train("second")
    assert all(torch.equal(value, weights(second)[name]) for name, value in weights(first).items())


def test_what_was_written_but_not_listed_is_forgotten(train: Train, tmp_path: Path) -> None:
    first = train("first")
    for path in (tmp_path / "cache").glob("readings-*/*.f*"):
        path.write_bytes(path.read_bytes() + b"half a part")
    second = train("second")
    assert weights(first).keys() == weights(second).keys()


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(train: Train) -> None:
    whole = train("whole", epochs=3)

    class EnoughError(Exception):
        """Somebody pulled the plug."""

    def stop(message: str) -> None:
        if message.startswith("epoch 1"):
            raise EnoughError

    with pytest.raises(EnoughError):
        train("parts", epochs=3, reporter=Reporter(message=stop))
    parts = train("parts", epochs=3, resume=True)
    assert all(torch.equal(value, weights(parts)[name]) for name, value in weights(whole).items())


def test_minutes_are_divided_between_reading_and_learning(train: Train) -> None:
    told: list[str] = []
    run = train(minutes=0.05, epochs=1000, reporter=Reporter(message=told.append))
    assert any("articles once in" in line and "left to learn" in line for line in told)
    record = json.loads((run / RECORD).read_text(encoding="utf-8"))
    assert record["documents"]["train"] > 0


def test_ctrl_c_while_reading_keeps_what_was_read(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lrlm.training import interruption

    monkeypatch.setattr(interruption.Interruption, "is_wanted", property(lambda _self: True))
    with pytest.raises(StoppedError, match="what was read is kept, and the run can be resumed"):
        train()


def test_a_packed_run_carries_its_language_model(world: Path, train: Train, tmp_path: Path) -> None:
    source = tmp_path / "lm"
    shutil.copytree(world / "lm", source)
    run = train(source=source)
    expected = lrlm.load(run).score(TEXT, TOPIC).nats
    packed = pack(run, tmp_path / "packed", with_backbone=True).folder
    shutil.rmtree(source)
    with pytest.raises(InputError, match=r"needs the language model .* as 'backbone'"):
        lrlm.load(run)
    assert lrlm.load(packed).score(TEXT, TOPIC).nats == pytest.approx(expected, rel=1e-2)
    shutil.copytree(packed / "backbone", run / "backbone")
    assert lrlm.load(run).score(TEXT, TOPIC).nats == pytest.approx(expected, rel=1e-6)


def test_another_language_model_is_refused(world: Path, train: Train, tmp_path: Path) -> None:
    source = tmp_path / "lm"
    shutil.copytree(world / "lm", source)
    run = train(source=source)
    save_tiny_llama(source, byte_level_bpe(), width=16, seed=5)
    with pytest.raises(InputError, match=r"is not the one that .* was trained with"):
        lrlm.load(run)


def test_a_manifest_without_a_language_model_is_refused(train: Train) -> None:
    run = train()
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    del manifest["pretrained"], manifest["files"], manifest["sha256"]
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(FormatError, match="does not name its language model"):
        Run.open(run)


def test_no_room_for_readings_is_told(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    with pytest.raises(InputError, match=r"no room left in .* to keep what the language model"):
        train()


def test_unseen_objects_are_not_all_alike(train: Train) -> None:
    run = Run.open(train())
    topic = lrlm.Topic(
        "X",
        relations=[
            lrlm.Relation("never seen", "Zanzibar"),
            lrlm.Relation("never seen", "Quito"),
            lrlm.Relation("nor this", "Quito"),
        ],
    )
    (window,) = run.collator.windows([run.encoder.encode_one(run.link("X Quito.", topic))])
    relations = window.relations
    assert relations is not None
    vectors_1RW = run.model.vectors_of(relations)  # type: ignore[operator]
    for one, other in ((1, 2), (1, 3), (2, 3)):
        assert not torch.allclose(vectors_1RW[0, one], vectors_1RW[0, other])


def test_a_small_backward_model_is_the_partner_of_a_pretrained_one(
    train: Train, world: Path, tmp_path: Path
) -> None:
    """One reads subwords and the other words; the lattice is that of the subwords."""
    forward = train()
    backward = lrlm.train(
        world / "corpus",
        tmp_path / "backward",
        direction="backward",
        configure=tiny.configured(*tiny.SETTINGS),
        features_cache=tmp_path / "cache",
    )
    alone, pair = lrlm.load(forward), lrlm.load(forward, backward=backward, backward_weight=0.5)
    one, both = (each.annotate(TEXT, TOPIC, copy_odds=0) for each in (alone, pair))
    assert [span.text for span in both.spans] == ["Aldermoor", "Amber", "Amber", "1200"]
    assert both.nats == pytest.approx(one.nats, abs=1e-6)
    assert pair.score(TEXT, TOPIC).nats == pytest.approx(alone.score(TEXT, TOPIC).nats, abs=1e-6)

    def words(annotation: lrlm.Annotation) -> list[float]:
        """How probable it is that each span was written word by word."""
        return [
            explanation.probability
            for span in annotation.spans
            for explanation in span.explanations
            if explanation.kind is ExplanationKind.WORDS
        ]

    assert words(one) != pytest.approx(words(both), rel=1e-3)
    evaluation = lrlm.evaluate(forward, backward=backward, corpus=world / "corpus")
    assert evaluation.runs[0].direction == "both"
