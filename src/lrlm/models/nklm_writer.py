"""Text from NKLM: a fact, whether to copy from it, then a word or a position in a form.

It copies word by word and may stop in the middle of a name, or begin there.

Shapes: X rows that choose, Y those that copy or do not, D width of states, G facts with "not a
fact" before them, W width of a fact, F forms, K positions.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lrlm.heads import Choosing, WordChoice
from lrlm.heads.choosing import taken
from lrlm.models.nklm import NeuralKnowledgeLM, position_log_probs
from lrlm.models.writing import NO_FORM, Limits, Standing, Star, Writer, Written


class NklmWriter(Writer):
    """Chooses a fact for every token."""

    def __init__(self, model: NeuralKnowledgeLM, star: Star) -> None:
        self.star = star
        self._model = model
        self._step = model.backbone.stepper()
        self._words = WordChoice(model.words, end_id=star.end_id)
        vectors_RW = model.vectors(star.types_R[None], star.objects_R[None])[0]
        self._facts_GW = torch.cat([model.not_a_fact[None], vectors_RW])
        self._mask_1G = torch.ones_like(self._facts_GW[None, :, 0], dtype=torch.bool)
        self._forms_RF = star.forms_RF
        self._form_counts_FR = self._forms_RF.T.to(star.features_FW.dtype)
        self._longest = model.position_embedding.num_embeddings

    def begin(self) -> Standing:
        """Give the standing of one text before its first token."""
        state = self._model.backbone.initial_state(1)
        start = self.start_of_text()
        return self.read(Standing(self._facts_GW.new_empty(1, 0), state, start), start)

    def choose(self, standing: Standing, limits: Limits, choosing: Choosing) -> Written:
        """Choose a fact for each row, and then a word of its own or one of the fact's form."""
        states_XD = standing.states_BD
        form_XF = self._copyable(standing.last, limits)
        can_copy_XG = nn.functional.pad(
            form_XF.to(self._form_counts_FR.dtype) @ self._form_counts_FR > 0, (1, 0)
        )
        log_facts_XG = self._model.facts.log_probs(
            states_XD[None], self._facts_GW[None], self._mask_1G
        )[0]
        possible_XG = can_copy_XG | limits.word_X[:, None]
        fact_X = choosing.choose(log_facts_XG.masked_fill(~possible_XG, -torch.inf))
        log_prob_X = taken(log_facts_XG, fact_X)
        chosen_XD = torch.cat([states_XD, self._facts_GW[fact_X]], dim=1)

        copy_X, log_copy_X = self._whether_to_copy(
            chosen_XD, fact_X > 0, taken(can_copy_XG, fact_X), limits.word_X, choosing
        )
        log_prob_X = log_prob_X + log_copy_X
        word_X, form_X = torch.zeros_like(fact_X), torch.full_like(fact_X, NO_FORM)
        position_X = torch.zeros_like(fact_X)
        place_Y = (~copy_X).nonzero().squeeze(1)
        if len(place_Y):
            word_Y, log_prob_Y = self._words.choose(
                chosen_XD[place_Y], limits.may_end_X[place_Y], choosing
            )
            word_X[place_Y] = word_Y
            log_prob_X[place_Y] += log_prob_Y
        if len(place_Y) < len(fact_X):
            place_Y = copy_X.nonzero().squeeze(1)
            its_forms_YF = self._forms_RF[fact_X[place_Y] - 1]
            form_Y, log_form_Y = self._form(
                chosen_XD[place_Y], its_forms_YF, form_XF[place_Y], choosing
            )
            is_new_Y = taken(limits.form_XF[place_Y], form_Y)
            position_Y, log_position_Y = self._position(
                chosen_XD[place_Y], form_Y, is_new_Y, standing.last.select(place_Y), choosing
            )
            word_X[place_Y] = self.star.words_FL[form_Y, position_Y]
            form_X[place_Y] = form_Y
            position_X[place_Y] = position_Y
            log_prob_X[place_Y] += log_form_Y + log_position_Y
        return Written(word_X, form_X, position_X, log_prob_X)

    def read(self, standing: Standing, written: Written) -> Standing:
        """Tell the backbone what each token was: a word, or a position in a fact's form."""
        copied_B = written.form_B != NO_FORM
        copied_B1 = copied_B[:, None]
        words_BI = self._model.embedding.step(written.word_B).masked_fill(copied_B1, 0.0)
        fact_B = torch.zeros_like(written.form_B)
        if self.star.relations:
            fact_B = torch.where(copied_B, self.star.relation_F[written.form_B.clamp(min=0)] + 1, 0)
        positions_BP = self._model.position_embedding(written.position_B)
        inputs_BI = torch.cat(
            [words_BI, self._facts_GW[fact_B], positions_BP.masked_fill(~copied_B1, 0.0)], dim=1
        )
        states_BD, state = self._step(inputs_BI, standing.state)
        return Standing(states_BD, state, written)

    def _copyable(self, last: Written, limits: Limits) -> Tensor:
        """Say which forms may be copied from: new ones, and the rest of the one before: (X, F)."""
        if not self.star.relations:
            return limits.form_XF
        goes_on_X = self._goes_on(last) & limits.word_X  # it takes as much room as a word
        numbers_F = torch.arange(len(self.star.relation_F), device=last.form_B.device)
        return limits.form_XF | ((numbers_F == last.form_B[:, None]) & goes_on_X[:, None])

    def _goes_on(self, last: Written) -> Tensor:
        """Say whether the form that was copied from before has another word."""
        length_X = self.star.length_F[last.form_B.clamp(min=0)].clamp(max=self._longest)
        return (last.form_B != NO_FORM) & (last.position_B + 1 < length_X)

    def _whether_to_copy(
        self,
        chosen_XD: Tensor,
        is_fact_X: Tensor,
        can_copy_X: Tensor,
        can_write_X: Tensor,
        choosing: Choosing,
    ) -> tuple[Tensor, Tensor]:
        """Choose whether to copy; "not a fact" has nothing to copy from, so that is certain."""
        score_X = self._model.copy(chosen_XD).squeeze(1)
        log_probs_X2 = torch.stack([logsigmoid(-score_X), logsigmoid(score_X)], dim=1)
        possible_X2 = torch.stack([can_write_X, can_copy_X], dim=1)
        copy_X = choosing.choose(log_probs_X2.masked_fill(~possible_X2, -torch.inf))
        log_prob_X = torch.where(is_fact_X, taken(log_probs_X2, copy_X), 0.0)
        return copy_X.bool(), log_prob_X

    def _form(
        self, chosen_YD: Tensor, its_forms_YF: Tensor, allowed_YF: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        log_forms_YF = self._model.forms.masked_log_probs(
            chosen_YD, self.star.features_FW, its_forms_YF
        )
        form_Y = choosing.choose(log_forms_YF.masked_fill(~allowed_YF, -torch.inf))
        return form_Y, taken(log_forms_YF, form_Y)

    def _position(
        self, chosen_YD: Tensor, form_Y: Tensor, is_new_Y: Tensor, last: Written, choosing: Choosing
    ) -> tuple[Tensor, Tensor]:
        """Choose a position; where no new copy may begin, only the next one is possible."""
        log_positions_YK = position_log_probs(
            self._model.position(chosen_YD), self.star.length_F[form_Y]
        )
        next_Y1 = (last.position_B + 1)[:, None]
        numbers_K = torch.arange(log_positions_YK.shape[1], device=form_Y.device)
        allowed_YK = is_new_Y[:, None] | (numbers_K == next_Y1)
        position_Y = choosing.choose(log_positions_YK.masked_fill(~allowed_YK, -torch.inf))
        return position_Y, taken(log_positions_YK, position_Y)
