"""States and symbols in, the next states and logits out: a character model that only predicts.

It is the network of `CharacterModel`, one symbol at a time, for any number of words at any place.

Shapes: P states, S symbols, H width of the state, I width of a symbol's vector.
"""

import torch
from torch import Tensor

from lrlm.features.alphabet import END
from lrlm.features.character_model import CharacterModel
from lrlm.features.tensors import Shape


class FrozenCharacters:
    """The weights of a character model, without gradients."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self.weights = weights
        self.embedding_size = weights["embedding.weight"].shape[1]
        self.hidden_size = weights["recurrent.weight_hh_l0"].shape[1]
        # A symbol's part in the gates does not depend on the state: it is computed once.
        self._gates_S3H = torch.addmm(
            weights["recurrent.bias_ih_l0"],
            weights["embedding.weight"],
            weights["recurrent.weight_ih_l0"].t(),
        )
        self._recurrent_H3H = weights["recurrent.weight_hh_l0"].t()
        self._recurrent_bias = weights["recurrent.bias_hh_l0"]
        self._output_HS = weights["output.weight"].t()
        self._output_bias = weights["output.bias"]

    @classmethod
    def of(cls, model: CharacterModel) -> "FrozenCharacters":
        """Copy a model's weights: training it further does not change the copy."""
        state = model.state_dict().items()
        return cls({name: weight.detach().float().clone() for name, weight in state})

    @staticmethod
    def shapes(symbols: int, embedding_size: int, hidden_size: int) -> dict[str, Shape]:
        """Give the names and shapes of the weights."""
        return {
            "embedding.weight": (symbols, embedding_size),
            "recurrent.weight_ih_l0": (3 * hidden_size, embedding_size),
            "recurrent.weight_hh_l0": (3 * hidden_size, hidden_size),
            "recurrent.bias_ih_l0": (3 * hidden_size,),
            "recurrent.bias_hh_l0": (3 * hidden_size,),
            "output.weight": (symbols, hidden_size),
            "output.bias": (symbols,),
        }

    def start(self, rows: int) -> Tensor:
        """Give the state before the first character, (P, H)."""
        nothing_PH = torch.zeros(rows, self.hidden_size)
        return self.step(nothing_PH, torch.full((rows,), END))

    def step(self, states_PH: Tensor, symbols_P: Tensor) -> Tensor:
        """Read one symbol in each state, as PyTorch's gated recurrent unit does, (P, H)."""
        reset_PH, keep_PH, new_PH = self._gates_S3H[symbols_P].chunk(3, dim=1)
        gates_P3H = torch.addmm(self._recurrent_bias, states_PH, self._recurrent_H3H)
        state_reset_PH, state_keep_PH, state_new_PH = gates_P3H.chunk(3, dim=1)
        reset_PH = (reset_PH + state_reset_PH).sigmoid_()
        keep_PH = (keep_PH + state_keep_PH).sigmoid_()
        new_PH = torch.addcmul(new_PH, reset_PH, state_new_PH).tanh_()
        return torch.lerp(new_PH, states_PH, keep_PH)

    def logits(self, states_PH: Tensor, *, is_first: bool) -> Tensor:
        """Give the logits of what follows, (P, S); a word does not end before it begins."""
        logits_PS = torch.addmm(self._output_bias, states_PH, self._output_HS)
        if is_first:
            logits_PS[:, END] = -torch.inf
        return logits_PS
