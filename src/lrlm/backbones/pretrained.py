"""A pretrained causal language model as a backbone: frozen, with adapters, or trained as a whole.

What a position sees is a function of its place in the document alone, never of windows or batches.
A document is read in blocks of at most C tokens (`context`): when a block is full, the next one
begins with its last C/2 tokens, read again from position 0.

Shapes: B rows, T tokens of a window, I input width, D output width, M slots of memory, K slots that
can be looked at (M + T).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from operator import add
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from lrlm.backbones.adapters import inject_adapters
from lrlm.backbones.backbone import Backbone, State, check_window
from lrlm.backbones.causal_lm import VECTORS, CausalLM, frozen_lm, loaded_lm
from lrlm.backbones.pretrained_config import Pretrained
from lrlm.backbones.slots import Slots, right_aligned, stacked
from lrlm.checks import check_shape
from lrlm.errors import InputError


@dataclass(frozen=True, slots=True)
class PretrainedState(State):
    """The block that each row is in: of every token its vector, and the LM's keys and values."""

    slots: Slots
    filled: tuple[int, ...]
    """How many of the last slots of a row hold a token."""
    device: torch.device

    @property
    def rows(self) -> int:
        """How many rows are remembered."""
        return len(self.filled)

    @property
    def has_keys(self) -> bool:
        """Whether keys and values are there, or only vectors, which must be read again."""
        return not self.slots.length or len(self.slots.tensors()) > 1

    def tensors(self) -> dict[str, Tensor]:
        """What is kept of every token, and how many tokens there are."""
        kept = {
            f"slots_{number}": tensor.clone(memory_format=torch.contiguous_format)
            for number, tensor in self.slots.tensors().items()
        }
        return {"filled_B": torch.tensor(self.filled, dtype=torch.long), **kept}

    def detach(self) -> "PretrainedState":
        """The same memory without the graph that made it."""
        return PretrainedState(self.slots.detach(), self.filled, self.device)

    def select(self, rows: Tensor) -> "PretrainedState":
        """The memory of the rows at these indices, in their order."""
        return self.select_rows(rows.tolist())

    def select_rows(self, rows: Sequence[int]) -> "PretrainedState":
        """The memory of some rows; that of all in their order is this one itself."""
        if list(rows) == list(range(self.rows)):
            return self
        chosen = self.slots.select(torch.tensor(rows, dtype=torch.long, device=self.device))
        return PretrainedState(chosen, tuple(self.filled[row] for row in rows), self.device)


