"""A run folder cannot ask for any amount of memory or time."""

import json
import resource
import shutil
from pathlib import Path

import pytest

from lrlm.artifacts import MANIFEST, rewrite_manifests
from lrlm.errors import FormatError, InputError, LrlmError
from lrlm.runs.run import Run
from tests.damage import OF_VERSION_0_1


@pytest.fixture
def run(tmp_path: Path) -> Path:
    shutil.copytree(OF_VERSION_0_1 / "run", tmp_path / "run")
    return tmp_path / "run"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def setting(run: Path, name: str, value: object) -> None:
    """Give a setting of the backbone another value."""
    head, backbone, tail = (run / "config.toml").read_text().partition("[model.backbone]\n")
    lines = tail.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith(f"{name} ="))
    lines[place] = f"{name} = {value}"
    (run / "config.toml").write_text(head + backbone + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("layers", 10_000_000, "model.backbone.layers must be at most 1,000, not 10000000"),
        ("hidden_size", 10**12, "model.backbone.hidden_size must be at most 65,536"),
        ("hidden_size", 10**400, "a whole number of more than 64 bits"),
        ("hidden_size", "9" * 5000, "not TOML"),
        ("hidden_size", "[" * 5000, r"config\.toml: not TOML \(nested too deep\)"),
        ("hidden_size", "9" * 100_000, r"config\.toml: has more than 65,536 bytes"),
        ("hidden_size", 60_000, "asks for another model than these weights are of"),
        ("layers", 1000, "(belong to|asks for) another model"),
    ],
)
def test_settings_have_bounds(run: Path, name: str, value: object, message: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    setting(run, name, value)
    with pytest.raises(InputError, match=message):
        Run.open(run)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


@pytest.mark.parametrize("value", ["NaN", "0.5", "-1e999", '"-1"x', "null", "[]"])
def test_the_share_of_unknown_words_is_a_probability(run: Path, value: str) -> None:
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    change(run / MANIFEST, f'"log_unknown": {manifest["log_unknown"]}', f'"log_unknown": {value}')
    with pytest.raises(FormatError):
        Run.open(run)


@pytest.mark.parametrize(
    ("folder", "name", "value", "message"),
    [
        ("forms", "longest_ngram", 10**9, "'longest_ngram' must be a whole number from 0 to 20"),
        ("forms", "width", 10**12, "'width' must be a whole number from 1 to 65,536"),
        ("forms", "buckets", "many", "'buckets' must be a whole number"),
        ("forms", "words", None, "'words' must be a whole number"),
        ("relations", "width", True, "'width' must be a whole number"),
        ("relations", "known_types", 10**9, "'known_types' must be at most 'types'"),
        ("relations", "objects", -1, "'objects' must be a whole number from 0"),
        ("spelling", "hidden_size", 1.5, "'hidden_size' must be a whole number from 1 to 65,536"),
        ("spelling", "characters", ["a", 1], "'characters' must be a text"),
        ("spelling", "characters", "\ud800", "'characters' must be a text"),
    ],
)
def test_numbers_of_features_have_ranges(
    run: Path, folder: str, name: str, value: object, message: str
) -> None:
    path = run / "features" / folder / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, name: value}), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        Run.open(run)
    del manifest[name]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(FormatError, match=f"'{name}'"):
        Run.open(run)


BOMBS = {
    "deep": "[" * 100_000,
    "deep tables": '{"a":' * 100_000,
    "digits": '{"format": ' + "9" * 5000 + "}",
    "many digits": '{"format": "lrlm run", "version": ' + "9" * 4000 + "}",
    "no text": "\ud800",
    "list": "[0]",
    "nothing": "",
    "null": "null",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("sealed", [True, False])
def test_no_file_of_json_throws_anything_else(run: Path, bomb: str, sealed: bool) -> None:
    for path in sorted(run.rglob("*.json")):
        if "checkpoints" in path.parts:
            continue
        before = path.read_bytes()
        path.write_bytes(bomb.encode("utf-8", "surrogatepass"))
        if sealed:
            rewrite_manifests(run)
        with pytest.raises(LrlmError, match=path.parent.name):
            Run.open(run)
        path.write_bytes(before)
        if sealed:
            rewrite_manifests(run)
