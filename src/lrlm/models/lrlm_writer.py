"""Text from LRLM, the paper's Algorithm 1: a word, or a whole form through a relation.

Shapes: X rows that choose, Y those that copy, D width of states, R relations, F forms, W width.
"""

from dataclasses import replace

import torch
from torch import Tensor

from lrlm.backbones import State
from lrlm.heads import Choosing
from lrlm.heads.choosing import taken
from lrlm.models.lrlm import LatentRelationLM
from lrlm.models.vanilla_writer import VanillaWriter
from lrlm.models.writing import NO_FORM, Limits, Standing, Star, Written

_WORD, _RELATION = 0, 1


class LrlmWriter(VanillaWriter):
    """Chooses a source; then a word, or a relation and one of its forms."""

    uses_relations = True
    copies_whole_forms = True

    def __init__(self, model: LatentRelationLM, star: Star) -> None:
        super().__init__(model, star)
        self._lrlm = model
        self._vectors_1RW = model.vectors(star.types_R[None], star.objects_R[None])
        self._all_1R = torch.ones_like(star.types_R[None], dtype=torch.bool)
        self._forms_RF = star.forms_RF
        self._form_counts_FR = self._forms_RF.T.to(star.features_FW.dtype)

    def choose(self, standing: Standing, limits: Limits, choosing: Choosing) -> Written:
        """Choose a word for each row, or the first word of a form."""
        if not self.star.relations:
            return super().choose(standing, limits, choosing)
        states_XD = standing.states_BD
        log_source_X2 = self._lrlm.source.log_probs(states_XD)
        chances_X2 = log_source_X2
        if not limits.is_free:
            possible_X2 = torch.stack([limits.word_X, limits.form_XF.any(1)], dim=1)
            chances_X2 = log_source_X2.masked_fill(~possible_X2, -torch.inf)
        source_X = choosing.choose(chances_X2)
        if not bool(source_X.any()):
            written = super().choose(standing, limits, choosing)
            return replace(written, log_prob_B=written.log_prob_B + log_source_X2[:, _WORD])
        log_prob_X = taken(log_source_X2, source_X)
        word_X, form_X = torch.zeros_like(source_X), torch.full_like(source_X, NO_FORM)
        position_X = torch.zeros_like(source_X)

        place_Y = (source_X == _WORD).nonzero().squeeze(1)
        if len(place_Y):
            word_Y, log_prob_Y = self._words.choose(
                states_XD[place_Y], limits.may_end_X[place_Y], choosing
            )
            word_X[place_Y] = word_Y
            log_prob_X[place_Y] += log_prob_Y
        if len(place_Y) < len(source_X):
            place_Y = (source_X == _RELATION).nonzero().squeeze(1)
            form_Y, log_prob_Y = self._form(states_XD[place_Y], limits.form_XF[place_Y], choosing)
            word_X[place_Y] = self.star.words_FL[form_Y, 0]
            form_X[place_Y] = form_Y
            log_prob_X[place_Y] += log_prob_Y
        return Written(word_X, form_X, position_X, log_prob_X)

    def _before_text(self) -> State:
        star = self.star
        return self._lrlm.read_topic(
            super()._before_text(), star.types_R[None], star.objects_R[None], self._all_1R
        )

    def _form(
        self, states_YD: Tensor, allowed_YF: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        """Choose a relation and then a form: the form, and log P(e | h) + log P(a | e, h)."""
        log_relation_YR = self._lrlm.relations.log_probs(
            states_YD[None], self._vectors_1RW, self._all_1R
        )[0]
        possible_YR = allowed_YF.to(self._form_counts_FR.dtype) @ self._form_counts_FR > 0
        relation_Y = choosing.choose(log_relation_YR.masked_fill(~possible_YR, -torch.inf))
        its_forms_YF = self._forms_RF[relation_Y]
        log_form_YF = self._lrlm.forms.masked_log_probs(
            states_YD, self.star.features_FW, its_forms_YF
        )
        form_Y = choosing.choose(log_form_YF.masked_fill(~allowed_YF, -torch.inf))
        return form_Y, taken(log_relation_YR, relation_Y) + taken(log_form_YF, form_Y)
