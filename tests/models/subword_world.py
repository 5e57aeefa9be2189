"""A world of nine subwords and a topic, small enough that every text of some tokens can be written.

The tokenizer cuts as GPT-2's does: a space belongs to the token after it, where there is such a
token; before "b" there is none, so " b" is two tokens, as digits are in many language models.
"""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from lrlm.backbones import Pretrained
from lrlm.features import Features, RelationTable
from lrlm.features.form_vectors import EmbeddedNames
from lrlm.heads import PretrainedLayersConfig, RelationConfig
from lrlm.knowledge import Relation, Topic
from lrlm.models import ModelConfig
from lrlm.runs.config import RunConfig, TrainingConfig
from lrlm.runs.run import Run, RunSetup
from lrlm.runs.token_spaces import SubwordConfig
from lrlm.text.subword_tokenizer import SubwordTokenizer
from tests.generators.tiny_backbones import save_tiny_llama
from tests.toy_run import MANIFEST

TOKENS = ("<|endoftext|>", "a", "b", "(", "-", "Ċ", "Ġ", "Ġa", "ab", "Ġab")

TOPIC = Topic(
    "ab",
    names=["ab"],
    relations=[
        Relation("first", "a", forms=["a", "ab"]),
        Relation("second", "b", forms=["b", "a b"]),
        Relation("open", "a(", forms=["a("]),
    ],
)
"""Names that are one token or several, that overlap, that begin with a lone space, and one after
which any token may follow."""

LONELY = Topic("-", names=["-"])
"""A topic without relations: its only name is no name."""


def tokenizer() -> PreTrainedTokenizerFast:
    """The tokenizer of the world."""
    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    merges = [("Ġ", "a"), ("a", "b"), ("Ġa", "b")]
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )


def subword_run(
    folder: Path,
    patch: pytest.MonkeyPatch,
    *,
    kind: str = "lrlm",
    facts_in_context: bool = False,
    tuning: str = "frozen",
    window: int = 50,
    context: int = 64,
    named: bool = False,
) -> Run:
    """A run on a language model with random weights, in float64.

    Nine tokens cannot write every text, which the tokenizer would be refused for.
    """
    patch.setattr(SubwordTokenizer, "_check", lambda _self: None)
    source = folder / "lm"
    if not source.exists():
        save_tiny_llama(source, tokenizer(), width=8, spread=0.9)
    backbone = Pretrained(str(source), tuning=tuning, context=context, lora_rank=2)
    config = RunConfig(
        vocabulary=SubwordConfig(),
        model=ModelConfig(
            kind=kind,
            backbone=backbone,
            words=PretrainedLayersConfig(tuned_rank=2 if kind == "lrlm" else None),
            relations=RelationConfig(
                type_size=4, object_size=4, hidden_size=5, names=True, named=named
            ),
            facts_in_context=facts_in_context,
        ),
        training=TrainingConfig(window=window),
    )
    features = Features(RelationTable.empty(4), None, None)
    space = SubwordConfig().open(folder, {}, features, backbone)
    names = EmbeddedNames(space.encode_text, backbone.token_vectors())
    setup = RunSetup({**MANIFEST, **backbone.manifest_entries()}, config, space, features, names)
    torch.manual_seed(2)
    model = setup.new_model()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = 0.2 if name.startswith("words.") else 0.5  # else hardly any text would end
            parameter.add_(torch.randn_like(parameter) * spread)
    return Run(folder, setup, model.double().eval())
