"""Settings: complete files, typed values, and errors that name the nearest key."""

import tomllib
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import lrlm.runs.sizes
from lrlm.backbones import BACKBONES, LstmConfig, TransformerXlConfig
from lrlm.errors import InputError
from lrlm.heads import WordConfig
from lrlm.runs.config import RunConfig, TrainingConfig
from lrlm.runs.settings import described, to_nested, to_toml
from lrlm.runs.sizes import CHOICES, SIZES, change, load_size, read_config, size_file
from lrlm.runs.token_spaces import VocabularyConfig

FOLDER = Path(lrlm.runs.sizes.__file__).parent
ALL = list(product(SIZES, BACKBONES))
LEFT_OPEN = {
    "vocabulary.size",
    "model.words.cutoffs",
    "model.words.tuned_rank",
    "training.minutes",
    "training.patience",
    "model.relations.first_rate",
    "training.validation_documents",
}
"""TOML has no word for nothing: these are left out where they are open."""


def keys(nested: dict[str, object], path: str = "") -> set[str]:
    found: set[str] = set()
    for key, value in nested.items():
        here = f"{path}{key}"
        found |= keys(value, f"{here}.") if isinstance(value, dict) else {here}
    return found


@pytest.mark.parametrize(("size", "backbone"), ALL)
def test_sizes_are_complete_and_commented(size: str, backbone: str) -> None:
    config = load_size(size, backbone)
    file = size_file(size, backbone)
    assert file is not None
    text = file.read_text(encoding="utf-8")
    written = keys(tomllib.loads(text))
    names = {"model.backbone.name", *(key for key in written if key.endswith(".name"))}
    known = {key for key, _, _ in described(config, CHOICES)} | names
    assert written <= known
    assert known - written <= LEFT_OPEN
    assert type(config.model.backbone) is BACKBONES[backbone]
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if " = " in line and not line.startswith(("#", "name")):
            assert lines[number - 1].startswith("#"), line


def test_paper_is_the_papers_table() -> None:
    lstm, transformer = load_size("paper", "lstm"), load_size("paper", "transformer-xl")
    for config in (lstm, transformer):
        assert config.training.batch_size == 60
        assert config.training.window == 150
        assert config.features.relations.width == 100
        assert config.features.forms.width == 300
        assert config.model.relations.hidden_size == 1000
        assert (config.model.positions, config.model.position_size) == (20, 40)
        assert config.vocabulary == VocabularyConfig(min_count=3)
    assert lstm.model.backbone == LstmConfig(layers=2, hidden_size=1000, dropout=0.5)
    assert isinstance(lstm.model.words, WordConfig)
    assert (lstm.model.words.embedding_size, lstm.model.words.projection_size) == (400, 1000)
    assert (lstm.training.schedule, lstm.training.learning_rate) == ("plateau", 0.001)
    assert lstm.training.decay == 0.9
    assert transformer.model.backbone == TransformerXlConfig(
        layers=16, heads=10, head_size=41, model_size=410, feed_forward_size=2100,
        dropout=0.1, attention_dropout=0.0, memory=150, evaluation_memory=150,
    )  # fmt: skip
    assert isinstance(transformer.model.words, WordConfig)
    assert transformer.model.words.embedding_size == 410
    assert (transformer.training.schedule, transformer.training.warm_up) == ("cosine", 6000)
    assert transformer.training.learning_rate == 0.00025


@pytest.mark.parametrize(("size", "backbone"), ALL)
def test_what_is_written_is_read_back(size: str, backbone: str) -> None:
    config = load_size(size, backbone)
    if isinstance(config.model.words, WordConfig):
        config = change(config, ["model.words.cutoffs=[10, 20]"])
    assert read_config(to_toml(config, CHOICES), where="test") == config


