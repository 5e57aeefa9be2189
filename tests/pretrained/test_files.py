"""Files of pretrained language models: what is found, and one clear line for all that is not."""

import json
import os
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, T5Config, T5ForConditionalGeneration

from lrlm.artifacts import fingerprint
from lrlm.backbones import Pretrained
from lrlm.errors import InputError, LrlmError, MissingExtraError
from lrlm.pretrained import find_pretrained, hashes, quietly
from tests.generators.tiny_backbones import (
    save_tiny_gguf,
    save_tiny_llama,
    save_tiny_opt,
    word_tokenizer,
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture
def folder(llama: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(llama, tmp_path / "lm"))


def change(path: Path, **entries: Any) -> None:
    content = json.loads(path.read_text())
    content.update(entries)
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def shard(folder: Path) -> None:
    """Cut the weights into two files and an index."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, inside in parts.items():
        save_file({name: tensors[name] for name in inside}, folder / file, {"format": "pt"})
    places = {name: file for file, inside in parts.items() for name in inside}
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_a_folder_is_found_and_loaded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = find_pretrained(str(folder))
    assert files.source == str(folder)
    assert files.folder == folder
    assert files.gguf is None
    assert [entry["name"] for entry in files.files][:2] == ["config.json", "tokenizer.json"]
    assert files.input_size() == 32
    assert len(files.tokenizer()) == 40
    model = files.language_model(torch.float64)
    assert not model.training
    assert next(model.parameters()).dtype == torch.float64
    out, err = capfd.readouterr()
    assert out == ""
    assert err == ""


def test_the_fingerprint_is_that_of_the_contents(folder: Path, tmp_path: Path) -> None:
    before = find_pretrained(str(folder)).fingerprint
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere")
    assert find_pretrained(str(elsewhere)).fingerprint == before
    (elsewhere / "README.md").write_text("nothing that matters")
    assert find_pretrained(str(elsewhere)).fingerprint == before
    change(elsewhere / "config.json", rope_theta=5.0)
    assert find_pretrained(str(elsewhere)).fingerprint != before


def test_a_file_is_hashed_once_until_it_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []

    def counted(path: Path) -> dict[str, Any]:
        hashed.append(path.name)
        return fingerprint(path)

    monkeypatch.setattr(hashes, "fingerprint", counted)
    first = find_pretrained(str(folder))
    assert len(hashed) == len(first.files)
    assert find_pretrained(str(folder)) == first
    assert len(hashed) == len(first.files)
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor + 1 for name, tensor in tensors.items()}, folder / "model.safetensors")
    changed = find_pretrained(str(folder))
    assert hashed[len(first.files) :] == ["model.safetensors"]
    assert changed.fingerprint != first.fingerprint


@pytest.mark.parametrize("content", ["{", "[1, 2]", '{"x": 3}', "\x00", "[" * 100_000])
def test_a_damaged_cache_is_as_good_as_none(folder: Path, content: str) -> None:
    expected = find_pretrained(str(folder))
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "lrlm" / "pretrained-hashes.json"
    assert cache.is_file()
    cache.write_text(content)
    assert find_pretrained(str(folder)) == expected


def test_hashes_are_made_where_they_cannot_be_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert find_pretrained(str(folder)).fingerprint


def test_weights_in_several_files(folder: Path) -> None:
    one = find_pretrained(str(folder)).language_model()
    shard(folder)
    files = find_pretrained(str(folder))
    assert {entry["name"] for entry in files.files} >= {"a.safetensors", "b.safetensors"}
    for before, after in zip(one.parameters(), files.language_model().parameters(), strict=True):
        assert torch.equal(before, after)


def test_the_width_of_vectors_need_not_be_that_of_states(tmp_path: Path) -> None:
    source = str(save_tiny_opt(tmp_path / "opt", width=8, states=12))
    assert find_pretrained(source).input_size() == 8
    backbone = Pretrained(source).build(8)
    assert (backbone.input_size, backbone.output_size) == (8, 8)


def test_a_gguf_file_is_the_model_that_it_was_made_of(
    llama: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = save_tiny_gguf(tmp_path / "tiny.gguf", llama)
    for source in (path, tmp_path):
        files = find_pretrained(str(source))
        assert files.gguf == "tiny.gguf"
        assert [entry["name"] for entry in files.files] == ["tiny.gguf"]
        assert files.input_size() == 32
    ids = torch.tensor([[3, 5, 39, 7]])
    with torch.no_grad():
        expected = find_pretrained(str(llama)).language_model()(input_ids=ids).logits
        actual = files.language_model()(input_ids=ids).logits
    torch.testing.assert_close(actual, expected)
    assert len(files.tokenizer()) >= 40
    backbone = Pretrained(str(path)).build(32).double()
    _, state = backbone(
        torch.zeros(1, 2, 32).double(), torch.tensor([2]), backbone.initial_state(1)
    )
    assert state.rows == 1
    assert capfd.readouterr() == ("", "")

    content = path.read_bytes()
    for size in (0, 6, 40, 200, 1000, len(content) // 2, len(content) - 300):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"tiny\.gguf") as caught:
            find_pretrained(str(path)).language_model()
        assert "\n" not in str(caught.value)
    (tmp_path / "second.gguf").touch()
    with pytest.raises(InputError, match="2 GGUF files: name one of them"):
        find_pretrained(str(tmp_path))


Damage = Callable[[Path], object]


def truncate(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def write_header(path: Path, header: dict[str, Any], data: int = 8) -> None:
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + bytes(data))


def weights(folder: Path) -> Path:
    return folder / "model.safetensors"


def drop_tensor(folder: Path) -> None:
    tensors = load_file(weights(folder))
    del tensors["model.layers.1.mlp.up_proj.weight"]
    tensors["other"] = torch.zeros(5000)
    save_file(tensors, weights(folder), {"format": "pt"})


def lose_shard(folder: Path) -> None:
    shard(folder)
    (folder / "b.safetensors").unlink()


def point_outside(folder: Path) -> None:
    shard(folder)
    path = folder / "model.safetensors.index.json"
    change(path, weight_map={"x": "../../secret.safetensors"})


def claim_more(folder: Path) -> None:
    shard(folder)
    path = folder / "model.safetensors.index.json"
    places = json.loads(path.read_text())["weight_map"]
    change(path, weight_map={**places, "more": "a.safetensors"})


def empty_index(folder: Path) -> None:
    shard(folder)
    (folder / "model.safetensors.index.json").write_text("{}")


def no_index(folder: Path) -> None:
    shard(folder)
    (folder / "model.safetensors.index.json").unlink()


def only_pickles(folder: Path) -> None:
    weights(folder).rename(folder / "pytorch_model.bin")


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


BAD: dict[str, tuple[Damage, str]] = {
    "truncated weights": (lambda f: truncate(weights(f), 5000), "truncated"),
    "a header that is cut": (lambda f: truncate(weights(f), 100), "header does not fit"),
    "empty weights": (lambda f: truncate(weights(f), 0), "header does not fit"),
    "bytes behind the end": (
        lambda f: weights(f).write_bytes(weights(f).read_bytes() + b"x" * 9),
        "damaged or truncated",
    ),
    "no safetensors": (lambda f: weights(f).write_text("<html>" * 100), "header does not fit"),
    "a header that is no table": (
        lambda f: weights(f).write_bytes(struct.pack("<Q", 2) + b"[]"),
        "no table",
    ),
    "a header of nonsense": (lambda f: write_header(weights(f), {"x": {"y": 1}}), "safetensors"),
    "overlapping tensors": (
        lambda f: write_header(
            weights(f),
            {n: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} for n in ("x", "y")},
        ),
        "damaged",
    ),
    "absurd shapes": (
        lambda f: write_header(
            weights(f), {"x": {"dtype": "F32", "shape": [2**62], "data_offsets": [0, 2**64]}}
        ),
        "more than 64 bits|damaged",
    ),
    "missing weights": (drop_tensor, "1 of the weights .* such as model.layers.1.mlp.up_proj"),
    "a missing shard": (lose_shard, "b.safetensors: there is no such file"),
    "an index that leads elsewhere": (point_outside, "not the name of a file beside it"),
    "an index that claims more": (claim_more, "lacks more"),
    "an index of nothing": (
        empty_index,
        "no weight_map",
    ),
    "shards without index": (
        no_index,
        "says what is in which file",
    ),
    "pickles": (only_pickles, "can run code .* convert them with transformers"),
    "no weights": (lambda f: weights(f).unlink(), "holds no weights"),
    "no tokenizer": (no_tokenizer, "has no tokenizer"),
    "no configuration": (lambda f: (f / "config.json").unlink(), "no config.json"),
    "an empty configuration": (lambda f: (f / "config.json").write_text(""), "not JSON"),
    "a configuration that is a list": (
        lambda f: (f / "config.json").write_text("[1]"),
        "table of settings",
    ),
    "a deep configuration": (
        lambda f: (f / "config.json").write_text("[" * 200_000),
        "nested too deep|not JSON",
    ),
    "remote code": (
        lambda f: change(f / "config.json", auto_map={"AutoModel": "own.Model"}),
        "asks to run code",
    ),
    "remote code of the tokenizer": (
        lambda f: change(f / "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.T", None]}),
        "asks to run code",
    ),
    "an unknown type": (
        lambda f: change(f / "config.json", model_type="nothing"),
        "does not know models of the type 'nothing'",
    ),
    "no type": (lambda f: change(f / "config.json", model_type=None), "type None"),
    "quantised": (
        lambda f: change(f / "config.json", quantization_config={"quant_method": "gptq"}),
        "quantised",
    ),
    "an adapter": (lambda f: (f / "adapter_config.json").write_text("{}"), "an adapter"),
    "absurd layers": (
        lambda f: change(f / "config.json", num_hidden_layers=10**9),
        "num_hidden_layers = 1,000,000,000 is more",
    ),
    "an absurd width": (
        lambda f: change(f / "config.json", intermediate_size=2**30),
        "asks for .* weights, but there are",
    ),
    "an absurd vocabulary": (
        lambda f: change(f / "config.json", vocab_size=2**40),
        "vocab_size = .* is more",
    ),
    "another width": (lambda f: change(f / "config.json", intermediate_size=60), "lrlm"),
    "a wrong kind of number": (
        lambda f: change(f / "config.json", hidden_size="wide"),
        "configuration of a language model",
    ),
    "heads that do not divide": (
        lambda f: change(f / "config.json", num_attention_heads=5, head_dim=None),
        "configuration of a language model",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line(
    folder: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    damage, message = BAD[name]
    damage(folder)
    with pytest.raises(InputError, match=None if message == "lrlm" else message) as caught:
        find_pretrained(str(folder)).language_model()
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


UNKNOWN_MERGE = '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}'


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", UNKNOWN_MERGE])
def test_a_damaged_tokenizer_is_one_clear_line(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(LrlmError, match="lm") as caught:
        find_pretrained(str(folder)).tokenizer()
    assert "\n" not in str(caught.value)


def test_models_that_do_not_write_text_are_refused(tmp_path: Path) -> None:
    bert = BertForMaskedLM(
        BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
    )
    t5 = T5ForConditionalGeneration(
        T5Config(vocab_size=9, d_model=8, d_ff=8, num_layers=1, num_heads=2, d_kv=4)
    )
    for model in (bert, t5):
        folder = tmp_path / type(model).__name__
        with quietly():
            model.save_pretrained(folder)
            word_tokenizer().save_pretrained(folder)
        with pytest.raises(InputError, match=f"no causal language model but {folder.name}"):
            find_pretrained(str(folder))
    change(tmp_path / "BertForMaskedLM" / "config.json", architectures=None)
    with pytest.raises(InputError, match="cannot be used"):
        Pretrained(str(tmp_path / "BertForMaskedLM")).build(8)


def test_names_of_nothing(tmp_path: Path) -> None:
    for name, message in {
        "": "is not set",
        "/no/such/folder": "no such file or folder",
        "./nothing": "no such file or folder",
        "a/b/c": "no such file or folder",
        "x" * 5000: "cannot be read|no such",
        "nul\0l": "no such file or folder",
    }.items():
        with pytest.raises(InputError, match=message):
            find_pretrained(name)
    (tmp_path / "text.txt").write_text("hello")
    with pytest.raises(InputError, match="neither a GGUF file nor the folder"):
        find_pretrained(str(tmp_path / "text.txt"))
    with pytest.raises(InputError, match=r"no config\.json"):
        find_pretrained(str(tmp_path))


def test_the_hub_that_was_not_to_be_asked() -> None:
    with pytest.raises(InputError, match="was not to be asked") as caught:
        find_pretrained("nobody/nothing", local_files_only=True)
    assert "\n" not in str(caught.value)


def test_the_hub_is_asked_for_what_is_needed_only(
    llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: dict[str, Any] = {}

    def snapshot(name: str, **options: Any) -> str:
        asked.update(options, name=name)
        return str(llama)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    files = find_pretrained("someone/model")
    assert files.source == "someone/model"
    assert files.folder == llama
    assert asked["name"] == "someone/model"
    assert not any("bin" in pattern or "py" in pattern for pattern in asked["allow_patterns"])

    def fails(error: Exception) -> Callable[..., str]:
        def snapshot(*_: Any, **__: Any) -> str:
            raise error

        return snapshot

    errors = huggingface_hub.errors
    for error, message in (
        (errors.LocalEntryNotFoundError("offline\nat length"), "hub cannot be reached"),
        (OSError(28, "No space left on device"), "No space left"),
        (errors.HFValidationError("bad name"), "bad name"),
    ):
        monkeypatch.setattr(huggingface_hub, "snapshot_download", fails(error))
        with pytest.raises(InputError, match=message) as caught:
            find_pretrained("someone/model")
        assert "\n" not in str(caught.value)


def test_without_the_extra_it_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[pretrained\]'"):
        find_pretrained(str(folder))
