"""The models that know words only: Vanilla LM, and Alias LM, which first reads the topic's names.

Shapes: B rows, T tokens, X tokens without padding or rows that choose, D width of states.
"""

from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from lrlm.backbones import Backbone, State
from lrlm.batching import Parts, Window
from lrlm.heads import Choosing, TokenEmbedding, TokenHead
from lrlm.models.language_model import LanguageModel, WindowScores, flat, unflat
from lrlm.models.writing import NO_FORM, EncodedTopic, Limits, Writer, WritingState, Written

if TYPE_CHECKING:
    from lrlm.models.building import ModelParts


class VanillaLM(LanguageModel):
    """A language model without knowledge; unknown words are `<unk>` times their spelling."""

    kind: ClassVar[str] = "vanilla"
    label: ClassVar[str] = "Vanilla LM"
    is_baseline: ClassVar[bool] = True

    def __init__(self, embedding: TokenEmbedding, backbone: Backbone, words: TokenHead) -> None:
        super().__init__()
        self.embedding = embedding
        self.backbone = backbone
        self.words = words

    @classmethod
    def build(cls, parts: "ModelParts") -> "VanillaLM":
        """Put the model together with fresh weights."""
        backbone = parts.backbone(parts.embedding.output_size)
        return cls(parts.embedding, backbone, parts.word_head(backbone.output_size, backbone))

    def forward(self, window: Window, state: State) -> tuple[WindowScores, State]:
        """Score a window and give the state after it."""
        states_BTD, state = self.read(window, state)
        token_X = self.words.log_probs(flat(states_BTD, window), flat(window.targets_BT, window))
        return WindowScores(unflat(token_X, window)), state

    def read(self, window: Window, state: State) -> tuple[Tensor, State]:
        """Give `h`, the backbone's state before each token."""
        hidden: tuple[Tensor, State] = self.backbone(
            self.embedding(window.inputs_BT), window.lengths_B, state
        )
        return hidden

    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what writes words one after the other."""
        return VanillaWriter(self, topic)


class AliasLM(VanillaLM):
    """A vanilla LM that first reads the forms of the topic's objects found in the text.

    So it knows which names will come, but not how they are related to the topic. The forms are
    read before the text and are not scored. Which of them occur in the text is told in advance, as
    in the paper's published version: this baseline sees more than the others.
    """

    kind: ClassVar[str] = "alias"
    label: ClassVar[str] = "Alias LM"
    reads: ClassVar[Parts] = Parts.ALIASES
    is_baseline: ClassVar[bool] = False
    footnote: ClassVar[str] = "‡ is told which names occur in the text."

    def begin(self, window: Window) -> State:
        """Read the aliases of each document, one form after the other."""
        assert window.aliases_BP is not None, "the collator serves another model"
        assert window.alias_lengths_B is not None
        return self.read_aliases(window.aliases_BP, window.alias_lengths_B, super().begin(window))

    def read_aliases(self, aliases_BP: Tensor, lengths_B: Tensor, state: State) -> State:
        """Give the state after names were read."""
        _, after = self.backbone(self.embedding(aliases_BP), lengths_B, state)
        result: State = after
        return result

    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what reads the canonical form of every object of the topic, then writes words.

        In training and scoring Alias LM is told which names occur in the text. A text that is yet
        to be written has none, so any of the topic's objects may come.
        """
        aliases_1P = topic.aliases_P[None]
        length_1 = torch.tensor([aliases_1P.shape[1]], device=aliases_1P.device)
        before = self.read_aliases(aliases_1P, length_1, self.backbone.initial_state(1))
        return VanillaWriter(self, topic, before=before)


class VanillaWriter(Writer):
    """Every token is a word."""

    uses_relations = False

    def __init__(
        self, model: VanillaLM, topic: EncodedTopic, *, before: State | None = None
    ) -> None:
        """`before` is the state before the text, if something was read before it."""
        self.topic = topic
        self._embedding = model.embedding
        self._step = model.backbone.stepper()
        self._words = model.words.chooser(end_id=topic.end_id)
        self._before = model.backbone.initial_state(1) if before is None else before

    def begin(self) -> WritingState:
        """Give the state of one text before its first token."""
        nothing_1D = self.topic.features_FW.new_empty(1, 0)
        start = self.start_of_text()
        return self.read(WritingState(nothing_1D, self._before, start), start)

    def choose(self, so_far: WritingState, limits: Limits, choosing: Choosing) -> Written:
        """Choose a word for each row."""
        token_X, log_prob_X = self._words.choose(so_far.states_BD, limits.may_end_X, choosing)
        zeros_X = torch.zeros_like(token_X)
        return Written(token_X, torch.full_like(token_X, NO_FORM), zeros_X, zeros_X, log_prob_X)

    def read(self, so_far: WritingState, written: Written) -> WritingState:
        """Read a token in each row, copied or not."""
        states_BD, state = self._step(self._embedding.step(written.token_B), so_far.state)
        return WritingState(states_BD, state, written)
