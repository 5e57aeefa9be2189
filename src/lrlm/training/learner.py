"""The windows of a process's shares in, gradients out; with all that this process has of its own.

What it has of its own are the states of its shares between two windows, and its random numbers.
"""

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor

from lrlm.batching import Collator, EncodedDocument
from lrlm.models import LanguageModel
from lrlm.training.devices import Precision
from lrlm.training.optimiser import Tensors
from lrlm.training.shares import Share


class Learner:
    """Reads the shares of one process, window after window."""

    def __init__(
        self, model: LanguageModel, collator: Collator, precision: Precision, device: torch.device
    ) -> None:
        self.model = model
        self._collator = collator
        self._precision = precision
        self._device = device
        self._shares: list[Share] = []
        self._states_to_take_up: Tensors = {}

    def begin(self, shares: Sequence[Sequence[EncodedDocument]], *, window: int = 0) -> None:
        """Take the shares of a batch, and go to a window of theirs."""
        self._shares = [Share(documents, self._collator) for documents in shares]
        for number, share in enumerate(self._shares):
            for _ in range(window):
                share.next()
            tensors = under(f"share/{number}/", self._states_to_take_up)
            if tensors:
                share.state = dataclasses.replace(
                    self.model.backbone.initial_state(0),  # type: ignore[type-var]
                    **{name: tensor.to(self._device) for name, tensor in tensors.items()},
                )
        self._states_to_take_up = {}

    def end(self) -> None:
        """Forget the shares of a batch."""
        self._shares = []

    def learn(self, weight: float) -> float:
        """Add the gradients of each share's next window; give the nats of these windows."""
        self.model.train()
        return sum(self._learn(share, weight) for share in self._shares)

    def _learn(self, share: Share, weight: float) -> float:
        window = share.next()
        if window is None:
            return 0.0
        here = window.to(self._device, torch.float32)
        with self._precision():
            state = share.state or self.model.begin(here)
            score, state = self.model(here, state.select(here.kept_B))
        nats = score.nats_B.sum()
        (nats / weight).backward()
        share.state = state.detach()
        return float(nats.detach())

    def own_tensors(self) -> Tensors:
        """Give all that differs between processes."""
        own = {"random/cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            own["random/cuda"] = torch.cuda.get_rng_state(self._device)
        for number, share in enumerate(self._shares):
            for name, tensor in _tensors_of(share.state).items():
                own[f"share/{number}/{name}"] = tensor
        return own

    def restore(self, own: Tensors) -> None:
        """Take on what `own_tensors` gave; the states when the batch begins again."""
        torch.set_rng_state(own["random/cpu"])
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(own["random/cuda"], self._device)
        self._states_to_take_up = own


def _tensors_of(state: object) -> dict[str, Tensor]:
    """List the tensors of a backbone's state by name."""
    if state is None:
        return {}
    return {
        entry.name: getattr(state, entry.name).contiguous()
        for entry in dataclasses.fields(state)  # type: ignore[arg-type]
    }


def under(prefix: str, tensors: Tensors) -> Tensors:
    """Give the tensors whose names begin so, without that beginning."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
