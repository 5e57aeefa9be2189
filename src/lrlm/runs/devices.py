"""Choose the device that a model runs on and the precision it computes in."""

import itertools
import os
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn

from lrlm.backbones.fast_cpu import is_made_for_bfloat16
from lrlm.errors import InputError


def choose_device(name: str) -> torch.device:
    """Find the device that a setting names; processes on one machine take one GPU each."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise InputError(f"a model runs on cpu or cuda, not on {name!r}")
        if device.type == "cuda" and device.index is None and are_several():
            device = torch.device("cuda", local_rank())
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        raise InputError(f"the device {name!r} cannot be used here ({reason[:120]})") from None
    return device


def are_several() -> bool:
    """Tell whether this process was started as one of several, as by `torchrun`."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def is_first() -> bool:
    """Tell whether this process is the only one or the first of several."""
    return int(os.environ.get("RANK", "0")) == 0


def local_rank() -> int:
    """Tell which of the processes on this machine this one is."""
    return int(os.environ.get("LOCAL_RANK", "0"))


class Precision:
    """In what numbers a model computes; its weights are always float32."""

    def __init__(self, name: str, device: torch.device, model: nn.Module) -> None:
        """`name` is one of `PRECISIONS`; what the device cannot compute is refused."""
        if name in ("auto", "fastest"):
            is_made_for_it = (
                is_made_for_bfloat16()
                if device.type == "cpu" and name == "fastest"
                else device.type == "cuda" and torch.cuda.is_bf16_supported()
            )
            name = "bfloat16" if is_made_for_it else "float32"
        self.name = name
        self._device = device
        if device.type == "cpu":
            return
        # Not every GPU has the fused LSTM in bfloat16, and there is no list of those.
        lstms = (module for module in model.modules() if isinstance(module, nn.LSTM))
        for lstm in itertools.islice(lstms, 1):
            try:
                with self(), torch.no_grad():
                    lstm(torch.zeros(1, 1, lstm.input_size, device=device))
            except RuntimeError:
                raise InputError(
                    f"an LSTM cannot compute in {name} on this {device.type};"
                    " set training.precision=float32"
                ) from None

    def __call__(self) -> AbstractContextManager[object]:
        """Give a block inside which computations are in this precision."""
        if self.name == "float32":
            return nullcontext()
        return torch.autocast(self._device.type, dtype=torch.bfloat16)
