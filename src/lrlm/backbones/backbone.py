"""What every backbone is: a causal sequence model that reads windows and remembers between them.

To add a backbone of your own, write a configuration (a frozen dataclass that inherits from
`BackboneConfig`) whose `build` makes a `Backbone`, and pass it to `lrlm.train(backbone=…)`.
`register_backbone` gives it a name, so that runs made with it can be opened again.

Shapes: B rows, T tokens of a window, I input width, D output width.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from lrlm.arrays import Floats
from lrlm.checks import check_shape
from lrlm.errors import InputError, ShapeError


class State(ABC):
    """What a backbone remembers of what each row has read; a value, never changed in place."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows are remembered."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """The tensors of the memory by name, for a checkpoint."""

    @abstractmethod
    def detach(self) -> Self:
        """The same memory without the graph that made it, for truncated backpropagation."""

    @abstractmethod
    def select(self, rows: Tensor) -> Self:
        """The memory of the rows at these indices, in their order; an index may come twice."""


Stepper = Callable[[Tensor, State], tuple[Tensor, State]]
"""Reads one token a row: vectors (B, I) and a state → hidden states (B, D) and the next state."""


class Backbone(nn.Module, ABC):
    """A causal sequence model: output `t` is the hidden state after reading input `t`.

    Rows of a window may have different lengths, also none. What stands in the padding after a
    row's end is never read; outputs there are zero. The returned state of a row is the one after
    its own last token, so that a document read in many windows is the same as in one.
    """

    input_size: int
    """Width I of the vectors that are read."""

    output_size: int
    """Width D of the hidden states."""

    reads_at_once: bool = False
    """Whether several known tokens are read faster in one window than one by one."""

    remembers_all: bool = False
    """Whether states are the same wherever a text is cut into windows, however long it is."""

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """The state before anything was read, on the module's device and in its number type."""

    @abstractmethod
    def restore_state(self, tensors: Mapping[str, Tensor]) -> State:
        """Make a state of the tensors that its `tensors()` gave, on the module's device."""

    @abstractmethod
    def forward(self, inputs_BTI: Tensor, lengths_B: Tensor, state: State) -> tuple[Tensor, State]:
        """Read a window: the hidden states (B, T, D), zero at padding, and the state after it."""

    def reading_settings(self) -> dict[str, Any]:
        """Name what its states depend on beside its weights, where states are kept."""
        return {}

    def stepper(self) -> Stepper:
        """Give a function that reads one token a row as `forward` does, for generating text.

        It applies no dropout, computes no gradients, and may keep a copy of the weights.
        """
        return self._step

    def _step(self, inputs_BI: Tensor, state: State) -> tuple[Tensor, State]:
        lengths_B = torch.ones(len(inputs_BI), dtype=torch.long, device=inputs_BI.device)
        outputs_B1D, after = self(inputs_BI[:, None], lengths_B, state)
        return outputs_B1D[:, 0], after


class BackboneConfig(ABC):
    """The sizes of a backbone; subclasses are frozen dataclasses whose fields are settings."""

    name: ClassVar[str]
    """What configurations and the command line call it, as `lstm`."""
    label: ClassVar[str]
    """What tables call it, as "LSTM"."""
    knows_names: ClassVar[bool] = False
    """Whether it has read so much that it can write many names by itself."""

    reads_backward: ClassVar[bool] = True
    """Whether it can learn to read texts from the last token to the first."""
    learns: bool = True
    """Whether training changes it; what one that does not learn makes of a text is kept."""
    learning_rate_share: float = 1.0
    """The learning rate of its weights, as a share of that of the other weights."""

    @abstractmethod
    def build(self, input_size: int) -> Backbone:
        """Make the backbone with fresh weights, for input vectors of this width."""

    def fixed_input_size(self) -> int | None:
        """Give the width of the vectors that it reads, where that is fixed: None if any will do."""
        return None

    def absolute(self) -> Self:
        """Give a configuration that names its files in a way that holds everywhere."""
        return self

    def found(self, packed: Path) -> Self:
        """Give a configuration that finds its files, which may lie in the folder `packed`."""
        del packed
        return self

    def file_paths(self) -> list[Path]:
        """List the files that it is made from, where it is a pretrained language model."""
        return []

    def manifest_entries(self) -> dict[str, Any]:
        """Give what the manifest of a run keeps of files that are not in the run's folder."""
        return {}

    def check(self, manifest: Mapping[str, Any], run: Path) -> None:
        """Refuse files that are not those that a run was trained with."""
        del manifest, run

    def token_vectors(self) -> Floats:
        """Give the vectors of its own tokens, (V, W), where it is a pretrained language model."""
        raise InputError(
            f"features.forms.source=backbone needs a pretrained language model, but {self.name} has"
            " no vectors of its own"
        )


BACKBONES: dict[str, type[BackboneConfig]] = {}
"""Every backbone that can be named in a configuration, in the order they were registered."""


def register_backbone(config: type[BackboneConfig]) -> type[BackboneConfig]:
    """Let configurations and run folders name a backbone; usable as a decorator.

    A name that another class has already is refused. A run that was trained with a backbone of
    your own is opened after the module that registers it was imported.

    >>> @register_backbone
    ... class WideLstmConfig(LstmConfig):
    ...     name = "wide-lstm"
    ...     label = "wide LSTM"
    >>> list(BACKBONES)
    ['lstm', 'transformer-xl', 'pretrained', 'wide-lstm']
    """
    if BACKBONES.setdefault(config.name, config) is not config:
        raise InputError(f"there is another backbone with the name {config.name!r} already")
    return config


def check_window(inputs_BTI: Tensor, lengths_B: Tensor, state_rows: int, input_size: int) -> None:
    """Refuse a window whose shapes disagree with each other or with the backbone."""
    check_shape("inputs_BTI", inputs_BTI, (None, None, input_size))
    rows = len(inputs_BTI)
    check_shape("lengths_B", lengths_B, (rows,))
    if state_rows != rows:
        raise ShapeError(f"state remembers {state_rows} rows, but inputs_BTI has {rows}")
