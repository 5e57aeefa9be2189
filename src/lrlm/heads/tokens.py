"""What reads and writes tokens: the layers between token ids and a backbone's vectors and states.

The paper's models have vectors of words and a softmax over them (`words.py`); a pretrained language
model brings its own.

Shapes: X states or tokens, D width of states, E of embeddings.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone
from lrlm.errors import InputError
from lrlm.heads.choosing import Choosing
from lrlm.heads.clusters import SoftmaxCost
from lrlm.heads.known_words import KnownWords


class TokenEmbedding(nn.Module, ABC):
    """Turns token ids into the vectors that a backbone reads."""

    output_size: int
    """Width E of the vectors."""

    @abstractmethod
    def forward(self, ids: Tensor) -> Tensor:
        """Look up tokens: ids of any shape → that shape with E behind it."""

    def step(self, ids_X: Tensor) -> Tensor:
        """Look up one token a row while text is generated: (X, E)."""
        vectors_XE: Tensor = self(ids_X)
        return vectors_XE


class TokenChooser(ABC):
    """Chooses tokens while text is generated, with weights that stay as they are."""

    @abstractmethod
    def choose(
        self,
        states_XD: Tensor,
        may_end_X: Tensor,
        choosing: Choosing,
        *,
        fresh_X: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Choose a token for each state: ids, and log P(token | h) under the model: (X,), (X,).

        Where `may_end_X` is false, the token that ends a text is not chosen. Where `fresh_X` is
        true, only a token that begins a new word is; its log-probability is still that among all.
        """

    def log_fresh(self, states_XD: Tensor) -> Tensor:
        """Give log P(the next token begins a new word | h), 0 where tokens are words: (X,)."""
        return states_XD.new_zeros(len(states_XD))


class TokenHead(nn.Module, ABC):
    """Gives every token a probability in a state."""

    @abstractmethod
    def log_probs(self, states_XD: Tensor, targets_X: Tensor) -> Tensor:
        """Give log P(target | h) of each state: (X,)."""

    def log_probs_and_fresh(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        """Give log P(target | h), and log P(the next token begins a new word | h): (X,), (X,).

        The latter is 0 where tokens are words.
        """
        log_probs_X = self.log_probs(states_XD, targets_X)
        return log_probs_X, torch.zeros_like(log_probs_X)

    def log_probs_as_read(self, states_XD: Tensor, targets_X: Tensor) -> tuple[Tensor, Tensor]:
        """Give the same as a backbone that does not learn has it, whatever was learned since."""
        return self.log_probs_and_fresh(states_XD, targets_X)

    def log_probs_of_read(
        self, states_XD: Tensor, targets_X: Tensor, token_X: Tensor, fresh_X: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Give the same for tokens that a backbone that does not learn has read before.

        `token_X` and `fresh_X` are what was kept then; a head that learns has others now.
        """
        del states_XD, targets_X
        return token_X, fresh_X

    @abstractmethod
    def chooser(self, *, end_id: int) -> TokenChooser:
        """Give what chooses tokens; `end_id` is the one token that may be forbidden."""


class TokenLayersConfig(ABC):
    """How tokens are read and written; subclasses are frozen dataclasses whose fields are settings.

    A pretrained language model brings layers of its own, which its backbone can give.
    """

    name: ClassVar[str]
    """What configurations call it."""

    @abstractmethod
    def embedding(self, tokens: int, *, backbone: Backbone | None = None) -> TokenEmbedding:
        """Make the vectors that so many tokens are read as.

        `backbone` is the one that will read them, where it can read one width only.
        """

    @abstractmethod
    def head(
        self,
        state_size: int,
        tokens: int,
        *,
        embedding: TokenEmbedding,
        backbone: Backbone,
        begins_word_V: Tensor | None = None,
    ) -> TokenHead:
        """Make the distribution over so many tokens, for states of this width.

        `begins_word_V` says which tokens begin a new word; None where every token is a word.
        """

    def fitted(
        self,
        counts: Sequence[int] | None,
        cost: SoftmaxCost | None = None,
        *,
        beside_heads: bool = False,
    ) -> Self:
        """Choose what is left open for tokens with these counts; the result is what a run saves.

        Without counts, ids are in no order of frequency. `cost` is that of a softmax on the device
        that the model will be trained on. `beside_heads` says that the backbone does not learn, but
        other heads do.
        """
        del counts, cost, beside_heads
        return self

    def as_fitted(self, before: "TokenLayersConfig") -> Self:
        """Take over what was chosen when a run was started that is resumed now."""
        del before
        return self

    def begin_with(
        self, embedding: TokenEmbedding, head: TokenHead, known: Callable[[], KnownWords]
    ) -> None:
        """Begin with what is known of the tokens, where the settings ask for that."""
        del embedding, head, known


TOKEN_LAYERS: dict[str, type[TokenLayersConfig]] = {}
"""Every way to read and write tokens that can be named in a configuration."""


def register_token_layers(config: type[TokenLayersConfig]) -> type[TokenLayersConfig]:
    """Let configurations and run folders name layers of your own; usable as a decorator.

    A name that another class has already is refused.
    """
    if TOKEN_LAYERS.setdefault(config.name, config) is not config:
        raise InputError(f"there are other token layers with the name {config.name!r} already")
    return config
