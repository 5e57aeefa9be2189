"""How LRLM writes: a source, then a word, or a relation and one of its forms.

Shapes: B rows, X rows that choose, Y those of them that copy or take a word, D width of states, R
relations of the topic, O open ones, F forms, K words of names, W widths.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from lrlm.backbones import State
from lrlm.batching import NO_WORD
from lrlm.heads import Choosing, taken, with_fit
from lrlm.models.name_words import NameWordChooser
from lrlm.models.naming import NameFinder, Naming, word_numbers
from lrlm.models.vanilla import VanillaWriter
from lrlm.models.writing import NO_FORM, EncodedTopic, Limits, WritingState, Written
from lrlm.text import NO_FORM_HERE

if TYPE_CHECKING:
    from lrlm.models.lrlm import LatentRelationLM

_WORD, _RELATION = 0, 1
_FROM_NAME = 1
"""The choice of a word that is taken from a name, not from the vocabulary."""


class LrlmWriter(VanillaWriter):
    """Chooses a source; then a word, or a relation and one of its forms."""

    uses_relations = True
    copies_whole_forms = True
    chooses_open = True

    def __init__(self, model: "LatentRelationLM", topic: EncodedTopic) -> None:
        super().__init__(model, topic)
        self._model = model
        self._all_1R = torch.ones_like(topic.types_R[None], dtype=torch.bool)
        relations = topic.as_row
        self._before = model.read_topic(
            self._before,
            relations,
        )
        self._vectors_1RW = model.vectors_of(relations)
        self._open_1OW = None if topic.lacking is None else model.vectors_of(topic.lacking)
        self._forms_RF = topic.forms_RF
        self._form_counts_FR = self._forms_RF.T.to(topic.features_FW.dtype)
        self._naming = model.naming
        self._told = model.told
        self._finder: NameFinder | None = None
        if topic.relations and (model.naming is not None or model.told is not None):
            self._finder = NameFinder(topic)
            self.knows_names = True
            self.reads_at_once = False  # what was named is noted token by token
        self._name_words: NameWordChooser | None = None
        if model.name_words is not None and topic.name_words is not None:
            vectors_KE = model.vectors_of_words(topic.name_words.ids_K)
            self._name_words = NameWordChooser(model.name_words, topic.name_words, vectors_KE)
            self.knows_names = True
            self.reads_at_once = False

    def begin(self) -> WritingState:
        """Give the state of one text before its first token."""
        naming = None if self._finder is None else self._finder.begin()
        states_1D, state = self._read(self.topic.preface_P[-1:], self._before, naming)
        taken_words = None if self._name_words is None else self._name_words.begin()
        return WritingState(states_1D, state, self.start_of_text(), naming, taken_words)

    def read(self, so_far: WritingState, written: Written) -> WritingState:
        """Read a token in each row, copied or not."""
        naming = so_far.naming
        if self._finder is not None and naming is not None:
            naming = self._finder.read(naming, written)
        taken_words = so_far.taken
        if self._name_words is not None and taken_words is not None:
            taken_words = self._name_words.read(taken_words, word_numbers(self.topic, written))
        states_BD, state = self._read(written.token_B, so_far.state, naming)
        return WritingState(states_BD, state, written, naming, taken_words)

    def _read(self, token_B: Tensor, state: State, naming: Naming | None) -> tuple[Tensor, State]:
        """Read tokens, and with them what of the topic is told."""
        vectors_BI = self._embedding.step(token_B)
        if self._told is None:
            return self._step(vectors_BI, state)
        times_BR = since_BR = token_B.new_zeros(len(token_B), self.topic.relations)
        if naming is not None:
            named = naming.relations()
            times_BR, since_BR = named.times, named.since
        told_1BC = self._told(
            self._vectors_1RW,
            self.topic.types_R[None],
            times_BR[None],
            since_BR[None],
            self._all_1R,
        )
        states_BD, state = self._step(vectors_BI + self._told.to_input(told_1BC[0]), state)
        return self._told.add_to(states_BD, told_1BC[0]), state

    def choose(self, so_far: WritingState, limits: Limits, choosing: Choosing) -> Written:
        """Choose a word for each row, or the first token of a form."""
        if not self.topic.relations:
            return super().choose(so_far, limits, choosing)
        states_XD, last = so_far.states_BD, so_far.last
        context_X = self.topic.context_after(last.token_B)
        named_X = self._is_after_name(last)
        log_source_X2, log_fresh_X = self._log_source(so_far, context_X, named_X)
        chances_X2 = log_source_X2
        if not limits.is_free:
            possible_X2 = torch.stack([limits.word_X, limits.form_XF.any(1)], dim=1)
            possible_X2[:, _WORD] |= context_X == NO_FORM_HERE
            chances_X2 = log_source_X2.masked_fill(~possible_X2, -torch.inf)
        source_X = choosing.choose(chances_X2)
        log_prob_X = taken(log_source_X2, source_X)
        token_X, form_X = torch.zeros_like(source_X), torch.full_like(source_X, NO_FORM)
        position_X, form_context_X = torch.zeros_like(source_X), torch.zeros_like(source_X)
        log_known_X = None if self._open_1OW is None else torch.zeros_like(log_prob_X)

        name_word_X = self._take_words(so_far, source_X == _WORD, token_X, log_prob_X, choosing)
        is_word_X = source_X == _WORD
        if name_word_X is not None:
            is_word_X = is_word_X & (name_word_X == NO_WORD)
        place_Y = is_word_X.nonzero().squeeze(1)
        if len(place_Y):
            token_Y, log_prob_Y = self._words.choose(
                states_XD[place_Y],
                limits.may_end_X[place_Y],
                choosing,
                fresh_X=None if named_X is None else named_X[place_Y],
            )
            token_X[place_Y] = token_Y
            log_prob_X[place_Y] += log_prob_Y
            if log_fresh_X is not None:  # the choice of a word was one among those words alone
                log_prob_X[place_Y] -= log_fresh_X[place_Y]
        place_Y = (source_X == _RELATION).nonzero().squeeze(1)
        if len(place_Y):
            form_Y, log_prob_Y, log_known_Y = self._form(
                so_far.select(place_Y), limits.form_XF[place_Y], choosing
            )
            if log_known_X is not None:  # where no word was possible, copying was no choice
                is_free_Y = limits.word_X[place_Y]
                log_known_X[place_Y] = torch.where(is_free_Y, log_known_Y, 0.0)
            context_Y = context_X[place_Y]
            token_X[place_Y] = self.topic.tokens_CFL[context_Y, form_Y, 0]
            form_X[place_Y] = form_Y
            form_context_X[place_Y] = context_Y
            log_prob_X[place_Y] += log_prob_Y
        return Written(
            token_X,
            form_X,
            position_X,
            form_context_X,
            log_prob_X,
            log_known_B=log_known_X,
            name_word_B=name_word_X,
        )

    def _take_words(
        self,
        so_far: WritingState,
        is_word_X: Tensor,
        token_X: Tensor,
        log_prob_X: Tensor,
        choosing: Choosing,
    ) -> Tensor | None:
        """Choose which words are taken from names, and which: (X,), `NO_WORD` where none is.

        Their tokens are filled in, and what every choice of a word costs is added.
        """
        chooser, taken_words = self._name_words, so_far.taken
        if chooser is None or taken_words is None:
            return None
        name_word_X = torch.full_like(token_X, NO_WORD)
        place_Y = is_word_X.nonzero().squeeze(1)
        if not len(place_Y):
            return name_word_X
        shares_Y2 = chooser.log_shares(so_far.states_BD[place_Y], taken_words.select(place_Y))
        way_Y = choosing.choose(shares_Y2)
        log_prob_X[place_Y] += taken(shares_Y2, way_Y)
        place_Y = place_Y[way_Y == _FROM_NAME]
        if len(place_Y):
            log_probs_YK = chooser.log_probs(so_far.states_BD[place_Y], taken_words.select(place_Y))
            name_word_Y = choosing.choose(log_probs_YK)
            name_word_X[place_Y] = name_word_Y
            token_X[place_Y] = chooser.ids_K[name_word_Y]
            log_prob_X[place_Y] += taken(log_probs_YK, name_word_Y)
        return name_word_X

    def _is_after_name(self, last: Written) -> Tensor | None:
        """Say which rows have just ended a name that a new word must follow; None if none has."""
        bound_F = self.topic.bound_F
        if bound_F is None:
            return None
        named_X = (last.form_B != NO_FORM) & bound_F[last.form_B.clamp(min=0)]
        return named_X if bool(named_X.any()) else None

    def _log_source(
        self, so_far: WritingState, context_X: Tensor, named_X: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Give log P(word) and log P(relation): (X, 2).

        Where a new word must begin, that is part of P(word), and what it costs, 0 elsewhere, is
        given too: (X,).
        """
        is_closed_X = context_X == NO_FORM_HERE
        states_XD, naming, added_X2 = so_far.states_BD, so_far.naming, None
        named = None if naming is None else naming.relations()
        if self._naming is not None and named is not None:
            all_XR = self._all_1R.expand_as(named.times)
            added_X2 = self._naming.source_scores(named.times, named.since, all_XR)
        if self._model.fit is not None:
            fit_1X = self._model.fit(
                states_XD[None],
                self._vectors_1RW,
                self._all_1R,
                *(() if named is None else (named.times[None], named.since[None])),
            )
            added_X2 = with_fit(added_X2, fit_1X[0])
        log_word_X, log_relation_X = self._model.source(states_XD, ~is_closed_X, added_X2)
        log_source_X2 = torch.stack([log_word_X, log_relation_X], dim=1)
        if named_X is None:
            return log_source_X2, None
        log_fresh_X = torch.where(named_X, self._words.log_fresh(states_XD), 0.0)
        log_source_X2 = torch.stack([log_word_X + log_fresh_X, log_relation_X], dim=1)
        normed_X2 = torch.where(named_X[:, None], log_source_X2.log_softmax(1), log_source_X2)
        return normed_X2, log_fresh_X

    def _form(
        self, so_far: WritingState, allowed_YF: Tensor, choosing: Choosing
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose a relation and then a form: the form, and log P(e | h) + log P(a | e, h).

        The third is log P that no open relation is chosen in place of those that are possible.
        """
        states_YD = so_far.states_BD
        log_all_YR = self._relation_log_probs(so_far)  # open ones stand behind those of the topic
        log_relation_YR = log_all_YR[:, : self.topic.relations]
        possible_YR = allowed_YF.to(self._form_counts_FR.dtype) @ self._form_counts_FR > 0
        chances_YR = log_relation_YR.masked_fill(~possible_YR, -torch.inf)
        if self._open_1OW is None:
            relation_Y = choosing.choose(chances_YR)
            log_known_Y = torch.zeros_like(chances_YR[:, 0])
        else:
            log_open_YO = log_all_YR[:, self.topic.relations :]
            relation_Y, log_known_Y = choosing.choose_first(
                torch.cat([chances_YR, log_open_YO], dim=1), self.topic.relations
            )
            log_relation_YR = log_relation_YR.log_softmax(1)  # as the model itself has it
        naming, shift_YW, added_YF = so_far.naming, None, None
        if self._naming is not None and naming is not None:
            relations, forms = naming.relations(), naming.forms()
            shift_YW = self._naming.form_shift(
                taken(relations.times, relation_Y), taken(relations.since, relation_Y)
            )
            added_YF = self._naming.form_scores(states_YD, forms.times, forms.since)
        log_form_YF = self._model.forms.masked_log_probs(
            states_YD,
            self.topic.features_FW,
            self._forms_RF[relation_Y],
            shift_QW=shift_YW,
            added_QF=added_YF,
        )
        form_Y = choosing.choose(log_form_YF.masked_fill(~allowed_YF, -torch.inf))
        log_prob_Y = taken(log_relation_YR, relation_Y) + taken(log_form_YF, form_Y)
        return form_Y, log_prob_Y, log_known_Y

    def _relation_log_probs(self, so_far: WritingState) -> Tensor:
        """Give log P(e | h) of all relations in each row, open ones behind the others: (X, R)."""
        states_1XD, naming, added_1XR = so_far.states_BD[None], so_far.naming, None
        vectors_1RW, all_1R, open_ones = self._vectors_1RW, self._all_1R, 0
        if self._open_1OW is not None:
            open_ones = self._open_1OW.shape[1]
            vectors_1RW = torch.cat([vectors_1RW, self._open_1OW], dim=1)
            all_1R = nn.functional.pad(all_1R, (0, open_ones), value=True)
        if self._naming is not None and naming is not None:
            named = naming.relations()  # open ones have no name that could have been written
            added_1XR = self._naming.relation_scores(
                states_1XD,
                vectors_1RW,
                nn.functional.pad(named.times, (0, open_ones))[None],
                nn.functional.pad(named.since, (0, open_ones))[None],
            )
        log_probs_1XR: Tensor = self._model.relations.log_probs(
            states_1XD, vectors_1RW, all_1R, added_1XR
        )
        return log_probs_1XR[0]
