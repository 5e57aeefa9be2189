"""Adam over all weights of a model, with all gradients in one buffer.

One buffer is summed over processes in one call, measured in one, and cleared in one. A few more
numbers travel in it, so that processes agree without another call.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from lrlm.runs.run import Tensors, copy_into

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Optimiser:
    """Adam over all weights of a model that can be trained."""

    def __init__(self, model: nn.Module, *, weight_decay: float = 0.0, extra: int = 0) -> None:
        """`extra` numbers are kept behind the gradients, see `extra`."""
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
        # Without weight decay this is Adam; with it, the decay is apart from the gradient.
        self._adam = torch.optim.AdamW(parameters, lr=0.0, weight_decay=weight_decay, fused=True)
        for parameter in parameters:
            self._adam.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

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
            group["lr"] = rate
        self._adam.step()

    def tensors(self) -> Tensors:
        """Give what Adam remembers, by name; the tensors change with the next step."""
        return {
            f"{moment}/{name}": self._adam.state[parameter][moment]
            for name, parameter in self._parameters.items()
            for moment in _MOMENTS
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take on what `tensors` gave."""
        copy_into(self.tensors(), tensors)


def copies(tensors: Mapping[str, Tensor]) -> Tensors:
    """Give tensors that do not change with the given ones."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}
