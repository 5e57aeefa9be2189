"""Vanilla LM: words in, the next word out; the paper's baseline without knowledge.

Shapes: B rows, T tokens, X tokens without padding, D width of states.
"""

from torch import Tensor

from lrlm.backbones import Backbone, State
from lrlm.batching import Window
from lrlm.heads import WordEmbedding, WordHead
from lrlm.models.language_model import LanguageModel, WindowScore, flat, token_by_token


class VanillaLM(LanguageModel):
    """A word-based language model; unknown words are `<unk>` times their spelling."""

    def __init__(self, embedding: WordEmbedding, backbone: Backbone, words: WordHead) -> None:
        super().__init__()
        self.embedding = embedding
        self.backbone = backbone
        self.words = words

    def forward(self, window: Window, state: State) -> tuple[WindowScore, State]:
        """Score a window and give the state after it."""
        states_BTD, state = self.read(window, state)
        return token_by_token(self.word_log_probs(flat(states_BTD, window), window), window), state

    def read(self, window: Window, state: State) -> tuple[Tensor, State]:
        """Give `h`, the backbone's state before each token."""
        hidden: tuple[Tensor, State] = self.backbone(
            self.embedding(window.inputs_BT), window.lengths_B, state
        )
        return hidden

    def word_log_probs(self, states_XD: Tensor, window: Window) -> Tensor:
        """Give log P(x | h), the spelling of unknown words included: (X,)."""
        words_X = self.words.log_probs(states_XD, flat(window.targets_BT, window))
        return words_X + flat(window.spelling_BT, window)
