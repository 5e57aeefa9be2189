"""Read the windows of a batch and add up the gradients of its loss.

A process works through its shares of a batch side by side, so it keeps the backbone's state of each
share between two windows; those states and the process's random numbers are part of a checkpoint.
"""

from collections.abc import Sequence

import torch

from lrlm.batching import Window
from lrlm.models import LanguageModel, WindowReader
from lrlm.runs.devices import Precision
from lrlm.runs.run import Tensors


class GradientAccumulator:
    """Reads the shares of one process, window after window, and adds up gradients."""

    def __init__(self, model: LanguageModel, precision: Precision, device: torch.device) -> None:
        self.model = model
        self._precision = precision
        self._device = device
        self._windows: Sequence[Sequence[Window]] = ()
        self._readers: list[WindowReader] = []
        """One for each share; each remembers what was read of its windows before."""
        self._states_to_take_up: Tensors = {}

    def begin(self, windows: Sequence[Sequence[Window]]) -> None:
        """Take the windows of each share of a batch, and the states of a checkpoint if any."""
        self._windows = windows
        self._readers = []
        for share in range(len(windows)):
            tensors = under(f"share/{share}/", self._states_to_take_up)
            state = self.model.backbone.restore_state(tensors) if tensors else None
            self._readers.append(WindowReader(self.model, state=state))
        self._states_to_take_up = {}

    def end(self) -> None:
        """Forget a batch."""
        self.begin(())

    def add(self, number: int, weight: float) -> float:
        """Add the gradients of this window of each share; give the nats of these windows."""
        self.model.train()
        nats = 0.0
        for reader, windows in zip(self._readers, self._windows, strict=True):
            if number < len(windows):
                nats += self._add(reader, windows[number], weight)
        return nats

    def _add(self, reader: WindowReader, window: Window, weight: float) -> float:
        with self._precision():
            here, scores = reader.read(window)
            nats_B, _ = scores.nats(here)
        nats = nats_B.sum()
        torch.autograd.backward(nats / weight)
        reader.detach()
        return float(nats.detach())

    def own_tensors(self) -> Tensors:
        """Give all that differs between processes: random numbers and the shares' states."""
        own = {"random/cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            own["random/cuda"] = torch.cuda.get_rng_state(self._device)
        for share, reader in enumerate(self._readers):
            tensors = {} if reader.state is None else reader.state.tensors()
            for name, tensor in tensors.items():
                own[f"share/{share}/{name}"] = tensor.contiguous()
        return own

    def restore(self, own: Tensors) -> None:
        """Take on what `own_tensors` gave; the states when the batch begins again."""
        torch.set_rng_state(own["random/cpu"])
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(own["random/cuda"], self._device)
        self._states_to_take_up = own


def under(prefix: str, tensors: Tensors) -> Tensors:
    """Give the tensors whose names begin so, without that beginning."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
