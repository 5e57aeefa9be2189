"""Pretrained language models of a few kilobytes, with random weights, made without a network."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPT2Config,
    Lfm2Config,
    LlamaConfig,
    MambaConfig,
    PreTrainedTokenizerFast,
)

from lrlm.pretrained import quietly

TOKENS = 40


def word_tokenizer(words: int = TOKENS) -> PreTrainedTokenizerFast:
    """The least that is a tokenizer: it knows the words w0, w1, …"""
    vocabulary = {f"w{number}": number for number in range(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="w0", bos_token="w1", eos_token="w1"
    )


def save_tiny(
    folder: Path,
    config: Any,
    tokenizer: PreTrainedTokenizerFast | None = None,
    *,
    seed: int = 0,
    spread: float = 0.4,
    **options: Any,
) -> Path:
    """Save a model with random weights, larger than usual so that differences show."""
    torch.manual_seed(seed)
    with quietly():
        model = AutoModelForCausalLM.from_config(config)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(std=spread)
        model.save_pretrained(folder, **options)
        (tokenizer or word_tokenizer()).save_pretrained(folder)
    return folder


def _size(tokenizer: PreTrainedTokenizerFast | None) -> int:
    return TOKENS if tokenizer is None else len(tokenizer)


def save_tiny_llama(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast | None = None,
    *,
    width: int = 32,
    positions: int = 4096,
    seed: int = 0,
    spread: float = 0.4,
    **options: Any,
) -> Path:
    """Rotary positions, heads that share keys; the vectors of tokens are tied or not."""
    config = LlamaConfig(
        **{
            "vocab_size": _size(tokenizer),
            "hidden_size": width,
            "intermediate_size": 2 * width,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 4,
            "max_position_embeddings": positions,
            "tie_word_embeddings": True,
            "bos_token_id": 1,
            "eos_token_id": 1,
            **options,
        }
    )
    return save_tiny(folder, config, tokenizer, seed=seed, spread=spread)


def save_tiny_gpt2(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast | None = None,
    *,
    width: int = 32,
    positions: int = 64,
    dropout: float = 0.0,
) -> Path:
    """Learned positions, keys and values from one product."""
    config = GPT2Config(
        vocab_size=_size(tokenizer), n_embd=width, n_layer=2, n_head=1, n_positions=positions,
        resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    return save_tiny(folder, config, tokenizer)


def save_tiny_gemma(
    folder: Path, tokenizer: PreTrainedTokenizerFast | None = None, *, width: int = 32
) -> Path:
    """Every other layer sees four tokens only; scores are capped, of attention and of tokens."""
    config = Gemma2Config(
        vocab_size=_size(tokenizer), hidden_size=width, intermediate_size=2 * width,
        num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1, head_dim=4,
        sliding_window=4, final_logit_softcapping=3.0, attn_logit_softcapping=5.0,
        query_pre_attn_scalar=4, max_position_embeddings=4096, bos_token_id=1, eos_token_id=1,
        pad_token_id=0,
    )  # fmt: skip
    return save_tiny(folder, config, tokenizer)


def save_tiny_mamba(
    folder: Path, tokenizer: PreTrainedTokenizerFast | None = None, *, width: int = 32
) -> Path:
    """No attention at all."""
    config = MambaConfig(
        vocab_size=_size(tokenizer), hidden_size=width, num_hidden_layers=2, state_size=3,
        conv_kernel=3, time_step_rank=2, bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return save_tiny(folder, config, tokenizer)


def save_tiny_hybrid(
    folder: Path, tokenizer: PreTrainedTokenizerFast | None = None, *, width: int = 32
) -> Path:
    """A layer of convolution, then one of attention."""
    config = Lfm2Config(
        vocab_size=_size(tokenizer), hidden_size=width, intermediate_size=2 * width,
        num_hidden_layers=2, num_attention_heads=1, num_key_value_heads=1,
        layer_types=["conv", "full_attention"], conv_L_cache=3, block_multiple_of=4,
        max_position_embeddings=4096, bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    return save_tiny(folder, config, tokenizer)
