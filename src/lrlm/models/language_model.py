"""What every language model is: a composition that scores texts, window by window, and writes them.

Shapes: B rows (documents of the window), T tokens, E candidate edges, X tokens of all rows without
padding, D width.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, State
from lrlm.batching import Edges, Parts, Window
from lrlm.heads import TokenEmbedding, TokenHead
from lrlm.lattice import Lattice, log_marginal
from lrlm.models.writing import EncodedTopic, Writer


@dataclass(frozen=True)
class WindowScores:
    """Log scores of all segments of a window, before unknown words pay for their spelling.

    A token as a WORD scores `choice_BT + token_BT` (+ its spelling, if it has one); where it may
    also be taken from a name, both ways add up.
    """

    token_BT: Tensor
    """log P(token | h) of every token, 0 at padding; of a copied token, that of the copy."""
    choice_BT: Tensor | None = None
    """What was chosen before the token: that it is a word, or which fact (NKLM)."""
    edges: Edges | None = None
    """The candidates, where a model sums over all segmentations."""
    score_E: Tensor | None = None
    """Their log scores."""
    copied_BT: Tensor | None = None
    """Which tokens were copied, where that is decided for each; they are not spelled."""
    name_word_BT: Tensor | None = None
    """log P(the token is this word of a name | a word, h), −inf where it is none; of models that
    may take words from names. It is not spelled."""

    def unspelled_BT(self) -> Tensor:
        """Give the score of every token as a WORD of the vocabulary, spelled for nothing."""
        return self.token_BT if self.choice_BT is None else self.choice_BT + self.token_BT

    def from_names_BT(self) -> Tensor | None:
        """Give the score of every token as a WORD that is taken from a name, if any may be."""
        if self.name_word_BT is None:
            return None
        return self.name_word_BT if self.choice_BT is None else self.choice_BT + self.name_word_BT

    def words_BT(self, spelling_BT: Tensor) -> Tensor:
        """Give the score of every token as a WORD, spelled, however it was chosen."""
        if self.copied_BT is not None:
            spelling_BT = spelling_BT.masked_fill(self.copied_BT, 0.0)
        words_BT, from_names_BT = self.unspelled_BT() + spelling_BT, self.from_names_BT()
        return words_BT if from_names_BT is None else torch.logaddexp(words_BT, from_names_BT)

    def nats(self, window: Window) -> tuple[Tensor, Tensor]:
        """Give −log P of each row's tokens and, of that, the share of the end token: (B,), (B,).

        Both can be differentiated. The end is always a word of its own, so its share can be told
        apart; it is 0 where a document goes on.
        """
        words_BT = self._spelled_BT(window)
        if self.edges is None or self.score_E is None:
            return -words_BT.sum(1), -_last_token(words_BT, window)
        lattice = Lattice(
            words_BT,
            window.lengths_B,
            self.edges.row_E,
            self.edges.start_E,
            self.edges.end_E,
            self.score_E,
            checked=False,  # the collator made the indices
        )
        return -log_marginal(lattice), -_last_token(words_BT, window)

    def inside_nats(self, window: Window, nats_B: Tensor) -> Tensor:
        """Give the part of `nats` that the tokens within candidate spans cost: (B,).

        A span lies inside as a whole, so the rest is what all other tokens cost, each as a WORD.
        """
        if self.edges is None:
            return torch.zeros_like(nats_B)
        outside_BT = window.mask_BT & ~self.edges.covered_BT(window.mask_BT.shape)
        return nats_B + torch.where(outside_BT, self._spelled_BT(window), 0.0).sum(1)

    def _spelled_BT(self, window: Window) -> Tensor:
        return self.words_BT(window.spelling_BT.masked_fill(~window.mask_BT, 0.0))


class LanguageModel(nn.Module, ABC):
    """A composition of a backbone and heads that gives every text about a topic a probability.

    What differs between models is an attribute or a method of theirs, never a question about
    their type.
    """

    kind: ClassVar[str]
    """What configurations and the command line call it, as `lrlm`."""
    label: ClassVar[str]
    """What tables call it, as "LRLM"."""
    reads: ClassVar[Parts] = Parts.NOTHING
    """What it reads of a document beside its tokens."""
    can_read_facts: ClassVar[bool] = False
    """Whether it may also read the topic's facts before the text."""
    reads_preface: bool = False
    """Whether something is read before the text; it is not scored."""
    has_posteriors: ClassVar[bool] = False
    """Whether it sums over segmentations, so that it can say where a name came from."""
    copies_names: ClassVar[bool] = False
    """Whether it copies names of the topic's objects, in whole or in part."""
    reads_tokens_only: ClassVar[bool] = True
    """Whether its backbone reads the vectors of tokens as they are, and nothing beside them."""
    is_joint: ClassVar[bool] = False
    """Whether its figures are of a text together with one given annotation."""
    is_baseline: ClassVar[bool] = False
    """Whether other models are compared with it."""
    relation_settings: ClassVar[Mapping[str, Any]] = {}
    """The settings of relations that it has wherever the model is asked for by its name."""
    learned_with_adam: ClassVar[tuple[str, ...]] = ()
    """Parts whose matrices learn with Adam also where the others learn with Muon, since an update
    of Adam takes less time."""
    inside_weight: float = 1.0
    """Weight of tokens within candidate spans in the loss of training; all others have 1."""
    footnote: ClassVar[str] = ""
    """What must be known to read its figures; it begins with a mark, as "†"."""

    embedding: TokenEmbedding
    backbone: Backbone
    words: TokenHead

    def __init__(self) -> None:
        super().__init__()
        self._here: Tensor
        # A model may have no weights of its own, but it is somewhere.
        self.register_buffer("_here", torch.empty(0), persistent=False)

    @property
    def reads_topic(self) -> bool:
        """Whether the states of a text depend on its topic; if not, one reading is for all."""
        return self.reads_preface or not self.reads_tokens_only

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self._here.device

    @property
    def dtype(self) -> torch.dtype:
        """The type of the numbers that it computes with."""
        return self._here.dtype

    def begin(self, window: Window) -> State:
        """Give the state before the first window of a batch, after its prefaces were read."""
        state = self.backbone.initial_state(len(window.lengths_B))
        if not self.reads_preface or window.kept is not None:
            return state
        assert window.preface_BP is not None, "the collator serves another model"
        assert window.preface_lengths_B is not None
        return self.read_preface(window.preface_BP, window.preface_lengths_B, state)

    def read_preface(self, tokens_BP: Tensor, lengths_B: Tensor, state: State) -> State:
        """Give the state after tokens were read that are not scored."""
        after: State
        _, after = self.backbone(self.embedding(tokens_BP), lengths_B, state)
        return after

    @abstractmethod
    def forward(self, window: Window, state: State) -> tuple[WindowScores, State]:
        """Score a window and give the state after it; `state` has the window's rows."""

    @abstractmethod
    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what generates text about a topic with the weights as they are now."""


def flat(values_BTD: Tensor, window: Window) -> Tensor:
    """List the vectors or values at real tokens, row by row: (X, …)."""
    return values_BTD[window.mask_BT]


def unflat(values_X: Tensor, window: Window) -> Tensor:
    """Put values of real tokens back into their rows, with 0 at padding: (B, T)."""
    mask_BT = window.mask_BT
    return values_X.new_zeros(mask_BT.shape).masked_scatter(mask_BT, values_X)


def _last_token(values_BT: Tensor, window: Window) -> Tensor:
    """Take the value at the end token where the document ends, 0 where it goes on: (B,)."""
    last_B1 = (window.lengths_B - 1)[:, None]
    return torch.where(window.ends_B, values_BT.gather(1, last_B1).squeeze(1), 0.0)
