"""Runs: what training leaves behind, opened somewhere else without the corpus."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lrlm.artifacts import rewrite_manifests, verify
from lrlm.backbones import TransformerXlConfig
from lrlm.corpora import LinkOptions
from lrlm.corpora.corpus import Corpus
from lrlm.errors import FormatError, InputError
from lrlm.features import UnknownWordSpeller
from lrlm.heads import WordConfig
from lrlm.models import document_nats
from lrlm.runs.run import Run
from lrlm.runs.sizes import load_size
from lrlm.text import Profile
from lrlm.text.word_space import WordSpace
from lrlm.training.train import TrainedRun, train
from tests.corpora.small_world import digests
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("tiny"))


def run_training(
    corpus: Path, out: Path, *settings: str, resume: bool = False, **wishes: str
) -> TrainedRun:
    return train(
        corpus,
        out,
        configure=tiny.configured(*tiny.SETTINGS, *settings),
        **wishes,  # type: ignore[arg-type]
        resume=resume,
        features_cache=corpus.parent / "features",
    )


@pytest.fixture(scope="module")
def run_folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    run_training(corpus, out)
    return out


def test_the_folder_holds_what_the_design_says(run_folder: Path) -> None:
    assert {path.name for path in run_folder.iterdir()} == {
        "manifest.json", "config.toml", "vocabulary.json", "metrics.jsonl", "features",
        "checkpoints", "weights.safetensors", "schema.json",
    }  # fmt: skip
    assert len(list((run_folder / "checkpoints").iterdir())) == 2
    assert not [path for path in run_folder.rglob("*") if path.suffix in (".pkl", ".pt", ".bin")]
    manifest = json.loads((run_folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("lrlm run", 1)


def test_a_copy_works_without_the_corpus(corpus: Path, run_folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(run_folder, copied, ignore=shutil.ignore_patterns("checkpoints", "*.jsonl"))
    run = Run.open(copied)
    assert not run.model.training
    assert run.kind == "lrlm"
    assert run.link_options == LinkOptions(Profile.SPACES)
    assert run.config.training.window == 12
    assert run.corpus_fingerprint == Corpus.open(corpus).fingerprint
    documents = list(run.encoder.encode(Corpus.open(corpus).documents("valid")))
    found = document_nats(run.model, run.collator.windows(documents))
    nats = float((found.nats_B - found.end_nats_B).sum())
    nats_per_token = nats / sum(document.words for document in documents)
    lines = [json.loads(line) for line in (run_folder / "metrics.jsonl").read_text().splitlines()]
    best = min(line["nats_per_token"] for line in lines if line["kind"] == "valid")
    assert nats_per_token == pytest.approx(best, rel=1e-5)


def test_opening_leaves_random_numbers_alone(run_folder: Path) -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    Run.open(run_folder)
    assert torch.equal(before, torch.get_rng_state())


def test_words_of_the_vocabulary_are_not_spelled(run_folder: Path) -> None:
    run = Run.open(run_folder)
    assert isinstance(run.space, WordSpace)
    assert isinstance(run.space.speller, UnknownWordSpeller)
    assert run.features.speller is not None
    vocabulary, log_unknown = run.space.vocabulary, run.space.speller.log_unknown
    words = [word for word in vocabulary.words if word in vocabulary]
    mass = np.exp(run.features.speller.log_probs(words).astype(np.float64)).sum()
    assert log_unknown == pytest.approx(np.log1p(-mass))
    odd = ["Odd", "</s>"]
    assert run.space.speller.log_probs(odd) == pytest.approx(
        run.features.speller.log_probs(odd) - log_unknown
    )


@pytest.mark.parametrize("kind", ["vanilla", "alias", "nklm"])
def test_every_model_can_be_trained_and_opened(corpus: Path, kind: str, tmp_path: Path) -> None:
    outcome = run_training(corpus, tmp_path / "run", "training.epochs=1", model=kind)
    assert outcome.perplexity is not None
    run = Run.open(tmp_path / "run")
    assert run.kind == kind


def test_an_adaptive_softmax_is_saved_with_its_cutoffs(corpus: Path, tmp_path: Path) -> None:
    settings = ("training.epochs=1", "model.words.cutoffs=[12]", "model.words.tied=true")
    run_training(corpus, tmp_path / "run", *settings)
    run = Run.open(tmp_path / "run")
    assert isinstance(run.config.model.words, WordConfig)
    assert run.config.model.words.cutoffs == (12,)
    assert "cutoffs = [12]" in (tmp_path / "run" / "config.toml").read_text()


@pytest.mark.parametrize("kind", ["vanilla", "nklm", "lrlm", "lrlm+"])
def test_low_precision(corpus: Path, kind: str, tmp_path: Path) -> None:
    lstm_only = "model.backbone.hidden_size=10"
    settings = [setting for setting in tiny.SETTINGS if setting != lstm_only]
    settings += ["training.epochs=1", "training.precision=bfloat16", "model.words.cutoffs=[12]"]
    settings += ["model.backbone.layers=1", "model.backbone.model_size=8"]
    outcome = train(
        corpus,
        tmp_path / "run",
        model=kind,
        backbone="transformer-xl",
        configure=tiny.configured(*settings),
        features_cache=corpus.parent / "features",
    )
    assert outcome.perplexity is not None
    run = Run.open(tmp_path / "run")
    assert {weight.dtype for weight in run.model.parameters()} == {torch.float32}
    documents = list(run.encoder.encode(Corpus.open(corpus).documents("valid")))
    found = document_nats(run.model, run.collator.windows(documents))
    nats = float((found.nats_B - found.end_nats_B).sum())
    exact = nats / sum(document.words for document in documents)
    assert math.log(outcome.perplexity) == pytest.approx(exact, rel=0.02)


def test_a_precision_that_cannot_be_computed_is_refused_or_works(
    corpus: Path, tmp_path: Path
) -> None:
    settings = ("training.epochs=1", "training.precision=bfloat16")
    try:
        run_training(corpus, tmp_path / "run", *settings)
    except InputError as error:
        assert "set training.precision=float32" in str(error)  # noqa: PT017  where it has none
    else:
        Run.open(tmp_path / "run")


def test_a_folder_that_exists_is_refused(corpus: Path, run_folder: Path) -> None:
    before = digests(run_folder)
    with pytest.raises(InputError, match="exists already; choose another folder"):
        run_training(corpus, run_folder)
    assert digests(run_folder) == before


@pytest.mark.parametrize(
    ("settings", "wishes", "message"),
    [
        (("training.learning_rate=0.5",), {}, "was started with training.learning_rate=0.003"),
        ((), {"model": "nklm"}, 'started with model.kind="lrlm", which cannot become "nklm"'),
        ((), {"backbone": "transformer-xl"}, "was started with the backbone lstm"),
        ((), {"size": "cpu"}, "was started with the size mini"),
        (("training.epoch=5",), {}, "did you mean 'training.epochs'"),
    ],
)
def test_a_run_is_not_resumed_as_another(
    corpus: Path,
    run_folder: Path,
    settings: tuple[str, ...],
    wishes: dict[str, str],
    message: str,
) -> None:
    before = digests(run_folder)
    with pytest.raises(InputError) as error:
        run_training(corpus, run_folder, *settings, resume=True, **wishes)
    assert message in str(error.value)
    assert digests(run_folder) == before


def test_a_run_is_not_resumed_on_another_corpus(run_folder: Path, tmp_path: Path) -> None:
    other = tiny.write_corpus(tmp_path, train=12)
    before = digests(run_folder)
    with pytest.raises(InputError, match="was started on another corpus"):
        run_training(other, run_folder, resume=True)
    assert digests(run_folder) == before


def test_a_resumed_run_can_be_longer(corpus: Path, run_folder: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer"
    shutil.copytree(run_folder, longer)
    outcome = run_training(corpus, longer, "training.epochs=4", resume=True)
    assert outcome.position.epoch == 4
    assert Run.open(longer).config.training.epochs == 4
    whole = tmp_path / "whole"
    run_training(corpus, whole, "training.epochs=4")
    for name in ("weights.safetensors", "config.toml"):
        assert (whole / name).read_bytes() == (longer / name).read_bytes()


@pytest.mark.parametrize("missing", ["train", "valid"])
def test_a_corpus_without_a_split_is_refused(missing: str, tmp_path: Path) -> None:
    splits = tuple({"train", "valid", "test"} - {missing})
    corpus = tiny.write_corpus(tmp_path, splits=splits)
    with pytest.raises(InputError, match=f"has no split '{missing}'"):
        run_training(corpus, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_all_files_of_a_run_are_listed(run_folder: Path) -> None:
    check = verify(run_folder)
    assert (check.format, check.damaged, check.unchecked) == ("lrlm run", (), ())
    files = {str(path.relative_to(run_folder)) for path in run_folder.rglob("*") if path.is_file()}
    assert check.files == len(files - {"metrics.jsonl"})


def test_a_run_of_another_version_is_refused(run_folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(run_folder, copied)
    manifest = json.loads((copied / "manifest.json").read_text())
    (copied / "manifest.json").write_text(json.dumps({**manifest, "version": 9}))
    with pytest.raises(FormatError, match="written in version 9"):
        Run.open(copied)


def test_weights_of_another_model_are_refused(
    corpus: Path, run_folder: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(run_folder, copied)
    config = (copied / "config.toml").read_text()
    (copied / "config.toml").write_text(config.replace("hidden_size = 10", "hidden_size = 11"))
    with pytest.raises(FormatError, match=r"config\.toml: cannot be read"):
        Run.open(copied)
    rewrite_manifests(copied)
    with pytest.raises(FormatError, match="belong to another model"):
        Run.open(copied)
    (copied / "weights.safetensors").write_bytes(b"nothing")
    rewrite_manifests(copied)
    with pytest.raises(FormatError, match="cannot be used"):
        Run.open(copied)
    (copied / "weights.safetensors").unlink()
    with pytest.raises(InputError, match="has no weights yet"):
        Run.open(copied)


def test_a_device_that_is_not_there_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the device 'cuda:99' cannot be used"):
        run_training(corpus, tmp_path / "run", "training.device=cuda:99")
    assert not (tmp_path / "run").exists()


def test_a_configuration_may_be_given_whole(corpus: Path, tmp_path: Path) -> None:
    """As typed values; a model and a backbone beside it take the place of its own."""
    config = tiny.configured(*tiny.SETTINGS, "training.epochs=1")(load_size("mini", "lstm"))
    cache = corpus.parent / "features"
    backbone = TransformerXlConfig(
        layers=1, heads=1, head_size=4, model_size=8, feed_forward_size=8
    )
    for name, more, kind, expected in (
        ("whole", {}, "lrlm", config.model.backbone),
        ("other", {"model": "nklm", "backbone": backbone}, "nklm", backbone),
    ):
        trained = train(corpus, tmp_path / name, config=config, features_cache=cache, **more)  # type: ignore[arg-type]
        run = Run.open(trained)
        assert run.kind == kind
        assert run.config.model.backbone == expected
        assert run.config.training == config.training
        assert run.setup.manifest["backbone"] == expected.name
    with pytest.raises(InputError, match="either a size or a whole configuration"):
        train(corpus, tmp_path / "both", config=config, size="mini")
    with pytest.raises(InputError, match="there is no backbone 'gru'"):
        train(corpus, tmp_path / "gru", config=config, backbone="gru")


def test_a_run_is_resumed_with_the_configuration_it_was_started_with(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny.configured(*tiny.SETTINGS, "training.epochs=1")(load_size("mini", "lstm"))
    cache = corpus.parent / "features"
    first = train(corpus, tmp_path / "run", config=config, features_cache=cache)
    longer = replace(config, training=replace(config.training, epochs=2))
    second = train(corpus, tmp_path / "run", config=longer, resume=True, features_cache=cache)
    assert second.position.updates == 2 * first.position.updates


def test_training_can_begin_with_what_is_known_of_words(corpus: Path, tmp_path: Path) -> None:
    run_training(corpus, tmp_path / "run", "model.words.informed=true", "training.epochs=1")
    setup = Run.open(tmp_path / "run").setup
    counts = torch.tensor(setup.space.counts or ()) + 0.5
    torch.manual_seed(1)
    first = setup.first_model().words
    torch.manual_seed(1)
    fresh = setup.new_model().words
    assert torch.allclose(first.get_parameter("biases.0"), (counts / counts.sum()).log())
    assert not fresh.get_parameter("biases.0").any()


def test_what_is_known_of_words_must_be_there(corpus: Path, tmp_path: Path) -> None:
    run_training(corpus, tmp_path / "run", "model.words.informed=true", "training.epochs=1")
    setup = Run.open(tmp_path / "run").setup
    without = replace(setup, features=replace(setup.features, featuriser=None))
    with pytest.raises(InputError, match="set it to false"):
        without.first_model()
