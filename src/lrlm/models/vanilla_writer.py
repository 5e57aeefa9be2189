"""Text from the models that know words only: Vanilla LM, and Alias LM after reading the names.

Shapes: B rows, X rows that choose, D width of states.
"""

import torch

from lrlm.backbones import State
from lrlm.heads import Choosing, WordChoice
from lrlm.models.vanilla import VanillaLM
from lrlm.models.writing import NO_FORM, Limits, Standing, Star, Writer, Written


class VanillaWriter(Writer):
    """Every token is a word."""

    uses_relations = False

    def __init__(self, model: VanillaLM, star: Star) -> None:
        self.star = star
        self._model = model
        self._step = model.backbone.stepper()
        self._words = WordChoice(model.words, end_id=star.end_id)

    def begin(self) -> Standing:
        """Give the standing of one text before its first token."""
        state = self._before_text()
        nothing_1D = self._model.embedding.tables[0].new_empty(1, 0)
        return self.read(Standing(nothing_1D, state, self.start_of_text()), self.start_of_text())

    def choose(self, standing: Standing, limits: Limits, choosing: Choosing) -> Written:
        """Choose a word for each row."""
        word_X, log_prob_X = self._words.choose(standing.states_BD, limits.may_end_X, choosing)
        zeros_X = torch.zeros_like(word_X)
        return Written(word_X, torch.full_like(word_X, NO_FORM), zeros_X, log_prob_X)

    def read(self, standing: Standing, written: Written) -> Standing:
        """Read a word in each row, copied or not."""
        states_BD, state = self._step(self._model.embedding.step(written.word_B), standing.state)
        return Standing(states_BD, state, written)

    def _before_text(self) -> State:
        return self._model.backbone.initial_state(1)


class AliasWriter(VanillaWriter):
    """Reads the canonical form of every object of the topic first.

    In training and scoring Alias LM is told which names occur in the text. A text that is yet to
    be written has none, so any of the topic's objects may come.
    """

    def _before_text(self) -> State:
        aliases_1P = self.star.aliases_P[None]
        length_1 = torch.tensor([aliases_1P.shape[1]], device=aliases_1P.device)
        state: State
        _, state = self._model.backbone(
            self._model.embedding(aliases_1P), length_1, super()._before_text()
        )
        return state
