"""A causal language model of transformers as a function from vectors to hidden states.

How the vectors of tokens become states, and states become scores of tokens, differs from model to
model. What is found out here is checked on a few tokens when a model is loaded, so that one that
would give wrong numbers is refused.

Shapes: B rows, T tokens, K slots of keys, I width of inputs, D of states, X states, V tokens.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from itertools import count, product
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from lrlm.backbones.fast_cpu import PackedLinear, can_be_packed, is_made_for_bfloat16
from lrlm.backbones.slots import AddedSlots, Slots
from lrlm.errors import InputError
from lrlm.pretrained import PretrainedFiles, quietly, require_extra, trying

_PLAIN_LAYERS = {"full_attention", "sliding_attention"}
"""Layers whose memory is the keys and values of every token."""

VECTORS = 0
"""The number of the vectors among the tensors that are kept of every token."""

_ATTENTION = "lrlm"
"""What our way to attend is called among those of transformers."""

_PROBE = 7
"""Tokens that a model is tried on."""


class CausalLM:
    """A language model that is loaded, with the layers that read and write its tokens."""

    def __init__(self, module: Any, source: str) -> None:
        self.module = module
        self._source = source
        self.body = module.base_model
        self.embedding = module.get_input_embeddings()
        self.output = module.get_output_embeddings()
        if self.body is module or self.embedding is None or self.output is None:
            raise InputError(f"{source}: its layers are not those of a causal language model")
        self.input_size = int(self.embedding.weight.shape[1])
        self.output_size = int(self.output.weight.shape[1])
        self.tokens_read = int(self.embedding.weight.shape[0])
        self.tokens_written = int(self.output.weight.shape[0])
        self.remembers = _has_plain_memory(module)
        """Whether what it remembers of a text is keys and values; else the text is read again."""
        self.score_scale, self.score_cap = 1.0, 0.0
        self._scores: Callable[[Tensor], Tensor] = self.output
        self._rough: Callable[[], Tensor] | None = None
        """Gives the table of the scores in bfloat16, where that is faster; made when asked for."""

    @property
    def dtype(self) -> torch.dtype:
        """The number type of its weights."""
        dtype: torch.dtype = self.embedding.weight.dtype
        return dtype

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        device: torch.device = self.embedding.weight.device
        return device

    def __deepcopy__(self, memo: dict[int, Any]) -> "CausalLM":
        """Weights that never change need no copy."""
        return self

    def read(
        self,
        vectors_BTI: Tensor,
        past: Slots | None = None,
        mask_BK: Tensor | None = None,
        positions_BT: Tensor | None = None,
    ) -> tuple[Tensor, Slots]:
        """Give the states, and the slots after them; without `past` nothing is remembered.

        Of each token, slots keep the vector and, behind it, the keys and values of every layer.
        """
        added = None if past is None else past.adding(vectors_BTI.shape[1])
        memory = {} if past is None or added is None else {"past_key_values": _cache(past, added)}
        with self._wide():
            read = self.body(
                inputs_embeds=vectors_BTI,
                attention_mask=mask_BK,
                position_ids=positions_BT,
                use_cache=bool(memory),
                **memory,
            )
        states_BTD: Tensor = read.last_hidden_state
        if added is None:
            return states_BTD, Slots.of({})
        added.put(VECTORS, vectors_BTI)
        return states_BTD, added.done()

    def scores(self, states_XD: Tensor) -> Tensor:
        """Give the score of every token in every state, before they are normalised: (X, V)."""
        # What is laid out for speed would be laid out anew for every gradient.
        score = self.output if states_XD.requires_grad else self._scores
        scores_XV: Tensor = score(states_XD.to(self.dtype))
        return self._scaled(scores_XV)

    def _scaled(self, scores_XV: Tensor) -> Tensor:
        if scores_XV.dtype in (torch.float16, torch.bfloat16):
            scores_XV = scores_XV.float()
        if self.score_scale != 1:
            scores_XV = scores_XV * self.score_scale
        if self.score_cap:
            scores_XV = (scores_XV / self.score_cap).tanh() * self.score_cap
        return scores_XV

    def rough_scores(self, states_XD: Tensor) -> Tensor:
        """Give the same to about two digits, for what learns from few tokens drawn at random.

        On a CPU that is made for bfloat16 this takes half the time; elsewhere they are the same.
        """
        if self._rough is None:
            return self.scores(states_XD)
        return self._scaled(functional.linear(states_XD.bfloat16(), self._rough()))

    def freeze(self) -> None:
        """Let no weight change any more, and lay them out for speed where that is possible."""
        self.module.requires_grad_(requires_grad=False)
        self._share_keys()
        if not can_be_packed(self.embedding.weight):
            return
        for parent in list(self.module.modules()):
            for name, child in list(parent.named_children()):
                if type(child) is nn.Linear and child is not self.output:
                    setattr(parent, name, PackedLinear(child))
        if type(self.output) is nn.Linear:
            self._scores = PackedLinear(self.output)
            if is_made_for_bfloat16() and self.output.bias is None:
                self._rough = cache(self.output.weight.detach().bfloat16)

    def _share_keys(self) -> None:
        """On a CPU, let heads that have the same keys and values look at one copy of them."""
        if self.device.type != "cpu" or self.module.config._attn_implementation != "sdpa":  # noqa: SLF001
            return
        transformers = require_extra("transformers")
        masks = require_extra("transformers.masking_utils")
        transformers.AttentionInterface.register(_ATTENTION, _attend)
        transformers.AttentionMaskInterface.register(_ATTENTION, masks.sdpa_mask)
        with quietly():
            self.module.set_attn_implementation(_ATTENTION)

    def longest_context(self) -> int | None:
        """Give how many tokens it can read at most; None where there is no limit."""
        config = self.module.config.get_text_config(decoder=True)
        limits = [
            getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")
        ]
        ropes = [getattr(config, name, None) for name in ("rope_parameters", "rope_scaling")]
        for rope in ropes:
            if isinstance(rope, Mapping) and rope.get("rope_type") == "longrope":
                # Beyond this, all positions would be told in another way.
                limits.append(rope.get("original_max_position_embeddings"))
                limits.append(getattr(config, "original_max_position_embeddings", None))
        known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
        return min(known, default=None)

    @torch.no_grad()
    def check(self) -> None:
        """Try the model on a few tokens, and refuse it where it does not do what is said here."""
        with quietly(), trying(self._source):
            ids_1T = torch.arange(3, 3 + _PROBE, device=self.device)[None] % self.tokens_read
            try:
                told = self._own_scores(ids_1T)
            except ValueError:  # a way to attend that the fast kernels do not know
                self.module.set_attn_implementation("eager")
                told = self._own_scores(ids_1T)
            vectors_1TI = self.embedding(ids_1T)
            states_1TD, _ = self.read(vectors_1TI)
            self._check_scores(states_1TD[0], told)
            self._check_order(vectors_1TI, states_1TD)
            if self.remembers:
                self.remembers = self._continues_exactly(vectors_1TI[0], states_1TD[0])

    def _own_scores(self, ids_1T: Tensor) -> Tensor:
        with self._wide():
            scores_TV: Tensor = self.module(input_ids=ids_1T, use_cache=False).logits[0]
        return scores_TV

    def _check_scores(self, states_TD: Tensor, told_TV: Tensor) -> None:
        """Find out how scores are scaled and capped, by which they are the model's own."""
        config = self.module.config.get_text_config(decoder=True)
        cap = getattr(config, "final_logit_softcapping", None) or 0.0
        scales = [1.0]
        for name in ("logits_scaling", "logit_scale", "lm_head_multiplier"):
            value = getattr(config, name, None)
            if isinstance(value, int | float) and value:
                scales += [value, 1 / value]
        if not bool(states_TD.isfinite().all()):
            raise InputError(f"{self._source}: gives numbers that are not finite")
        for self.score_cap, self.score_scale in product((cap, 0.0), scales):
            if self._close(self.scores(states_TD), told_TV):
                return
        raise InputError(
            f"{self._source}: vectors in place of tokens do not give the model's own scores;"
            " models of this kind cannot be used"
        )

    def _check_order(self, vectors_1TI: Tensor, states_1TD: Tensor) -> None:
        changed_1TI = vectors_1TI.clone()
        changed_1TI[:, -1] = vectors_1TI[:, 0] * 2 + 1
        others_1TD, _ = self.read(changed_1TI)
        if not self._close(others_1TD[:, :-1], states_1TD[:, :-1]):
            raise InputError(f"{self._source}: no causal language model; it looks ahead")

    def _continues_exactly(self, vectors_TI: Tensor, states_TD: Tensor) -> bool:
        """Read rows of unequal lengths in two parts, and compare with one."""
        cut = _PROBE // 2
        before = [cut, cut - 1]
        first_2TI = torch.stack([vectors_TI[:cut], vectors_TI[:cut]])
        first_2TI[1, 0] = 0  # an empty slot, which must never be looked at
        first_2TI[1, 1:] = vectors_TI[: cut - 1]
        mask_2K = torch.ones(2, cut + 2, dtype=torch.bool, device=self.device)
        mask_2K[1, 0] = False
        start = torch.tensor([[0], [-1]], device=self.device)
        steps = torch.arange(cut + 2, device=self.device)
        positions_2K = (start + steps).clamp(min=0)
        _, kept = self.read(first_2TI, Slots.of({}), mask_2K[:, :cut], positions_2K[:, :cut])
        next_2TI = torch.stack([vectors_TI[length : length + 2] for length in before])
        states_2TD, after = self.read(next_2TI, kept, mask_2K, positions_2K[:, cut:])
        expected = torch.stack([states_TD[length : length + 2] for length in before])
        return (
            after.tensors().keys() == kept.tensors().keys() > {VECTORS}
            and all(tensor.shape[-2] == cut + 2 for tensor in after.tensors().values())
            and self._close(states_2TD, expected)
        )

    def _close(self, one: Tensor, other: Tensor) -> bool:
        tolerance = 3e-2 if self.dtype in (torch.bfloat16, torch.float16) else 1e-4
        largest = float(other.float().abs().max().clamp(min=1e-6))
        return float((one.float() - other.float()).abs().max()) <= tolerance * largest

    def _wide(self) -> AbstractContextManager[object]:
        """In float64, keep what models compute in float32 from losing digits."""
        return _KeepWide() if self.dtype == torch.float64 else nullcontext()


