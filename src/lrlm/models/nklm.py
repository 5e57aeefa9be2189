"""NKLM, the neural knowledge language model: one token at a time, each copied from a fact or not.

What is reported for it is the joint probability of a text and its one hard annotation.

Shapes: B rows, T tokens, X rows that choose, Y rows that copy or do not, D width of states, R
relations of a row, G facts of a row with "not a fact" before them (R + 1), W width of a fact, C
copied tokens, K copy positions, F forms.
"""

from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lrlm.backbones import Backbone, State
from lrlm.batching import NOT_A_FACT, HardAnnotation, Parts, Window
from lrlm.heads import (
    Choosing,
    FormHead,
    NamedVectors,
    RelationVectors,
    TokenEmbedding,
    TokenHead,
    VectorsBesideNames,
    taken,
)
from lrlm.models.language_model import LanguageModel, WindowScores
from lrlm.models.writing import NO_FORM, EncodedTopic, Limits, Writer, WritingState, Written

if TYPE_CHECKING:
    from lrlm.models.building import ModelParts


class FactHead(nn.Module):
    """P(fact | h): an MLP of the state and the mean of the topic's facts, against each fact."""

    def __init__(self, state_size: int, fact_size: int, hidden_size: int) -> None:
        super().__init__()
        self.key = nn.Sequential(
            nn.Linear(state_size + fact_size, hidden_size),
            nn.ReLU(),
            nn.Linear(hidden_size, fact_size),
        )

    def log_probs(self, states_BTD: Tensor, facts_BGW: Tensor, mask_BG: Tensor) -> Tensor:
        """Give log-probabilities over a topic's facts and "not a fact": (B, T, G)."""
        known_BG1 = mask_BG[:, 1:, None].to(facts_BGW.dtype)
        total_BW = (facts_BGW[:, 1:] * known_BG1).sum(1)
        mean_B1W = (total_BW / known_BG1.sum(1).clamp(min=1))[:, None]
        key_BTW = self.key(
            torch.cat([states_BTD, mean_B1W.expand(-1, states_BTD.shape[1], -1)], dim=2)
        )
        scores_BTG: Tensor = key_BTW @ facts_BGW.mT
        return scores_BTG.masked_fill(~mask_BG[:, None], -torch.inf).log_softmax(2)