class PretrainedBackbone(Backbone):
    """A pretrained language model that reads rows of different lengths, and goes on from a state.

    What does not learn is not among the module's parameters, so it is not saved with a run: nothing
    where the LM is frozen, its own weights where adapters learn.
    """

    reads_at_once = True

    def __init__(self, config: Pretrained, input_size: int) -> None:
        super().__init__()
        self.config = config
        self.files = config.files()
        """Where the LM came from."""
        device = torch.get_default_device()
        self._outside = torch.float32
        self._lm = self._load(device)
        if self._lm.input_size != input_size:
            raise InputError(
                f"{config.source} reads vectors of width {self._lm.input_size}, not {input_size}"
            )
        self.input_size, self.output_size = self._lm.input_size, self._lm.output_size
        longest = self._lm.longest_context()
        self.context = config.context if longest is None else min(config.context, longest)
        """Tokens that the LM sees at most."""
        if config.tuning == "lora":
            self.adapters = inject_adapters(
                self._lm.module,
                self._lm.output,
                rank=config.lora_rank,
                alpha=config.lora_alpha,
                dropout=config.lora_dropout,
            )
        elif config.tuning == "full":
            self.language_model = self._lm.module
        if config.gradient_checkpointing and config.tuning != "frozen":
            self._lm.module.gradient_checkpointing_enable({"use_reentrant": False})
        self.train(self.training)

    def _load(self, device: torch.device) -> CausalLM:
        if device.type == "meta":
            return CausalLM(self.files.empty_language_model(), self.config.source)
        dtype = self.config.number_type(self._outside, device)
        if self.config.tuning == "frozen":
            return frozen_lm(self.files, dtype, device)
        if self.config.tuning == "full":
            dtype = self._outside  # what learns stays wide; only its products are in bfloat16
        lm = loaded_lm(self.files, dtype, device)
        lm.module.requires_grad_(requires_grad=self.config.tuning == "full")
        return lm

    def train(self, mode: bool = True) -> Self:
        """Drop values in training where something of the LM learns."""
        super().train(mode)
        self._lm.module.train(mode and self.config.tuning != "frozen")
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the LM too, or take another one where it is shared with others."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        device = self._lm.device
        if device.type == "meta":
            return self
        moved = fn(torch.empty(0, dtype=self._outside, device=device))
        self._outside = moved.dtype
        dtype = self.config.number_type(moved.dtype, moved.device)
        if self.config.tuning == "frozen":
            if (dtype, moved.device) != (self._lm.dtype, device):
                self._lm = frozen_lm(self.files, dtype, moved.device)
        elif self.config.tuning == "lora":
            learning = {id(parameter) for parameter in self.adapters.parameters()}
            for tensor in (*self._lm.module.parameters(), *self._lm.module.buffers()):
                if id(tensor) not in learning:
                    is_real = tensor.is_floating_point()
                    tensor.data = tensor.data.to(moved.device, dtype if is_real else None)
        return self

    def reading_settings(self) -> dict[str, Any]:
        """Name how much the LM sees at a time, and in what numbers it computes."""
        return {"context": self.context, "numbers": str(self._lm.dtype)}

    def embed(self, ids: Tensor) -> Tensor:
        """Give the vectors that the LM reads tokens as: ids of any shape, with I behind it."""
        vectors: Tensor = self._lm.embedding(ids)
        return vectors.to(self._outside)

    def scores(self, states_XD: Tensor) -> Tensor:
        """Give the LM's score of every token in each state, before they are normalised: (X, V)."""
        with self._computing():
            return self._lm.scores(states_XD)

    def rough_scores(self, states_XD: Tensor) -> Tensor:
        """Give the same to about two digits where that is faster: to learn from a few tokens."""
        with self._computing():
            return self._lm.rough_scores(states_XD)

    @property
    def tokens(self) -> int:
        """How many tokens the LM has scores for, some of which may stand for nothing."""
        return self._lm.tokens_written

    @property
    def tokens_read(self) -> int:
        """How many tokens the LM has vectors for."""
        return self._lm.tokens_read

    def initial_state(self, rows: int) -> PretrainedState:
        """A state in which nothing was read."""
        return PretrainedState(Slots.of({}), (0,) * rows, self._lm.device)

    def restore_state(self, tensors: Mapping[str, Tensor]) -> PretrainedState:
        """Take up the memory of a checkpoint."""
        device = self._lm.device
        kept = {
            int(name.removeprefix("slots_")): tensor.to(device)
            for name, tensor in tensors.items()
            if name.startswith("slots_")
        }
        return PretrainedState(Slots.of(kept), tuple(tensors["filled_B"].tolist()), device)

    def forward(
        self, inputs_BTI: Tensor, lengths_B: Tensor, state: State
    ) -> tuple[Tensor, PretrainedState]:
        """Read a window: the hidden states (B, T, D), zero at padding, and the state after it."""
        before = self._own_state(state)
        check_window(inputs_BTI, lengths_B, before.rows, self.input_size)
        return self._read(inputs_BTI, lengths_B.tolist(), before)

    def stepper(self) -> Callable[[Tensor, State], tuple[Tensor, PretrainedState]]:
        """Give a function that reads one token a row, without what only windows need."""

        @torch.no_grad()
        def step(inputs_BI: Tensor, state: State) -> tuple[Tensor, PretrainedState]:
            before = self._own_state(state)
            check_shape("inputs_BI", inputs_BI, (before.rows, self.input_size))
            with self._evaluating():
                outputs_B1D, after = self._read(inputs_BI[:, None], [1] * before.rows, before)
            return outputs_B1D[:, 0], after

        return step

    def _own_state(self, state: State) -> PretrainedState:
        if not isinstance(state, PretrainedState):
            raise InputError(
                f"a pretrained LM continues from a PretrainedState, not {type(state).__name__}"
            )
        return state

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Drop nothing for a while."""
        was_training = self.training
        if was_training:
            self.eval()
        try:
            yield
        finally:
            if was_training:
                self.train()

    def _computing(self) -> AbstractContextManager[object]:
        """Compute in the LM's own precision where it is frozen; else as is wanted around it."""
        device = self._lm.device.type
        if self.config.tuning == "frozen":
            return torch.autocast(device, enabled=False)
        chosen = self.config.number_type(self._outside, self._lm.device)
        if self.config.tuning == "full" and chosen != self._lm.dtype:
            return torch.autocast(device, dtype=chosen)
        return nullcontext()

    def _read(
        self, inputs_BTI: Tensor, lengths: Sequence[int], state: PretrainedState
    ) -> tuple[Tensor, PretrainedState]:
        """Read what fits into the blocks that the rows are in, then what is in the next ones."""
        ends = [filled + length for filled, length in zip(state.filled, lengths, strict=True)]
        if max(ends, default=0) <= self.context:
            return self._read_block(inputs_BTI, lengths, state)
        first = [
            min(end, self.context) - filled for end, filled in zip(ends, state.filled, strict=True)
        ]
        outputs, after = self._read_block(inputs_BTI, first, state)
        parts = [[row[:count]] for row, count in zip(outputs, first, strict=True)]
        vectors = _rows_so_far(inputs_BTI, lengths, state)
        again = self.context // 2
        begin, end = self.context - again, self.context
        while rows := [row for row, its_end in enumerate(ends) if its_end > end]:
            windows = [vectors[row][begin : begin + self.context] for row in rows]
            outputs, of_rows = self._read_block(
                pad_sequence(windows, batch_first=True),
                [len(window) for window in windows],
                self.initial_state(len(rows)),
            )
            for row, window, states in zip(rows, windows, outputs, strict=True):
                parts[row].append(states[again : len(window)])
            after = _with_rows(after, rows, of_rows)
            begin, end = begin + self.context - again, end + self.context - again
        outputs_BTD = pad_sequence([torch.cat(part) for part in parts], batch_first=True)
        return _padded(outputs_BTD, inputs_BTI.shape[1]), after

    def _read_block(
        self, inputs_BTI: Tensor, lengths: Sequence[int], state: PretrainedState
    ) -> tuple[Tensor, PretrainedState]:
        """Read tokens that fit into the block that each row is in."""
        rows, steps, _ = inputs_BTI.shape
        longest = max(lengths, default=0)
        if not longest:
            return inputs_BTI.new_zeros(rows, steps, self.output_size), state
        keeps = self._lm.remembers and not self._checkpoints()
        if state.slots.length and not (keeps and state.has_keys):
            return self._read_again(inputs_BTI, lengths, state)
        values_BTI = inputs_BTI[:, :longest]
        padding_BT1 = _padding(lengths, longest, values_BTI)
        if padding_BT1 is not None:
            values_BTI = values_BTI.masked_fill(padding_BT1, 0.0)
        vectors_BTI = values_BTI.to(self._lm.dtype)
        mask_BK, positions_BT = self._places(state, longest)
        with self._computing():
            states_BTD, slots = self._lm.read(
                vectors_BTI, state.slots if keeps else None, mask_BK, positions_BT
            )
        if not keeps:
            slots = Slots.of({VECTORS: vectors_BTI})
        states_BTD = states_BTD.to(inputs_BTI.dtype)
        filled = tuple(map(add, state.filled, lengths))
        if padding_BT1 is not None:
            states_BTD = states_BTD.masked_fill(padding_BT1, 0.0)
            ends = [state.slots.length + length for length in lengths]
            slots = right_aligned(slots, ends, max(filled))
        return _padded(states_BTD, steps), PretrainedState(slots, filled, self._lm.device)

    def _read_again(
        self, inputs_BTI: Tensor, lengths: Sequence[int], state: PretrainedState
    ) -> tuple[Tensor, PretrainedState]:
        """Read the whole block of each row from its beginning, where only vectors are kept."""
        vectors = _rows_so_far(inputs_BTI, lengths, state)
        outputs, after = self._read_block(
            pad_sequence(vectors, batch_first=True),
            [len(each) for each in vectors],
            self.initial_state(state.rows),
        )
        new = [
            states[filled : filled + length]
            for states, filled, length in zip(outputs, state.filled, lengths, strict=True)
        ]
        return _padded(pad_sequence(new, batch_first=True), inputs_BTI.shape[1]), after

    def _checkpoints(self) -> bool:
        """Whether states will be computed again for the gradient, so that no keys can be kept."""
        return self.config.gradient_checkpointing and self.training and torch.is_grad_enabled()

    def _places(self, state: PretrainedState, steps: int) -> tuple[Tensor | None, Tensor | None]:
        """Say which slots hold a token (B, K), and at which positions new tokens stand (B, T).

        Both are left out where the LM itself would take them for the same.
        """
        slots, device = state.slots.length, self._lm.device
        if not slots:
            return None, None
        steps_T = torch.arange(steps, device=device)
        if min(state.filled) == slots:
            return None, slots + steps_T[None]
        filled_B1 = torch.tensor(state.filled, device=device)[:, None]
        mask_BK = torch.arange(slots + steps, device=device) >= slots - filled_B1
        # Behind the end of a row there may be positions that the LM does not have.
        return mask_BK, (filled_B1 + steps_T).clamp(max=self.context - 1)


