"""The windows of a process's shares in, gradients out; with all that this process has of its own.

What it has of its own are the states of its shares between two windows, and its random numbers.
"""

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor

from lrlm.backbones import State
from lrlm.batching import Window
from lrlm.models import LanguageModel
from lrlm.training.devices import Precision
from lrlm.training.optimiser import Tensors


class Learner:
    """Reads the shares of one process, window after window."""

    def __init__(self, model: LanguageModel, precision: Precision, device: torch.device) -> None:
        self.model = model
        self._precision = precision
        self._device = device
        self._windows: Sequence[Sequence[Window]] = ()
        self._states: list[State | None] = []
        """What the backbone remembers of each share's windows before; None at the beginning."""
        self._states_to_take_up: Tensors = {}

    def begin(self, windows: Sequence[Sequence[Window]]) -> None:
        """Take the windows of each share of a batch, and the states of a checkpoint if any."""
        self._windows = windows
        self._states = [None] * len(windows)
        for share in range(len(windows)):
            tensors = under(f"share/{share}/", self._states_to_take_up)
            if tensors:
                self._states[share] = dataclasses.replace(
                    self.model.backbone.initial_state(0),  # type: ignore[type-var]
                    **{name: tensor.to(self._device) for name, tensor in tensors.items()},
                )
        self._states_to_take_up = {}

    def end(self) -> None:
        """Forget a batch."""
        self.begin(())

    def learn(self, number: int, weight: float) -> float:
        """Add the gradients of this window of each share; give the nats of these windows."""
        self.model.train()
        nats = 0.0
        for share, windows in enumerate(self._windows):
            if number < len(windows):
                nats += self._learn(share, windows[number], weight)
        return nats

    def _learn(self, share: int, window: Window, weight: float) -> float:
        here = window.to(self._device, torch.float32)
        with self._precision():
            state = self._states[share] or self.model.begin(here)
            score, state = self.model(here, state.select(here.kept_B))
        nats = score.nats_B.sum()
        (nats / weight).backward()
        self._states[share] = state.detach()
        return float(nats.detach())

    def own_tensors(self) -> Tensors:
        """Give all that differs between processes."""
        own = {"random/cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            own["random/cuda"] = torch.cuda.get_rng_state(self._device)
        for share, state in enumerate(self._states):
            for name, tensor in _tensors_of(state).items():
                own[f"share/{share}/{name}"] = tensor
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