class NeuralKnowledgeLM(LanguageModel):
    """Chooses a fact for every token, whether to copy from it, and then a position or a word."""

    kind: ClassVar[str] = "nklm"
    label: ClassVar[str] = "NKLM"
    reads: ClassVar[Parts] = Parts.RELATIONS | Parts.COPIES
    copies_names: ClassVar[bool] = True
    reads_tokens_only: ClassVar[bool] = False
    is_joint: ClassVar[bool] = True
    is_baseline: ClassVar[bool] = True
    footnote: ClassVar[str] = "† joint probability of the text and one given annotation."

    def __init__(
        self,
        embedding: TokenEmbedding,
        backbone: Backbone,
        words: TokenHead,
        *,
        vectors: RelationVectors | NamedVectors | VectorsBesideNames,
        forms: FormHead,
        hidden_size: int,
        positions: int,
        position_size: int,
    ) -> None:
        super().__init__()
        fact_size = vectors.output_size
        chosen_size = backbone.output_size + fact_size
        self.embedding = embedding
        self.backbone = backbone
        self.words = words
        self.vectors = vectors
        self.forms = forms
        self.not_a_fact = nn.Parameter(torch.empty(fact_size).uniform_(-0.1, 0.1))
        self.facts = FactHead(backbone.output_size, fact_size, hidden_size)
        self.copy = nn.Sequential(
            nn.Linear(chosen_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1)
        )
        self.position = nn.Linear(chosen_size, positions)
        self.position_embedding = nn.Embedding(positions, position_size)

    @classmethod
    def build(cls, parts: "ModelParts") -> "NeuralKnowledgeLM":
        """Put the model together with fresh weights."""
        config = parts.config
        vectors = parts.relation_vectors()
        backbone = parts.backbone(
            parts.embedding.output_size + vectors.output_size + config.position_size
        )
        chosen_size = backbone.output_size + vectors.output_size
        return cls(
            parts.embedding,
            backbone,
            parts.word_head(chosen_size, backbone),
            vectors=vectors,
            forms=parts.form_head(chosen_size),
            hidden_size=config.relations.hidden_size,
            positions=config.positions,
            position_size=config.position_size,
        )

    def forward(self, window: Window, state: State) -> tuple[WindowScores, State]:
        """Score a window under its annotation, and give the state after it."""
        annotation = window.annotation
        assert annotation is not None, "the collator serves another model"
        facts_BGW = self.fact_vectors(window)
        inputs_BTI = self._inputs(window, annotation, facts_BGW)
        states_BTD, state = self.backbone(inputs_BTI, window.lengths_B, state)
        log_facts_BTG = self.facts.log_probs(states_BTD, facts_BGW, fact_mask(window))
        chosen_BTW = _take(facts_BGW, annotation.relation_BT)
        chosen_BTD = torch.cat([states_BTD, chosen_BTW], dim=2)
        log_fact_BT = log_facts_BTG.gather(2, (annotation.relation_BT + 1)[..., None]).squeeze(2)
        token_BT = self._word_log_probs(chosen_BTD, window, annotation).index_put(
            (annotation.row_C, annotation.place_C), self._copy_log_probs(chosen_BTD, annotation)
        )
        scores = WindowScores(
            token_BT,
            choice_BT=log_fact_BT.masked_fill(~window.mask_BT, 0.0),
            copied_BT=annotation.relation_BT != NOT_A_FACT,
        )
        return scores, state

    def fact_vectors(self, window: Window) -> Tensor:
        """Give the vectors of each topic's facts, "not a fact" first: (B, G, W)."""
        assert window.relations is not None, "the collator serves another model"
        relations = window.relations
        vectors_BRW = self.vectors(*relations.described)
        not_a_fact_B1W = self.not_a_fact.expand(len(vectors_BRW), 1, -1)
        return torch.cat([not_a_fact_B1W, vectors_BRW], dim=1)

    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what writes one token at a time, copied from a fact or not."""
        return NklmWriter(self, topic)

    def _inputs(self, window: Window, annotation: HardAnnotation, facts_BGW: Tensor) -> Tensor:
        """Tell the backbone what the token before was: a word, or a position in a fact's form."""
        copied_BT1 = (annotation.previous_relation_BT != NOT_A_FACT)[..., None]
        words_BTI = self.embedding(window.inputs_BT).masked_fill(copied_BT1, 0.0)
        facts_BTW = _take(facts_BGW, annotation.previous_relation_BT)
        position_BT = annotation.previous_position_BT.clamp(min=0)
        positions_BTP = self.position_embedding(position_BT).masked_fill(~copied_BT1, 0.0)
        return torch.cat([words_BTI, facts_BTW, positions_BTP], dim=2)

    def _word_log_probs(
        self, chosen_BTD: Tensor, window: Window, annotation: HardAnnotation
    ) -> Tensor:
        """Give log P(not copied, word | h, fact) where no fact was copied, 0 elsewhere: (B, T).

        "Not a fact" has nothing to copy from, so not to copy it is certain.
        """
        is_word_BT = window.mask_BT & (annotation.relation_BT == NOT_A_FACT)
        log_probs_X = self.words.log_probs(chosen_BTD[is_word_BT], window.targets_BT[is_word_BT])
        return torch.zeros_like(chosen_BTD[..., 0]).masked_scatter(is_word_BT, log_probs_X)

    def _copy_log_probs(self, chosen_BTD: Tensor, annotation: HardAnnotation) -> Tensor:
        """Give log P(copied, form, position | h, fact) of the copied tokens: (C,)."""
        chosen_CD = chosen_BTD[annotation.row_C, annotation.place_C]
        log_copy_C = logsigmoid(self.copy(chosen_CD).squeeze(1))
        log_forms_F: Tensor = self.forms.log_probs(
            chosen_CD, annotation.forms.features_FW, annotation.forms.query_F
        )
        log_positions_CK = position_log_probs(self.position(chosen_CD), annotation.length_C)
        log_position_C = log_positions_CK.gather(1, annotation.position_C[:, None]).squeeze(1)
        return log_copy_C + log_forms_F[annotation.forms.chosen] + log_position_C


def fact_mask(window: Window) -> Tensor:
    """Say which facts a topic has; "not a fact" is always there: (B, G)."""
    assert window.relations is not None, "the collator serves another model"
    return nn.functional.pad(window.relations.mask_BR, (1, 0), value=True)


def position_log_probs(scores_CK: Tensor, length_C: Tensor) -> Tensor:
    """Normalise over the positions that exist in the chosen form."""
    positions_K = torch.arange(scores_CK.shape[1], device=scores_CK.device)
    missing_CK = positions_K >= length_C[:, None]
    return scores_CK.masked_fill(missing_CK, -torch.inf).log_softmax(1)


def _take(facts_BGW: Tensor, relation_BT: Tensor) -> Tensor:
    """Give each token the vector of its fact; `NOT_A_FACT` is −1, so fact g is relation g − 1."""
    index_BTW = (relation_BT + 1)[..., None].expand(-1, -1, facts_BGW.shape[2])
    return facts_BGW.gather(1, index_BTW)


