"""Transformer-XL as a backbone: attention by distance, and a memory beyond the window.

Shapes: L layers, B rows, T tokens of a window, I input width, D model width, M slots of memory,
K keys that can be looked at (M + T), H heads, A width of a head.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.backbones.backbone import Backbone, BackboneConfig, State, check_window
from lrlm.backbones.fast_cpu import Dropout
from lrlm.checks import DEEPEST, WIDEST, check_at_least, check_range, check_rate
from lrlm.errors import InputError


@dataclass(frozen=True, slots=True)
class TransformerXlConfig(BackboneConfig):
    """The size of a Transformer-XL; the defaults are the paper's.

    `lrlm.train(backbone=…)` takes one.

    >>> config = TransformerXlConfig(layers=4, heads=4, head_size=16, model_size=64)
    >>> config.build(input_size=128).output_size
    64
    """

    name: ClassVar[str] = "transformer-xl"
    label: ClassVar[str] = "Transformer-XL"

    layers: int = 16
    """Layers of attention and feed-forward network."""
    heads: int = 10
    """Attention heads of a layer."""
    head_size: int = 41
    """Width A of each head."""
    model_size: int = 410
    """Width D of the hidden states."""
    feed_forward_size: int = 2100
    """Width of the hidden layer of the feed-forward networks."""
    dropout: float = 0.1
    """Share of values dropped in training: of inputs, positions, outputs, and of both sublayers."""
    attention_dropout: float = 0.0
    """Share of attention weights dropped in training."""
    memory: int = 150
    """Tokens before the window that every layer remembers while training."""
    evaluation_memory: int = 150
    """Tokens before the window that every layer remembers otherwise."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        check_range("model.backbone.layers", self.layers, 1, DEEPEST)
        for name in ("heads", "head_size", "model_size", "feed_forward_size"):
            check_range(f"model.backbone.{name}", getattr(self, name), 1, WIDEST)
        for name in ("memory", "evaluation_memory"):
            check_range(f"model.backbone.{name}", getattr(self, name), 0, WIDEST)
        for name in ("dropout", "attention_dropout"):
            check_rate(f"model.backbone.{name}", getattr(self, name))

    def build(self, input_size: int) -> "TransformerXlBackbone":
        """Make a Transformer-XL with fresh weights."""
        return TransformerXlBackbone(self, input_size)


@dataclass(frozen=True, slots=True)
class TransformerXlState(State):
    """What went into every layer for the last tokens of each row, the newest in the last slot."""

    memory_LBMD: Tensor
    filled_B: Tensor
    """How many of the last slots of a row hold a token; the others hold zeros."""

    @property
    def rows(self) -> int:
        """How many rows are remembered."""
        return self.memory_LBMD.shape[1]

    def tensors(self) -> dict[str, Tensor]:
        """Both tensors by name."""
        return {"memory_LBMD": self.memory_LBMD, "filled_B": self.filled_B}

    def detach(self) -> "TransformerXlState":
        """The same memory without the graph that made it."""
        return TransformerXlState(self.memory_LBMD.detach(), self.filled_B)

    def select(self, rows: Tensor) -> "TransformerXlState":
        """The memory of the rows at these indices, in their order."""
        return TransformerXlState(
            self.memory_LBMD.index_select(1, rows), self.filled_B.index_select(0, rows)
        )