def _padding(lengths: Sequence[int], steps: int, like: Tensor) -> Tensor | None:
    """Say which steps are behind the end of their row (B, T, 1); None where none is."""
    if min(lengths) == steps:
        return None
    lengths_B = torch.tensor(lengths, device=like.device)
    steps_T = torch.arange(steps, device=like.device)
    return (steps_T >= lengths_B[:, None])[..., None]


def _padded(values_BTD: Tensor, steps: int) -> Tensor:
    """Put zeros behind until there are so many steps."""
    missing = steps - values_BTD.shape[1]
    return functional.pad(values_BTD, (0, 0, 0, missing)) if missing else values_BTD


def _rows_so_far(
    inputs_BTI: Tensor, lengths: Sequence[int], state: PretrainedState
) -> list[Tensor]:
    """Give the vectors of each row's block, the new ones behind those that are kept."""
    new = [row[:length] for row, length in zip(inputs_BTI, lengths, strict=True)]
    if not state.slots.length:
        return new
    kept_BMI = state.slots.tensors()[VECTORS].to(inputs_BTI.dtype)
    slots = state.slots.length
    return [
        torch.cat([row[slots - filled :], vectors])
        for row, filled, vectors in zip(kept_BMI, state.filled, new, strict=True)
    ]


def _with_rows(
    state: PretrainedState, rows: Sequence[int], of_rows: PretrainedState
) -> PretrainedState:
    """Put another memory in the place of some rows."""
    others = [row for row in range(state.rows) if row not in rows]
    kept = state.select_rows(others)
    place = {row: number for number, row in enumerate([*others, *rows])}
    both = PretrainedState(
        stacked([(kept.slots, kept.rows), (of_rows.slots, of_rows.rows)]),
        kept.filled + of_rows.filled,
        state.device,
    )
    return both.select_rows([place[row] for row in range(state.rows)])