class NklmWriter(Writer):
    """Chooses a fact, whether to copy from it, then a word or a position in one of its forms.

    It copies token by token and may stop in the middle of a name, or begin there.
    """

    def __init__(self, model: NeuralKnowledgeLM, topic: EncodedTopic) -> None:
        self.topic = topic
        self._model = model
        self._step = model.backbone.stepper()
        self._words = model.words.chooser(end_id=topic.end_id)
        vectors_RW = model.vectors(*topic.as_row.described)[0]
        self._facts_GW = torch.cat([model.not_a_fact[None], vectors_RW])
        self._mask_1G = torch.ones_like(self._facts_GW[None, :, 0], dtype=torch.bool)
        self._forms_RF = topic.forms_RF
        self._form_counts_FR = self._forms_RF.T.to(topic.features_FW.dtype)
        self._longest = model.position_embedding.num_embeddings

    def begin(self) -> WritingState:
        """Give the state of one text before its first token."""
        state = self._model.backbone.initial_state(1)
        start = self.start_of_text()
        return self.read(WritingState(self._facts_GW.new_empty(1, 0), state, start), start)

    def choose(self, so_far: WritingState, limits: Limits, choosing: Choosing) -> Written:
        """Choose a fact for each row, and then a word of its own or one of the fact's form."""
        states_XD = so_far.states_BD
        form_XF = self._copyable(so_far.last, limits)
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
        token_X, form_X = torch.zeros_like(fact_X), torch.full_like(fact_X, NO_FORM)
        position_X, context_X = torch.zeros_like(fact_X), torch.zeros_like(fact_X)
        place_Y = (~copy_X).nonzero().squeeze(1)
        if len(place_Y):
            token_Y, log_prob_Y = self._words.choose(
                chosen_XD[place_Y], limits.may_end_X[place_Y], choosing
            )
            token_X[place_Y] = token_Y
            log_prob_X[place_Y] += log_prob_Y
        if len(place_Y) < len(fact_X):
            place_Y = copy_X.nonzero().squeeze(1)
            its_forms_YF = self._forms_RF[fact_X[place_Y] - 1]
            form_Y, log_form_Y = self._form(
                chosen_XD[place_Y], its_forms_YF, form_XF[place_Y], choosing
            )
            is_new_Y = taken(limits.form_XF[place_Y], form_Y)
            last = so_far.last.select(place_Y)
            context_Y = torch.where(
                is_new_Y, self.topic.context_after(last.token_B), last.context_B
            )
            position_Y, log_position_Y = self._position(
                chosen_XD[place_Y],
                self.topic.length_CF[context_Y, form_Y],
                is_new_Y,
                last,
                choosing,
            )
            token_X[place_Y] = self.topic.tokens_CFL[context_Y, form_Y, position_Y]
            context_X[place_Y] = context_Y
            form_X[place_Y] = form_Y
            position_X[place_Y] = position_Y
            log_prob_X[place_Y] += log_form_Y + log_position_Y
        return Written(token_X, form_X, position_X, context_X, log_prob_X)

    def read(self, so_far: WritingState, written: Written) -> WritingState:
        """Tell the backbone what each token was: a word, or a position in a fact's form."""
        copied_B = written.form_B != NO_FORM
        copied_B1 = copied_B[:, None]
        words_BI = self._model.embedding.step(written.token_B).masked_fill(copied_B1, 0.0)
        fact_B = torch.zeros_like(written.form_B)
        if self.topic.relations:
            fact_B = torch.where(
                copied_B, self.topic.relation_F[written.form_B.clamp(min=0)] + 1, 0
            )
        positions_BP = self._model.position_embedding(written.position_B)
        inputs_BI = torch.cat(
            [words_BI, self._facts_GW[fact_B], positions_BP.masked_fill(~copied_B1, 0.0)], dim=1
        )
        states_BD, state = self._step(inputs_BI, so_far.state)
        return WritingState(states_BD, state, written)

    def _copyable(self, last: Written, limits: Limits) -> Tensor:
        """Say which forms may be copied from: new ones, and the rest of the one before: (X, F)."""
        if not self.topic.relations:
            return limits.form_XF
        goes_on_X = self._goes_on(last) & limits.word_X  # it takes as much room as a word
        numbers_F = torch.arange(len(self.topic.relation_F), device=last.form_B.device)
        return limits.form_XF | ((numbers_F == last.form_B[:, None]) & goes_on_X[:, None])

    def _goes_on(self, last: Written) -> Tensor:
        """Say whether the form that was copied from before has another word."""
        length_X = self.topic.length_CF[last.context_B, last.form_B.clamp(min=0)]
        length_X = length_X.clamp(max=self._longest)
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
            chosen_YD, self.topic.features_FW, its_forms_YF
        )
        form_Y = choosing.choose(log_forms_YF.masked_fill(~allowed_YF, -torch.inf))
        return form_Y, taken(log_forms_YF, form_Y)

    def _position(
        self,
        chosen_YD: Tensor,
        length_Y: Tensor,
        is_new_Y: Tensor,
        last: Written,
        choosing: Choosing,
    ) -> tuple[Tensor, Tensor]:
        """Choose a position; where no new copy may begin, only the next one is possible."""
        log_positions_YK = position_log_probs(self._model.position(chosen_YD), length_Y)
        next_Y1 = (last.position_B + 1)[:, None]
        numbers_K = torch.arange(log_positions_YK.shape[1], device=length_Y.device)
        allowed_YK = is_new_Y[:, None] | (numbers_K == next_Y1)
        position_Y = choosing.choose(log_positions_YK.masked_fill(~allowed_YK, -torch.inf))
        return position_Y, taken(log_positions_YK, position_Y)
