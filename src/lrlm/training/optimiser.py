"""Add up the gradients of a batch, and update the weights with Adam, or with Muon and Adam.

With Muon, vectors of words, biases and the matrices of small choices learn with Adam all the same,
and so do the parts that a model names in `LanguageModel.learned_with_adam`.

All gradients are in one buffer, which is summed over processes in one call, measured in one, and
cleared in one. A few more numbers travel in it, so that processes agree without another call.

A process works through its shares of a batch side by side, so it keeps the backbone's state of each
share between two windows; those states and the process's random numbers are part of a checkpoint.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lrlm.batching import Window
from lrlm.models import LanguageModel, WindowReader
from lrlm.runs.config import ADAM, MUON
from lrlm.runs.devices import Precision
from lrlm.runs.run import Tensors, copy_into
from lrlm.training.muon import Muon

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
_MOMENTUM = "momentum"
_SMALLEST_SIDE = 64
"""A matrix that maps from or to fewer numbers learns with Adam."""
_LARGEST_RATIO = 16
"""And so does one whose longer side is so many times the shorter: it is a table of tokens."""


class Optimiser:
    """Adam, or Muon and Adam, over all weights of a model that can be trained."""

    def __init__(
        self,
        model: nn.Module,
        *,
        weight_decay: float = 0.0,
        extra: int = 0,
        shares: Mapping[str, float] | None = None,
        method: str = ADAM,
        with_adam: Sequence[str] = (),
    ) -> None:
        """`extra` numbers are kept behind the gradients, see `extra`.

        Weights whose names begin with one of the keys of `shares` learn at that share of the rate.
        The parts of the model that have the names `with_adam` learn with Adam in any case.
        """
        self._parameters = {
            name: parameter
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        }
        parameters = list(self._parameters.values())
        sizes = [parameter.numel() for parameter in parameters]
        self._length = sum(sizes)
        self.buffer = parameters[0].new_zeros(self._length + extra)
        """All gradients, one after the other, and the extra numbers."""
        for parameter, part in zip(parameters, torch.split(self.gradient, sizes), strict=True):
            parameter.grad = part.view_as(parameter)
        matrices = _matrices(model, with_adam) if method == MUON else set()
        large = {n: each for n, each in self._parameters.items() if n in matrices}
        self._others = {n: each for n, each in self._parameters.items() if n not in matrices}
        share_of = {name: _share(name, shares or {}) for name in self._parameters}
        # Without weight decay this is Adam; with it, the decay is apart from the gradient.
        self._adam = torch.optim.AdamW(
            _groups(self._others, share_of), lr=0.0, weight_decay=weight_decay, fused=True
        )
        for parameter in self._others.values():
            self._adam.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        self._muon = Muon(large, share_of, weight_decay=weight_decay)

    @property
    def gradient(self) -> Tensor:
        """All gradients, one after the other."""
        return self.buffer[: self._length]

    @property
    def extra(self) -> Tensor:
        """The numbers that are summed together with the gradients."""
        return self.buffer[self._length :]

    def clear(self) -> None:
        """Forget the gradients and the extra numbers."""
        self.buffer.zero_()

    def clip(self, longest: float) -> float:
        """Scale the gradient down to a length; give the length it had."""
        length = float(torch.linalg.vector_norm(self.gradient))
        if length > longest:
            self.gradient.mul_(longest / length)
        return length

    def step(self, rate: float) -> None:
        """Update the weights."""
        for group in self._adam.param_groups:
            group["lr"] = rate * group["share"]
        self._adam.step()
        self._muon.step(rate)

    def tensors(self) -> Tensors:
        """Give what is remembered of gradients, by name; the tensors change with the next step."""
        remembered = {
            f"{moment}/{name}": self._adam.state[parameter][moment]
            for name, parameter in self._others.items()
            for moment in _MOMENTS
        }
        for name, momentum in self._muon.momentum.items():
            remembered[f"{_MOMENTUM}/{name}"] = momentum
        return remembered

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take on what `tensors` gave."""
        copy_into(self.tensors(), tensors)


def _matrices(model: nn.Module, with_adam: Sequence[str]) -> set[str]:
    """Name the weights of linear maps and LSTMs that are large enough for Muon."""
    return {
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules()
        if isinstance(module, nn.Linear | nn.LSTM) and prefix.split(".")[0] not in with_adam
        for name, parameter in module.named_parameters(recurse=False)
        if parameter.ndim == 2
        and min(parameter.shape) >= _SMALLEST_SIDE
        and max(parameter.shape) < _LARGEST_RATIO * min(parameter.shape)
    }


def _share(name: str, shares: Mapping[str, float]) -> float:
    """Give the share of the learning rate that a weight learns at."""
    return next((share for start, share in shares.items() if name.startswith(start)), 1.0)


def _groups(
    parameters: Mapping[str, nn.Parameter], share_of: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Group weights by the share of the learning rate that they learn at."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in parameters.items():
        groups.setdefault(share_of[name], []).append(parameter)
    return [{"params": members, "share": share} for share, members in groups.items()]


def copies(tensors: Mapping[str, Tensor]) -> Tensors:
    """Give tensors that do not change with the given ones."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


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
            loss_B = nats_B
            if self.model.inside_weight != 1:
                more = self.model.inside_weight - 1
                loss_B = nats_B + more * scores.inside_nats(here, nats_B)
        nats = nats_B.sum()
        torch.autograd.backward(loss_B.sum() / weight)
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
