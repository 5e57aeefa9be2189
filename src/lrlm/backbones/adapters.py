"""Low-rank adapters for a pretrained language model: LoRA, by way of peft."""

from typing import Any

from torch import nn

from lrlm.pretrained import quietly, require_extra

_NAME = "default"


def inject_adapters(
    module: Any, output: nn.Module, *, rank: int, alpha: float, dropout: float
) -> nn.ModuleDict:
    """Put adapters beside all linear layers but the one that scores tokens, and give them.

    They are part of the model from now on, and the only part of it that can learn.
    """
    peft = require_extra("peft")
    linear = (nn.Linear, require_extra("transformers.pytorch_utils").Conv1D)
    targets = [
        name
        for name, each in module.named_modules()
        if isinstance(each, linear) and each is not output
    ]
    config = peft.LoraConfig(
        r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules=targets, bias="none"
    )
    with quietly():
        peft.inject_adapter_in_model(config, module, adapter_name=_NAME)
    adapters = nn.ModuleDict()
    for name in targets:
        layer = module.get_submodule(name)
        key = name.replace(".", "-")  # a dot would be a level of its own
        adapters[key] = nn.ModuleDict({"A": layer.lora_A[_NAME], "B": layer.lora_B[_NAME]})
    return adapters
