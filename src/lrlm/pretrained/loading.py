"""Load a language model or its tokenizer with transformers: silently and within limits.

Code that comes with a model is never run.
"""

import importlib
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from math import prod
from pathlib import Path
from typing import Any

import torch

from lrlm.checks import DEEPEST
from lrlm.errors import FormatError, InputError, MissingExtraError
from lrlm.plain_data import read_bytes
from lrlm.pretrained.weight_files import Shapes
from lrlm.text_files import reading

CONFIG = "config.json"

_LARGEST_CONFIG = 4 << 20
_LARGEST_NUMBER = 1 << 31
_MOST_EXPERTS = 1 << 12
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_BUFFERS = 1 << 28
"""Numbers beside the weights, such as masks, that any model may ask for."""


def require_extra(module: str) -> Any:
    """Import a package of the extra `pretrained`, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingExtraError(
            f"{name} is not installed; install it with: pip install 'lrlm[pretrained]'"
        ) from None


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers and what it uses from writing to the terminal; then all is as before."""
    logging = require_extra("transformers").utils.logging
    hub = require_extra("huggingface_hub.utils")
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub_had_bars = not hub.are_progress_bars_disabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()
        if not hub_had_bars:
            hub.disable_progress_bars()


@contextmanager
def trying(source: str | Path, what: str = "a language model that can be used") -> Iterator[None]:
    """Turn what transformers throws at a model that it cannot use into an error that names it."""
    strict = require_extra("huggingface_hub").errors.StrictDataclassError
    with reading(source, what):
        try:
            yield
        except Exception as error:
            # Those of settings and of tokenizers are of no kind that others throw.
            if type(error) is Exception or isinstance(error, strict):
                raise ValueError(str(error)) from error
            raise


def check_config(folder: Path) -> None:
    """Refuse a configuration that is of no causal LM, or that asks for code of its own."""
    path = folder / CONFIG
    config = _table(path)
    _refuse_remote_code(config, path)
    tokenizer = folder / "tokenizer_config.json"
    if tokenizer.is_file():
        _refuse_remote_code(_table(tokenizer), tokenizer)
    if (folder / "adapter_config.json").exists():
        raise InputError(
            f"{folder}: holds an adapter (adapter_config.json) beside a model; merge it into the"
            " model first, with peft: merge_and_unload()"
        )
    kind = config.get("model_type")
    auto = require_extra("transformers.models.auto")
    if not isinstance(kind, str) or kind not in auto.CONFIG_MAPPING:
        raise InputError(f"{path}: transformers does not know models of the type {kind!r}")
    if config.get("quantization_config"):
        raise InputError(
            f"{path}: the weights are quantised; use the model with ordinary weights, or as GGUF"
        )
    names = config.get("architectures") or []
    known = auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    causal = {
        name for each in known.values() for name in ([each] if isinstance(each, str) else each)
    }
    if (
        kind not in known
        or config.get("is_encoder_decoder") is True
        or not isinstance(names, list)
        or (names and not causal.intersection(map(str, names)))
    ):
        what = f" but {names[0]}" if isinstance(names, list) and names else ""
        raise InputError(f"{path}: no causal language model{what}; only those write text")


def _table(path: Path) -> Mapping[str, Any]:
    with reading(path, "JSON"):
        # Not by `read_json`: tokenizers write 10³⁰ where there is no limit.
        config = json.loads(read_bytes(path, largest=_LARGEST_CONFIG))
    if not isinstance(config, dict):
        raise FormatError(f"{path}: must be a table of settings")
    return config


def _refuse_remote_code(config: Mapping[str, Any], path: Path) -> None:
    if config.get("auto_map"):
        raise InputError(f"{path}: asks to run code that comes with it (auto_map); it is refused")


def load_config(where: Mapping[str, Any], shapes: Shapes, named: Path) -> Any:
    """Read the configuration of a model whose weights have these shapes, within their limits."""
    transformers = require_extra("transformers")
    with quietly(), trying(named, "the configuration of a language model"):
        config = transformers.AutoConfig.from_pretrained(
            **where, local_files_only=True, trust_remote_code=False
        )
    _refuse_absurd(config.to_dict(), len(shapes), named)
    return config


def _refuse_absurd(config: Mapping[str, Any], tensors: int, named: Path) -> None:
    """Refuse numbers that would take hours or all memory before the weights are compared."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            _refuse_absurd(value, tensors, named)
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        most = _LARGEST_NUMBER
        if key in _LAYERS:
            most = min(DEEPEST, tensors)
        elif key in _EXPERTS:
            most = _MOST_EXPERTS
        if abs(value) > most and value < 2**62:  # larger ones stand for "no limit"
            raise FormatError(
                f"{named}: {key} = {value:,} is more than these weights give reason for"
            )


def empty_model(config: Any, shapes: Shapes, named: Path) -> Any:
    """Build a causal LM without memory, and check that the weights are as many as it needs."""
    transformers = require_extra("transformers")
    with (
        quietly(),
        trying(named, "the configuration of a language model"),
        torch.device("meta"),
    ):
        model = transformers.AutoModelForCausalLM.from_config(
            config, trust_remote_code=False, attn_implementation="eager"
        )
    there = sum(prod(shape) for shape in shapes.values())
    needed = sum(parameter.numel() for parameter in model.parameters())
    beside = sum(buffer.numel() for buffer in model.buffers())
    if needed > there:
        raise FormatError(
            f"{named}: asks for {needed:,} weights, but there are {there:,} in its files"
        )
    if beside > there + _BUFFERS:
        raise FormatError(f"{named}: asks for {beside:,} numbers beside its weights")
    return model


def load_model(where: Mapping[str, Any], config: Any, dtype: torch.dtype, named: Path) -> Any:
    """Load a causal LM on the CPU in evaluation mode; every weight must be in the files."""
    transformers = require_extra("transformers")
    extra = {} if "gguf_file" in where else {"use_safetensors": True}

    def loaded(attention: str) -> Any:
        return transformers.AutoModelForCausalLM.from_pretrained(
            **where,
            **extra,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            dtype=dtype,
            attn_implementation=attention,
            output_loading_info=True,
        )

    with quietly(), trying(named, "a language model"), torch.device("cpu"):
        try:
            model, told = loaded("sdpa")
        except (ValueError, ImportError):  # some models have their own way to attend only
            model, told = loaded("eager")
    missing = sorted(told["missing_keys"])
    if missing:
        raise FormatError(
            f"{named}: {len(missing)} of the weights that its configuration asks for are missing,"
            f" such as {missing[0]}"
        )
    return model.eval()


def load_tokenizer(where: Mapping[str, Any], named: Path) -> Any:
    """Load the tokenizer of a model."""
    transformers = require_extra("transformers")
    with quietly(), trying(named, "a folder with a tokenizer"):
        return transformers.AutoTokenizer.from_pretrained(
            **where, local_files_only=True, trust_remote_code=False
        )