class TransformerXlBackbone(Backbone):
    """A causal Transformer that knows positions by distance and looks back beyond the window."""

    def __init__(self, config: TransformerXlConfig, input_size: int) -> None:
        super().__init__()
        check_at_least("TransformerXlBackbone.input_size", input_size, 1)
        self.config = config
        self.input_size = input_size
        self.output_size = config.model_size
        is_same_size = input_size == config.model_size
        self.project = nn.Identity() if is_same_size else nn.Linear(input_size, config.model_size)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        # Biases of all layers: how much content and how much distance attract by themselves.
        self.content_bias_HA = nn.Parameter(torch.zeros(config.heads, config.head_size))
        self.distance_bias_HA = nn.Parameter(torch.zeros(config.heads, config.head_size))

    def initial_state(self, rows: int) -> TransformerXlState:
        """An empty memory, on the module's device and in its number type."""
        bias = self.content_bias_HA
        return TransformerXlState(
            bias.new_zeros(self.config.layers, rows, 0, self.config.model_size),
            torch.zeros(rows, dtype=torch.long, device=bias.device),
        )

    def restore_state(self, tensors: Mapping[str, Tensor]) -> TransformerXlState:
        """Take up the memory of a checkpoint."""
        device = self.content_bias_HA.device
        return TransformerXlState(tensors["memory_LBMD"].to(device), tensors["filled_B"].to(device))

    def forward(
        self, inputs_BTI: Tensor, lengths_B: Tensor, state: State
    ) -> tuple[Tensor, TransformerXlState]:
        """Read a window: the hidden states (B, T, D), zero at padding, and the memory after it."""
        if not isinstance(state, TransformerXlState):
            raise InputError(
                f"a Transformer-XL continues from a TransformerXlState, not {type(state).__name__}"
            )
        check_window(inputs_BTI, lengths_B, state.rows, self.input_size)
        steps, slots = inputs_BTI.shape[1], state.memory_LBMD.shape[2]
        padding_BT1 = _places(steps, lengths_B)[..., None] >= lengths_B[:, None, None]
        values_BTD = self.project(inputs_BTI.masked_fill(padding_BT1, 0.0))
        values_BTD = self.dropout(values_BTD.masked_fill(padding_BT1, 0.0))
        distances_KD = self.dropout(_distances(slots + steps, values_BTD))
        hidden_BTK = _hidden_keys(steps, slots, state.filled_B)
        read = []
        for layer, memory_BMD in zip(self.layers, state.memory_LBMD, strict=True):
            # Two copies: what is remembered may have a gradient too (Alias LM reads names before
            # the text), and one tensor would add the two gradients up in another order.
            read.append(torch.cat([memory_BMD, values_BTD], dim=1))
            values_BTD = layer(
                values_BTD,
                seen_BKD=torch.cat([memory_BMD, values_BTD], dim=1),
                distances_KD=distances_KD,
                hidden_BTK=hidden_BTK,
                content_bias_HA=self.content_bias_HA,
                distance_bias_HA=self.distance_bias_HA,
            )
        outputs_BTD = self.dropout(values_BTD).masked_fill(padding_BT1, 0.0)
        memory_LBMD, filled_B = self._remember(torch.stack(read), slots, lengths_B, state.filled_B)
        return outputs_BTD, TransformerXlState(memory_LBMD, filled_B)

    def _remember(
        self, read_LBKD: Tensor, slots_before: int, lengths_B: Tensor, filled_B: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Keep the last tokens of each row, wherever in the window its own last token stands."""
        longest = self.config.memory if self.training else self.config.evaluation_memory
        layers, rows, keys, width = read_LBKD.shape
        slots = min(keys, longest)
        filled_B = (filled_B + lengths_B).clamp(max=slots)
        end_B = slots_before + lengths_B
        place_BM = _places(slots, lengths_B) + (end_B - slots)[:, None]
        index_LBMD = place_BM.clamp(min=0)[None, :, :, None].expand(layers, rows, slots, width)
        is_empty_BM = _places(slots, lengths_B) < (slots - filled_B)[:, None]
        memory_LBMD = read_LBKD.gather(2, index_LBMD).masked_fill(is_empty_BM[..., None], 0.0)
        return memory_LBMD, filled_B


class _Layer(nn.Module):
    """Attention by content and distance, then a feed-forward network; each added and normed."""

    def __init__(self, config: TransformerXlConfig) -> None:
        super().__init__()
        self.config = config
        self.dropout = Dropout(config.dropout)
        self.attention_dropout = Dropout(config.attention_dropout)
        inner = config.heads * config.head_size
        self.query = nn.Linear(config.model_size, inner, bias=False)
        self.key_value = nn.Linear(config.model_size, 2 * inner, bias=False)
        self.distance = nn.Linear(config.model_size, inner, bias=False)
        self.output = nn.Linear(inner, config.model_size, bias=False)
        self.attention_norm = nn.LayerNorm(config.model_size)
        self.widen = nn.Linear(config.model_size, config.feed_forward_size)
        self.narrow = nn.Linear(config.feed_forward_size, config.model_size)
        self.feed_forward_norm = nn.LayerNorm(config.model_size)

    def forward(
        self,
        values_BTD: Tensor,
        *,
        seen_BKD: Tensor,
        distances_KD: Tensor,
        hidden_BTK: Tensor,
        content_bias_HA: Tensor,
        distance_bias_HA: Tensor,
    ) -> Tensor:
        """Read values in the light of what can be seen: (B, T, D)."""
        heads, size = self.config.heads, self.config.head_size
        query_BTHA = self.query(values_BTD).unflatten(2, (heads, size))
        key_BKHA, value_BKHA = self.key_value(seen_BKD).unflatten(2, (2, heads, size)).unbind(2)
        distance_KHA = self.distance(distances_KD).unflatten(1, (heads, size))
        by_content_BHTK = torch.einsum("bthd,bkhd->bhtk", query_BTHA + content_bias_HA, key_BKHA)
        by_distance_BHTK = _align(
            torch.einsum("bthd,khd->bhtk", query_BTHA + distance_bias_HA, distance_KHA)
        )
        scores_BHTK = (by_content_BHTK + by_distance_BHTK) / math.sqrt(size)
        weights_BHTK = scores_BHTK.masked_fill(hidden_BTK[:, None], -torch.inf).softmax(3)
        weights_BHTK = self.attention_dropout(weights_BHTK)
        mixed_BTHA = torch.einsum("bhtk,bkhd->bthd", weights_BHTK, value_BKHA)
        attended_BTD = self.dropout(self.output(mixed_BTHA.flatten(2)))
        values_BTD = self.attention_norm(values_BTD + attended_BTD)
        widened = self.dropout(self.widen(values_BTD).relu())
        normed: Tensor = self.feed_forward_norm(values_BTD + self.dropout(self.narrow(widened)))
        return normed


def _places(count: int, like: Tensor) -> Tensor:
    """Number the places of every row: (1, count)."""
    return torch.arange(count, device=like.device)[None]


def _hidden_keys(steps: int, slots: int, filled_B: Tensor) -> Tensor:
    """Say which keys a token must not look at: later ones and empty slots of memory (B, T, K)."""
    key_K = _places(slots + steps, filled_B)[0]
    token_T1 = _places(steps, filled_B)[0][:, None] + slots
    is_later_TK = key_K > token_T1
    is_empty_BK = key_K < (slots - filled_B)[:, None]
    return is_later_TK | is_empty_BK[:, None]


def _distances(keys: int, like: Tensor) -> Tensor:
    """Encode the distances keys − 1, …, 1, 0 as sines and cosines: (K, D)."""
    width = like.shape[2]
    exponents = torch.arange(0, width, 2, device=like.device, dtype=like.dtype) / width
    distance_K = torch.arange(keys - 1, -1, -1, device=like.device, dtype=like.dtype)
    angles = distance_K[:, None] / 10_000**exponents
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :width]


def _align(scores_BHTK: Tensor) -> Tensor:
    """Turn columns that stand for distances into columns that stand for keys.

    Token t of T looks at key k over the distance K − T + t − k, which stands in column
    T − 1 − t + k: every row is shifted left by T − 1 − t. Padding one column and reading the
    rows anew in a matrix that is one column narrower does that for all rows at once; what is
    shifted in belongs to later keys, which are hidden.
    """
    rows, heads, steps, keys = scores_BHTK.shape
    padded = functional.pad(scores_BHTK, (1, 0))
    return padded.view(rows, heads, keys + 1, steps)[:, :, 1:].reshape(rows, heads, steps, keys)
