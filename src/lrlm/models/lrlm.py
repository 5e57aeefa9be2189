"""LRLM, the latent relation language model: a lattice of words and copied names, summed exactly.

Shapes: B rows, T tokens, X tokens without padding or rows that choose, Y rows that copy, D width of
states, R relations of a row, E candidate edges, S places of a row where edges start, Q choices of a
form, F forms, W widths, O open relations.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, State
from lrlm.batching import NO_WORD, Edges, NamesSoFar, Parts, TopicRelations, Window
from lrlm.heads import (
    Choosing,
    FormHead,
    NamedVectors,
    NameWordHead,
    NamingScores,
    RelationFit,
    RelationHead,
    RelationVectors,
    SourceHead,
    TokenEmbedding,
    TokenHead,
    ToldTopic,
    VectorsBesideNames,
    taken,
)
from lrlm.models.language_model import WindowScores, flat, unflat
from lrlm.models.name_words import NameWordChooser
from lrlm.models.naming import NameFinder, Naming, word_numbers
from lrlm.models.vanilla import VanillaLM, VanillaWriter
from lrlm.models.writing import NO_FORM, EncodedTopic, Limits, Writer, WritingState, Written
from lrlm.text import NO_FORM_HERE

if TYPE_CHECKING:
    from lrlm.models.building import ModelParts

_WORD, _RELATION = 0, 1
_FROM_NAME = 1
"""The choice of a word that is taken from a name, not from the vocabulary."""


class LatentRelationLM(VanillaLM):
    """A vanilla LM that can also copy whole names of the topic's objects through a relation.

    The state `h` before a segment has read all tokens so far and does not know how they were cut
    into segments, so the sum over all segmentations (the paper's marginal over Z) is exact.
    """

    kind: ClassVar[str] = "lrlm"
    label: ClassVar[str] = "LRLM"
    reads: ClassVar[Parts] = Parts.RELATIONS | Parts.EDGES
    can_read_facts: ClassVar[bool] = True
    has_posteriors: ClassVar[bool] = True
    copies_names: ClassVar[bool] = True
    is_baseline: ClassVar[bool] = False

    def __init__(
        self,
        embedding: TokenEmbedding,
        backbone: Backbone,
        words: TokenHead,
        *,
        source: SourceHead,
        vectors: RelationVectors | NamedVectors | VectorsBesideNames,
        relations: RelationHead,
        forms: FormHead,
        summary: bool = False,
        told: ToldTopic | None = None,
        fit: RelationFit | None = None,
        name_words: NameWordHead | None = None,
        named: bool = False,
        forgotten_facts: float = 0.0,
        reads_preface: bool = False,
    ) -> None:
        """With `summary`, the mean of the topic's relations is read before the first token.

        The paper's model learns what a topic has only where it chooses a relation, so it may begin
        an article about a river whose topic is a country. With `told`, those that were not named
        yet, or just now, are read with every token; with `named`, what was named already changes
        the choices of a source, a relation and a form. With `fit`, the source sees how well
        relations fit; with `name_words`, a word may be one of a name. In training up to a share
        `forgotten_facts` of the facts that a text does not name is taken for unknown.
        """
        super().__init__(embedding, backbone, words)
        self.source = source
        self.vectors = vectors
        self.relations = relations
        self.forms = forms
        self.forgotten_facts = forgotten_facts
        self.reads_preface = reads_preface
        vector_size = vectors.output_size
        self.summary = nn.Linear(vector_size, embedding.output_size) if summary else None
        self.told = told
        self.fit = fit
        self.name_words = name_words
        self.naming = (
            NamingScores(backbone.output_size, vector_size, forms.feature_size) if named else None
        )

    @classmethod
    def build(cls, parts: "ModelParts") -> "LatentRelationLM":
        """Put the model together with fresh weights."""
        vectors = parts.relation_vectors()
        backbone = parts.backbone(parts.embedding.output_size)
        size, relations = backbone.output_size, parts.config.relations
        return cls(
            parts.embedding,
            backbone,
            parts.word_head(size, backbone),
            source=SourceHead(size, first_rate=relations.first_rate),
            vectors=vectors,
            relations=RelationHead(size, relations.hidden_size, vectors.output_size),
            forms=parts.form_head(size),
            summary=relations.summary,
            told=parts.told_topic(vectors, size) if relations.told else None,
            fit=(
                RelationFit(size, vectors.output_size, named=relations.named)
                if relations.fit
                else None
            ),
            name_words=parts.name_words(size) if relations.name_words else None,
            named=relations.named,
            forgotten_facts=relations.forgotten_facts,
            reads_preface=parts.config.facts_in_context,
        )

    @property
    def reads_topic(self) -> bool:
        """Whether the states of a text depend on its topic, which may be read before it."""
        reads_relations = self.summary is not None or self.told is not None
        return reads_relations or super().reads_topic

    def begin(self, window: Window) -> State:
        """Give the state before the first window, which may know the topic's relations."""
        state = super().begin(window)
        return state if self.summary is None else self.read_topic(state, window.relations)

    def read_topic(self, state: State, relations: TopicRelations | None) -> State:
        """Read the summary of each row's topic, where the model has one."""
        if self.summary is None:
            return state
        assert relations is not None, "the collator serves another model"
        known_BR1 = relations.known_BR[..., None]
        total_BW = self.vectors_of(relations).masked_fill(~known_BR1, 0.0).sum(1)
        mean_BW = total_BW / known_BR1.sum(1).clamp(min=1)
        one_B = torch.ones(len(known_BR1), dtype=torch.long, device=known_BR1.device)
        after: State
        _, after = self.backbone(self.summary(mean_BW)[:, None], one_B, state)
        return after

    def vectors_of(self, relations: TopicRelations) -> Tensor:
        """Give the vectors of relations: (B, R, W)."""
        vectors_BRW: Tensor = self.vectors(*relations.described)
        return vectors_BRW

    def read(self, window: Window, state: State) -> tuple[Tensor, State]:
        """Give `h`, the state before each token, which may know what of the topic is told."""
        if self.told is None:
            return super().read(window, state)
        relations, named_BTR = window.relations, window.named_BTR
        assert relations is not None, "the collator serves another model"
        assert named_BTR is not None, "the collator serves another model"
        told_BTC = self.told(
            self.vectors_of(relations),
            relations.types_BR,
            named_BTR.times,
            named_BTR.since,
            relations.known_BR,
        )
        inputs_BTI = self.embedding(window.inputs_BT) + self.told.to_input(told_BTC)
        states_BTD, state = self.backbone(inputs_BTI, window.lengths_B, state)
        return self.told.add_to(states_BTD, told_BTC), state

    def forward(self, window: Window, state: State) -> tuple[WindowScores, State]:
        """Score every segment that a window's tokens can be cut into."""
        if self.training and self.forgotten_facts and window.relations is not None:
            known = window.relations.forgetting(self.forgotten_facts)
            window = replace(window, relations=known)
        states_BTD, state = self.read(window, state)
        edges, relations = window.edges, window.relations
        assert edges is not None, "the collator serves another model"
        assert relations is not None, "the collator serves another model"
        states_XD = flat(states_BTD, window)
        can_copy_BT = relations.mask_BR.any(1)[:, None].expand_as(window.mask_BT)
        if window.may_copy_BT is not None:
            can_copy_BT = can_copy_BT & window.may_copy_BT
        log_word_X, log_relation_X = self.source(
            states_XD, flat(can_copy_BT, window), self._source_added(states_BTD, window)
        )
        token_X, fresh_X = self.token_log_probs(states_XD, window, fresh=edges.bound_E is not None)
        score_E = (
            unflat(log_relation_X, window)[edges.row_E, edges.start_E]
            + self._relation_log_probs(states_BTD, relations, edges, window.named_BTR)
            + self._form_log_probs(states_BTD, edges, window.named_BTR)
        )
        if fresh_X is not None and edges.bound_E is not None:
            # After a whole name the next step is a relation or a token that begins a word: this is
            # how probable that is in all, and by it the next step is divided.
            log_after_X = torch.logaddexp(log_word_X + fresh_X, log_relation_X)
            log_after_E = unflat(log_after_X, window)[edges.row_E, edges.end_E]
            score_E = score_E - torch.where(edges.bound_E, log_after_E, 0.0)
        token_BT, name_word_BT = unflat(token_X, window), None
        if self.name_words is not None:
            log_vocabulary_BT, name_word_BT = self._name_word_log_probs(states_BTD, window)
            token_BT = token_BT + log_vocabulary_BT
        scores = WindowScores(
            token_BT=token_BT,
            choice_BT=unflat(log_word_X, window),
            edges=edges,
            score_E=score_E,
            name_word_BT=name_word_BT,
        )
        return scores, state

    def _name_word_log_probs(self, states_BTD: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """Give log P(vocabulary | a word, h), and log P that a name gives the token: (B, T) each.

        The latter is −inf where the token is no word of a name; padding has 0 in the former.
        """
        words = window.name_words
        assert words is not None, "the collator serves another model"
        assert self.name_words is not None
        has_words_BT = words.mask_BK.any(1)[:, None].expand_as(window.mask_BT)
        log_vocabulary_X, log_name_X = self.name_words.log_shares(
            flat(states_BTD, window), flat(words.goes_on_BT, window), flat(has_words_BT, window)
        )
        rows_B1 = torch.arange(len(states_BTD), device=states_BTD.device)[:, None]
        log_probs_BSK = self.name_words.log_probs(
            states_BTD[rows_B1, words.place_BS],
            words.features_BKW,
            self.vectors_of_words(words.ids_BK, words.mask_BK),
            words.mask_BK,
            follows_BSK=words.follows_BSK,
            times_BSK=words.so_far.times,
            since_BSK=words.so_far.since,
        )
        row_M, slot_M = (words.word_BS != NO_WORD).nonzero(as_tuple=True)
        place_M = words.place_BS[row_M, slot_M]
        log_name_BT = unflat(log_name_X, window)
        log_prob_M = log_probs_BSK[row_M, slot_M, words.word_BS[row_M, slot_M]]
        nothing_BT = torch.full_like(log_name_BT, -torch.inf)
        name_word_BT = nothing_BT.index_put(
            (row_M, place_M), log_name_BT[row_M, place_M] + log_prob_M
        )
        return unflat(log_vocabulary_X, window), name_word_BT

    @torch.no_grad()
    def vectors_of_words(self, ids_BK: Tensor, mask_BK: Tensor) -> Tensor:
        """Give the vectors that the words of names are read as, 0 at padding: (B, K, E)."""
        vectors_BKE = mask_BK.new_zeros(
            *mask_BK.shape, self.embedding.output_size, dtype=self.dtype
        )
        vectors_BKE[mask_BK] = self.embedding(ids_BK[mask_BK]).to(self.dtype)
        return vectors_BKE

    def _source_added(self, states_BTD: Tensor, window: Window) -> Tensor | None:
        """Score words and relations by what else the model reads of the topic: (X, 2)."""
        relations, named_BTR = window.relations, window.named_BTR
        assert relations is not None, "the collator serves another model"
        added_X2 = None
        if self.naming is not None:
            assert named_BTR is not None, "the collator serves another model"
            mask_BTR = relations.known_BR[:, None].expand_as(named_BTR.times)
            added_X2 = self.naming.source_scores(
                flat(named_BTR.times, window), flat(named_BTR.since, window), flat(mask_BTR, window)
            )
        if self.fit is not None:
            fit_BT = self.fit(
                states_BTD,
                self.vectors_of(relations),
                relations.known_BR,
                *(() if named_BTR is None else (named_BTR.times, named_BTR.since)),
            )
            added_X2 = with_fit(added_X2, flat(fit_BT, window))
        return added_X2

    def _relation_log_probs(
        self,
        states_BTD: Tensor,
        relations: TopicRelations,
        edges: Edges,
        named_BTR: NamesSoFar | None,
    ) -> Tensor:
        """Give log P(e | h) of each edge, over all relations of its topic: (E,)."""
        rows_B1 = torch.arange(len(states_BTD), device=states_BTD.device)[:, None]
        vectors_BRW = self.vectors_of(relations)
        states_BSD = states_BTD[rows_B1, edges.place_BS]
        added_BSR = None
        if self.naming is not None and named_BTR is not None:
            added_BSR = self.naming.relation_scores(
                states_BSD,
                vectors_BRW,
                named_BTR.times[rows_B1, edges.place_BS],
                named_BTR.since[rows_B1, edges.place_BS],
            )
        log_probs_BSR: Tensor = self.relations.log_probs(
            states_BSD, vectors_BRW, relations.mask_BR, added_BSR
        )
        return log_probs_BSR[edges.row_E, edges.slot_E, edges.relation_E]

    def _form_log_probs(
        self, states_BTD: Tensor, edges: Edges, named_BTR: NamesSoFar | None
    ) -> Tensor:
        """Give log P(a | e, h) of each edge, over the forms of its object: (E,)."""
        states_QD, query_F = states_BTD[edges.row_Q, edges.start_Q], edges.forms.query_F
        shift_QW = added_F = None
        if self.naming is not None and named_BTR is not None and edges.named_F is not None:
            place_Q = (edges.row_Q, edges.start_Q, edges.relation_Q)
            shift_QW = self.naming.form_shift(named_BTR.times[place_Q], named_BTR.since[place_Q])
            added_F = self.naming.form_scores(
                states_QD, edges.named_F.times, edges.named_F.since, query_F
            )
        log_probs_F: Tensor = self.forms.log_probs(
            states_QD, edges.forms.features_FW, query_F, shift_QW=shift_QW, added_F=added_F
        )
        return log_probs_F[edges.forms.chosen]

    def writer(self, topic: EncodedTopic) -> Writer:
        """Give what writes words and whole forms: the paper's Algorithm 1."""
        return LrlmWriter(self, topic)


class LatentRelationLMPlus(LatentRelationLM):
    """LRLM with what was found to help beyond the paper; its settings say what that is."""

    kind: ClassVar[str] = "lrlm+"
    label: ClassVar[str] = "LRLM+"
    relation_settings: ClassVar[tuple[str, ...]] = (
        "summary",
        "beside_names",
        "shapes",
        "fit",
        "name_words",
    )


def with_fit(added_X2: Tensor | None, fit_X: Tensor) -> Tensor:
    """Add how well relations fit to what is added to the scores of words and relations: (X, 2)."""
    fit_X2 = torch.stack([torch.zeros_like(fit_X), fit_X], dim=1)
    return fit_X2 if added_X2 is None else added_X2 + fit_X2


class LrlmWriter(VanillaWriter):
    """Chooses a source; then a word, or a relation and one of its forms."""

    uses_relations = True
    copies_whole_forms = True
    chooses_open = True

    def __init__(self, model: LatentRelationLM, topic: EncodedTopic) -> None:
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
            ids_1K = topic.name_words.ids_K[None]
            vectors_1KE = model.vectors_of_words(ids_1K, torch.ones_like(ids_1K, dtype=torch.bool))
            self._name_words = NameWordChooser(model.name_words, topic.name_words, vectors_1KE)
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
