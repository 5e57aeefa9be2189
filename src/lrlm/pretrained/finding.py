"""Find the files of a pretrained language model: a folder, a GGUF file, or a model of the hub."""

import hashlib
import json
import re
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from lrlm.errors import FormatError, InputError
from lrlm.pretrained.hashes import kept_fingerprint
from lrlm.pretrained.loading import (
    CONFIG,
    check_config,
    empty_model,
    load_config,
    load_model,
    load_tokenizer,
    quietly,
    require_extra,
)
from lrlm.pretrained.weight_files import (
    Shapes,
    gguf_shapes,
    is_gguf,
    safetensors_shapes,
    weight_files,
)
from lrlm.text_files import reading

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+|[A-Za-z0-9][\w-]*")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
_BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
_FETCHED = [CONFIG, "generation_config.json", *_TOKENIZER, *_BESIDE]
_FETCHED += ["*.safetensors", "*.safetensors.index.json"]


@dataclass(frozen=True)
class PretrainedFiles:
    """The files of one pretrained language model, which were found and checked."""

    source: str
    """What the user called it."""
    folder: Path
    gguf: str | None
    """The name of the GGUF file in the folder; None where it is a Hugging Face folder."""
    files: tuple[dict[str, Any], ...]
    """The name, bytes and SHA-256 of each file that matters."""
    fingerprint: str
    """SHA-256 of the names and hashes of all of them."""

    def tokenizer(self) -> "PreTrainedTokenizerFast":
        """Load the tokenizer."""
        tokenizer: PreTrainedTokenizerFast = load_tokenizer(self.where, self.named)
        return tokenizer

    def language_model(self, dtype: torch.dtype = torch.float32) -> "PreTrainedModel":
        """Load the causal LM on the CPU, in evaluation mode."""
        self.input_size()  # refuses what cannot be before memory is taken
        model: PreTrainedModel = load_model(self.where, self._config(), dtype, self.named)
        return model

    def empty_language_model(self) -> "PreTrainedModel":
        """Build the causal LM without memory, on the device `meta`, to look at its shapes."""
        model: PreTrainedModel = empty_model(self._config(), _shapes(self), self.named)
        return model

    def input_size(self) -> int:
        """Give the width of the vectors that the LM reads."""
        return _input_size(self)

    def __hash__(self) -> int:
        """Equal files are those of equal content in the same place."""
        return hash((self.folder, self.fingerprint))

    def _config(self) -> Any:
        """Give a copy of the configuration, which transformers may change."""
        return deepcopy(_config(self))

    @property
    def where(self) -> dict[str, str]:
        """What transformers is told to find them by."""
        where = {"pretrained_model_name_or_path": str(self.folder)}
        return where if self.gguf is None else {**where, "gguf_file": self.gguf}

    @property
    def named(self) -> Path:
        """What messages call them by."""
        return self.folder if self.gguf is None else self.folder / self.gguf


@cache
def _shapes(files: PretrainedFiles) -> Shapes:
    if files.gguf is None:
        return safetensors_shapes(files.folder)
    return gguf_shapes(files.folder / files.gguf)


@cache
def _config(files: PretrainedFiles) -> Any:
    return load_config(files.where, _shapes(files), files.named)


@cache
def _input_size(files: PretrainedFiles) -> int:
    embedding: Any = files.empty_language_model().get_input_embeddings()
    return int(embedding.weight.shape[1])


def find_pretrained(source: str, *, local_files_only: bool = False) -> PretrainedFiles:
    """Find a pretrained causal LM, and check that its files are whole and can be trusted.

    `source` is a Hugging Face folder, a GGUF file or a folder that holds one, or the id of a model
    of the Hugging Face hub; with `local_files_only`, the latter must have been fetched before.
    """
    require_extra("transformers")
    if not source.strip():
        raise InputError(
            "model.backbone.source is not set: it names a folder, a GGUF file or a model of the"
            " Hugging Face hub"
        )
    path = Path(source)
    with reading(source, "the name of a file or folder"):
        path = path.expanduser()
        is_file, is_folder = path.is_file(), path.is_dir()
    if is_file:
        if not is_gguf(path):
            raise InputError(f"{path}: neither a GGUF file nor the folder of a language model")
        return _gguf(source, path)
    if not is_folder:
        path = _from_hub(source, local_files_only=local_files_only)
    if not (path / CONFIG).is_file():
        found = sorted(path.glob("*.gguf"))
        if len(found) == 1:
            return _gguf(source, found[0])
        why = f"{len(found)} GGUF files: name one of them" if found else f"no {CONFIG}"
        raise FormatError(f"{path}: not the folder of a language model ({why})")
    return _folder(source, path)


def _folder(source: str, folder: Path) -> PretrainedFiles:
    check_config(folder)
    weights = weight_files(folder)
    tokenizer = [folder / name for name in _TOKENIZER if (folder / name).is_file()]
    if not tokenizer:
        raise FormatError(f"{folder}: has no tokenizer ({_TOKENIZER[0]})")
    safetensors_shapes(folder)
    beside = [folder / name for name in _BESIDE if (folder / name).is_file()]
    return _found(source, folder, None, [folder / CONFIG, *tokenizer, *beside, *weights])


def _gguf(source: str, path: Path) -> PretrainedFiles:
    require_extra("gguf")
    files = _found(source, path.parent, path.name, [path])
    _shapes(files)
    return files


def _found(source: str, folder: Path, gguf: str | None, paths: list[Path]) -> PretrainedFiles:
    files = tuple(kept_fingerprint(path) for path in paths)
    listed = sorted((entry["name"], entry["sha256"]) for entry in files)
    digest = hashlib.sha256(json.dumps(listed).encode()).hexdigest()
    return PretrainedFiles(source, folder.resolve(), gguf, files, digest)


def _from_hub(source: str, *, local_files_only: bool) -> Path:
    """Fetch a model through the hub's own client, which keeps it in its cache."""
    if not _HUB_ID.fullmatch(source):
        raise InputError(f"{source}: there is no such file or folder")
    hub = require_extra("huggingface_hub")
    missing = f"{source}: there is no such folder, and"
    with quietly(), reading(source, "a model of the Hugging Face hub"):
        try:
            fetched = hub.snapshot_download(
                source,
                allow_patterns=_FETCHED,
                ignore_patterns=["*/*"],
                local_files_only=local_files_only,
            )
        except hub.errors.RepositoryNotFoundError:
            raise InputError(
                f"{missing} the Hugging Face hub has no such model, or does not show it to everyone"
            ) from None
        except hub.errors.LocalEntryNotFoundError:
            why = "was not to be asked" if local_files_only else "cannot be reached"
            raise InputError(
                f"{missing} no such model was fetched before; the Hugging Face hub {why}"
            ) from None
    return Path(fetched)
