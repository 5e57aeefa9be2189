"""Pretrained language models of a few kilobytes, with random weights, made without a network."""

import atexit
import shutil
from pathlib import Path
from tempfile import mkdtemp
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
    OPTConfig,
    PreTrainedTokenizerFast,
)

from lrlm.pretrained import quietly

TOKENS = 40


def folder_of_this_process() -> Path:
    """A new folder for models that many tests read; it is gone when the process ends."""
    folder = Path(mkdtemp(prefix="tiny-lm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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


def save_tiny_opt(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast | None = None,
    *,
    width: int = 32,
    states: int = 32,
) -> Path:
    """Vectors of tokens that are narrower than the states between the layers."""
    config = OPTConfig(
        vocab_size=_size(tokenizer), hidden_size=states, word_embed_proj_dim=width, ffn_dim=16,
        num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=64, pad_token_id=0,
        bos_token_id=1, eos_token_id=1, dropout=0.0, do_layer_norm_before=False,
    )  # fmt: skip
    return save_tiny(folder, config, tokenizer)


def save_tiny_gguf(path: Path, folder: Path) -> Path:
    """Write the Llama that is in a folder as a GGUF file, with a tokenizer of its tokens."""
    import gguf

    with quietly():
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config, weights = model.config, model.state_dict()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    letters = [chr(ord("a") + number) for number in range(26)]
    tokens = [*letters, "ab", *(f"t{number}" for number in range(27, TOKENS))]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(1)
    names = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    writer.add_tensor("token_embd.weight", weights["model.embed_tokens.weight"].numpy())
    writer.add_tensor("output_norm.weight", weights["model.norm.weight"].numpy())
    for layer in range(config.num_hidden_layers):
        for own, theirs in names.items():
            tensor = weights[f"model.layers.{layer}.{own}.weight"]
            if theirs in ("attn_q", "attn_k"):  # halves of a head are written in turns there
                heads = len(tensor) // config.head_dim
                halves = tensor.view(heads, 2, config.head_dim // 2, -1)
                tensor = halves.transpose(1, 2).reshape(tensor.shape)
            writer.add_tensor(f"blk.{layer}.{theirs}.weight", tensor.contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
