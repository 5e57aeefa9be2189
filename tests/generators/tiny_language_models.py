"""Tokenizers of every kind that pretrained language models have, trained in a moment on few texts.

Those of real models differ in how a text is cut before any token is looked for, in how spaces and
bytes are written, and in what is put before a text.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

END_OF_TEXT = "<|endoftext|>"

TEXTS = (
    "Oslo is the capital of Norway. The city lies at the Oslofjord, its mayor was born in 1990.",
    "New York City (often called New York) is the most populous city of the United States.",
    'The song "Sorry" was written by Madonna; it was released on 7 February 2006 by Warner Bros.',
    "He didn't know that the river's mouth is 1,500 km away: it isn't far from São Paulo, Brazil.",
    "In the 2012-13 season the Oslo-based club won 3-1 against New Yorkers at the Allianz Arena.",
    "Émile Zola wrote “Germinal” in Paris. Łódź, Kraków and Warszawa are cities in Poland.",
    "東京 (Tokyo) is the capital of Japan. The Norwegian krone is the currency of Norway 🙂.",
    "Madonna lives in New York and in London. The capital of the United States is Washington, D.C.",
)

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Where GPT-2 and Llama 3 cut a text before they look for tokens."""


def byte_level_bpe(
    texts: Sequence[str] = TEXTS, size: int = 600, *, pattern: str = GPT2, nfc: bool = False
) -> PreTrainedTokenizerFast:
    """As GPT-2, Llama 3 and (with `nfc`) Qwen have it: tokens are made of bytes."""
    cut = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return _byte_level(texts, size, cut, normalizer=normalizers.NFC() if nfc else None)


def digit_splitting_bpe(texts: Sequence[str] = TEXTS, size: int = 600) -> PreTrainedTokenizerFast:
    """As SmolLM2 has it: every digit is a token, and the space before a number is one."""
    cut = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    return _byte_level(texts, size, cut)


def sentencepiece_like(
    texts: Sequence[str] = TEXTS, size: int = 800, *, space_in_front: str = "prepend"
) -> PreTrainedTokenizerFast:
    """As Llama 2, Mistral ("first") and Gemma ("none") have it: `▁` is a space, `<0xE2>` a byte.

    `space_in_front` says how a text gets a space in front that it does not have.
    """
    specials, alphabet = ["<unk>", "<s>", "</s>"], [f"<0x{byte:02X}>" for byte in range(256)]
    model = models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    made = Tokenizer(model)
    made.normalizer = normalizers.Replace(" ", "▁")
    made.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[*specials, *alphabet],
        limit_alphabet=60,
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    made.pre_tokenizer = None
    if space_in_front == "first":
        made.normalizer = None
        made.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    elif space_in_front == "prepend":
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), made.normalizer])
    decoding = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if space_in_front != "none":
        decoding.append(decoders.Strip(" ", 1, 0))
    made.decoder = decoders.Sequence(decoding)
    state = json.loads(made.to_str())
    # Bytes are tokens like others: nobody can type them.
    state["added_tokens"] = [each for each in state["added_tokens"] if each["content"] in specials]
    made = Tokenizer.from_str(json.dumps(state))
    made.post_processor = TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )


def _byte_level(
    texts: Sequence[str], size: int, cut: Any, *, normalizer: Any = None
) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.normalizer = normalizer
    made.pre_tokenizer = cut
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END_OF_TEXT, "<|im_start|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<|im_start|>", eos_token=END_OF_TEXT
    )


TOKENIZER_KINDS = ("gpt2", "llama3", "qwen", "digits", "llama2", "mistral", "gemma")


@cache
def tiny_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    """Give the tokenizer of a kind, by the name of a model that has such a one."""
    makers: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
        "gpt2": byte_level_bpe,
        "llama3": lambda: byte_level_bpe(pattern=LLAMA3),
        "qwen": lambda: byte_level_bpe(pattern=LLAMA3, nfc=True),
        "digits": digit_splitting_bpe,
        "llama2": sentencepiece_like,
        "mistral": lambda: sentencepiece_like(space_in_front="first"),
        "gemma": lambda: sentencepiece_like(space_in_front="none"),
    }
    return makers[kind]()
