"""The models that know words only: Vanilla LM, and those that first read something of the topic.

Alias LM reads the names that occur in the text, Prompted LM the topic's facts.

Shapes: B rows, T tokens, X tokens without padding or rows that choose, D width of states.
"""

from collections.abc import Sequence
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
        token_X, _ = self.token_log_probs(flat(states_BTD, window), window)
        return WindowScores(unflat(token_X, window)), state

    def read(self, window: Window, state: State) -> tuple[Tensor, State]:
        """Give `h`, the backbone's state before each token."""
        if window.kept is not None:
            return window.kept.states_BTD, state
        hidden: tuple[Tensor, State] = self.backbone(
            self.embedding(window.inputs_BT), window.lengths_B, state
        )
        return hidden

    def token_log_probs(
        self, states_XD: Tensor, window: Window, *, fresh: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Give log P(token | h) of every token: (X,).

        With `fresh`, also log P that the next token begins a new word, whichever it is: (X,).
        """
        targets_X = flat(window.targets_BT, window)
        if window.kept is not None:
            return self.words.log_probs_of_read(
                states_XD,
                targets_X,
                flat(window.kept.token_BT, window),
                flat(window.kept.fresh_BT, window),
            )
        if fresh:
            return self.words.log_probs_and_fresh(states_XD, targets_X)
        return self.words.log_probs(states_XD, targets_X), None

    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what writes words one after the other."""
        return VanillaWriter(self, topic)


class AliasLM(VanillaLM):
    """A vanilla LM that first reads the forms of the topic's objects found in the text.

    So it knows which names will come, but not how they are related to the topic. The forms are
    read before the text and are not scored. Which of them occur in the text is told in advance, as
    in the paper's published version: this baseline sees more than the others. A text that is yet
    to be written has none, so the first form of every object is read there.
    """

    kind: ClassVar[str] = "alias"
    label: ClassVar[str] = "Alias LM"
    reads: ClassVar[Parts] = Parts.ALIASES
    reads_preface = True
    is_baseline: ClassVar[bool] = False
    footnote: ClassVar[str] = "‡ is told which names occur in the text."


class PromptedLM(VanillaLM):
    """A language model that first reads the topic's title and facts, written as a text.

    That is what one would do with a pretrained language model alone: put the facts into its
    context. What is read there is not scored.
    """

    kind: ClassVar[str] = "prompted"
    label: ClassVar[str] = "Prompted LM"
    reads: ClassVar[Parts] = Parts.FACTS
    reads_preface = True


class VanillaWriter(Writer):
    """Every token is a word."""

    uses_relations = False

    def __init__(
        self, model: VanillaLM, topic: EncodedTopic, *, before: State | None = None
    ) -> None:
        """`before` is the state before the preface, if something was read before it."""
        self.topic = topic
        self._embedding = model.embedding
        self._backbone = model.backbone
        self._step = model.backbone.stepper()
        self.reads_at_once = model.backbone.reads_at_once
        self._words = model.words.chooser(end_id=topic.end_id)
        state = model.backbone.initial_state(1) if before is None else before
        read_1P = topic.preface_P[None, :-1]
        if model.reads_preface:
            length_1 = torch.tensor([read_1P.shape[1]], device=read_1P.device)
            state = model.read_preface(read_1P, length_1, state)
        self._before = state

    def begin(self) -> WritingState:
        """Give the state of one text before its first token."""
        states_1D, state = self._step(self._embedding.step(self.topic.preface_P[-1:]), self._before)
        return WritingState(states_1D, state, self.start_of_text())

    def choose(self, so_far: WritingState, limits: Limits, choosing: Choosing) -> Written:
        """Choose a word for each row."""
        token_X, log_prob_X = self._words.choose(so_far.states_BD, limits.may_end_X, choosing)
        zeros_X = torch.zeros_like(token_X)
        return Written(token_X, torch.full_like(token_X, NO_FORM), zeros_X, zeros_X, log_prob_X)

    def read(self, so_far: WritingState, written: Written) -> WritingState:
        """Read a token in each row, copied or not."""
        states_BD, state = self._step(self._embedding.step(written.token_B), so_far.state)
        return WritingState(states_BD, state, written)

    def read_all(self, so_far: WritingState, steps: Sequence[Written]) -> WritingState:
        """Read several tokens of each row, at once where that is faster."""
        if not self.reads_at_once or len(steps) == 1:
            return super().read_all(so_far, steps)
        tokens_BT = torch.stack([written.token_B for written in steps], dim=1)
        lengths_B = torch.full_like(tokens_BT[:, 0], len(steps))
        states_BTD, state = self._backbone(self._embedding(tokens_BT), lengths_B, so_far.state)
        return WritingState(states_BTD[:, -1], state, steps[-1])