def test_texts_survive_toml() -> None:
    config = load_size("mini", "lstm")
    odd = 'a "quoted" \\ path/with = signs # é'
    features = replace(config.features, forms=replace(config.features.forms, source=odd))
    config = replace(config, features=features)
    assert read_config(to_toml(config, CHOICES), where="test") == config


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("training.epochs=7", "training.epochs", 7),
        (" training.epochs = 7 ", "training.epochs", 7),
        ("training.learning_rate=1e-3", "training.learning_rate", 0.001),
        ("training.learning_rate=1", "training.learning_rate", 1.0),
        ("training.minutes=2", "training.minutes", 2.0),
        ("model.words.cutoffs=[]", "model.words.cutoffs", []),
        ("model.words.tied=true", "model.words.tied", True),
        ("features.forms.source=/a/b=c.bin", "features.forms.source", "/a/b=c.bin"),
        ("training.schedule=cosine", "training.schedule", "cosine"),
        ("model.backbone.hidden_size=9", "model.backbone.hidden_size", 9),
    ],
)
def test_one_value_is_set(setting: str, key: str, value: object) -> None:
    before = load_size("mini", "lstm")
    after = to_nested(change(before, [setting]), CHOICES)
    place: object = after
    for part in key.split("."):
        assert isinstance(place, dict)
        place = place[part]
    assert place == value
    assert type(place) is type(value)
    assert change(before, []) == before


def test_none_leaves_open() -> None:
    config = change(load_size("cpu", "lstm"), ["vocabulary.size=none", "training.patience=None"])
    assert isinstance(config.vocabulary, VocabularyConfig)
    assert config.vocabulary.size is None
    assert config.training.patience is None


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "training.epoch=3",
            "there is no setting 'training.epoch'; did you mean 'training.epochs'?",
        ),
        ("epochs=3", "did you mean 'training.epochs'?"),
        ("learning_rate=3", "did you mean 'training.learning_rate'?"),
        ("model.lstm.layers=3", "did you mean 'model.backbone.layers'?"),
        ("training=3", "there is no setting 'training'"),
        ("model.backbone.name=lstm", "there is no setting"),
        ("training.epochs", "'training.epochs' is no setting; write key=value"),
        ("training.epochs=0", "training.epochs must be at least 1, not 0"),
        ("training.epochs=2.5", "training.epochs must be a whole number, not 2.5"),
        ("training.epochs=many", "training.epochs must be a whole number, not 'many'"),
        ("training.epochs=true", "training.epochs must be a whole number, not True"),
        ("training.epochs=", "training.epochs must be a whole number"),
        ("training.learning_rate=0", "training.learning_rate must be above 0"),
        ("training.learning_rate=nan", "training.learning_rate must be above 0"),
        ("training.schedule=magic", "training.schedule must be one of plateau, cosine"),
        ("training.decay=1.5", "training.decay must be above 0 and at most 1, not 1.5"),
        ("training.seed=-1", "training.seed must be from 0"),
        ("training.precision=int8", "training.precision must be one of"),
        ("model.backbone.layers=0", "model.backbone.layers must be at least 1, not 0"),
        ("model.backbone.dropout=1", "model.backbone.dropout must be at least 0 and less than 1"),
        ("model.words.cutoffs=[3, 2]", "model.words.cutoffs must increase"),
        ("model.kind=gpt", "there is no model 'gpt'"),
        ("features.relations.width=7", "vectors of the wrong width: features.relations.width is 7"),
        ("features.spelling.epochs=0", "features.spelling.epochs must be at least 1"),
        ("vocabulary.min_count=0", "vocabulary.min_count must be at least 1"),
    ],
)
def test_bad_settings_are_one_clear_sentence(setting: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        change(load_size("mini", "lstm"), [setting])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nepoch = 1", "file: there is no setting 'training.epoch'"),
        ("[training", "file: not TOML"),
        ("training = 3", "file: training must be a table"),
        ("[model.backbone]\nname = 'gru'", "model.backbone.name must be one of lstm"),
        ("[model.backbone]\nlayers = 3", "model.backbone.name must be one of lstm"),
        ("[training]\nepochs = '1'", "training.epochs must be a whole number, not '1'"),
    ],
)
def test_bad_files_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_config(text, where="file")
    assert message in str(error.value)


def test_unknown_sizes_and_backbones() -> None:
    with pytest.raises(InputError, match="there is no size 'huge'; there are: mini, cpu, paper"):
        load_size("huge", "lstm")
    with pytest.raises(InputError, match="there is no backbone 'gru'"):
        load_size("mini", "gru")


def test_every_setting_has_a_meaning() -> None:
    for size, backbone in ALL:
        for key, value, meaning in described(load_size(size, backbone), CHOICES):
            assert meaning, key
            assert value


def test_defaults_are_the_papers() -> None:
    assert RunConfig().training == TrainingConfig()
    assert RunConfig().training.batch_size == 60