class _KeepWide(TorchFunctionMode):
    """Wherever float32 is asked for, float64 is given."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function with wider numbers."""
        if func is Tensor.float:
            func = Tensor.double
        widened = [torch.float64 if each is torch.float32 else each for each in args]
        named = {
            name: torch.float64 if each is torch.float32 else each
            for name, each in (kwargs or {}).items()
        }
        return func(*widened, **named)


def _attend(  # noqa: PLR0917  transformers calls it so
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attend as transformers does, but copy no keys for heads that share them.

    The kernels of a GPU need such copies where there is a mask; that of a CPU does not.
    """
    shared = getattr(module, "num_key_value_groups", 1) > 1
    if attention_mask is None or not shared or set(options) & {"softcap", "position_bias"}:
        theirs = require_extra("transformers.integrations.sdpa_attention").sdpa_attention_forward
        attended: tuple[Tensor, None] = theirs(
            module, query, key, value, attention_mask, scaling=scaling, **options
        )
        return attended
    mixed_BHTA = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=attention_mask, scale=scaling, enable_gqa=True
    )
    return mixed_BHTA.transpose(1, 2).contiguous(), None


def _has_plain_memory(module: Any) -> bool:
    """Whether a model says that it remembers the keys and values of all tokens, and no more."""
    if getattr(module, "_is_stateful", False):
        return False
    config = module.config.get_text_config(decoder=True)
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    chunked = getattr(config, "attention_chunk_size", None)
    return set(kinds) <= _PLAIN_LAYERS and not chunked


def _cache(past: Slots, added: AddedSlots) -> Any:
    """Give transformers what it remembers: every layer has all keys and values, in their slots."""
    caches = require_extra("transformers.cache_utils")
    kept = past.tensors()
    layers = max(kept, default=0) // 2
    cache = caches.Cache(layer_class_to_replicate=partial(_new_layer, added, count()))
    cache.layers.extend(cache.layer_class_to_replicate() for _ in range(layers))
    for number, layer in enumerate(cache.layers):
        layer.keys, layer.values = kept.get(2 * number + 1), kept.get(2 * number + 2)
        layer.is_initialized = layer.keys is not None
    return cache


def _new_layer(added: AddedSlots, numbers: Iterator[int]) -> Any:
    layer = _layer_class()()
    layer.added, layer.number = added, next(numbers)
    return layer


@cache
def _layer_class() -> Any:
    """Make the class of a layer's memory when transformers is there."""
    caches = require_extra("transformers.cache_utils")

    class KeptLayer(caches.DynamicLayer):  # type: ignore[misc, name-defined]
        """Keys and values of one layer, which go to the slots."""

        def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
            """Add the keys and values of new tokens, and give all."""
            self.keys = self.added.put(2 * self.number + 1, keys)
            self.values = self.added.put(2 * self.number + 2, values)
            self.is_initialized = True
            return self.keys, self.values

    return KeptLayer


_SHARED: WeakValueDictionary[tuple[str, torch.dtype, str], CausalLM] = WeakValueDictionary()
"""The frozen language models that are in use in this process."""


def frozen_lm(files: PretrainedFiles, dtype: torch.dtype, device: torch.device) -> CausalLM:
    """Load a language model whose weights never change, or give the one that is loaded already."""
    key = files.fingerprint, dtype, str(device)
    shared = _SHARED.get(key)
    if shared is None:
        shared = loaded_lm(files, dtype, device, frozen=True)
        _SHARED[key] = shared
    return shared


def loaded_lm(
    files: PretrainedFiles, dtype: torch.dtype, device: torch.device, *, frozen: bool = False
) -> CausalLM:
    """Load a language model of one's own, and check it."""
    module: Any = files.language_model(dtype)
    lm = CausalLM(module.to(device), files.source)
    if frozen:
        lm.freeze()
    lm.check()
    return lm
