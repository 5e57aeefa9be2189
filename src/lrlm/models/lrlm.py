"""LRLM, the latent relation language model: a lattice of words and copied names, summed exactly.

Shapes: B rows, T tokens, X tokens without padding, D width of states, R relations of a row, E
candidate edges, S places of a row where edges start, Q choices of a form, F forms, K words of a
topic's names, V those of all rows, M places where one stands, N relations without padding, W
widths.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, State
from lrlm.batching import Edges, NamesSoFar, Parts, TopicRelations, Window
from lrlm.heads import (
    FormHead,
    NamedVectors,
    NameWordHead,
    NamingScores,
    RelationFit,
    RelationHead,
    RelationTraits,
    RelationVectors,
    SourceHead,
    TokenEmbedding,
    TokenHead,
    ToldTopic,
    VectorsBesideNames,
    taken,
    with_fit,
)
from lrlm.models.language_model import WindowScores, flat, unflat
from lrlm.models.lrlm_writer import LrlmWriter
from lrlm.models.vanilla import VanillaLM
from lrlm.models.writing import EncodedTopic, Writer

if TYPE_CHECKING:
    from lrlm.models.building import ModelParts


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
    # Measured for LRLM+, which comes out the same with Adam here (docs/recipes.md). The paper's own
    # choices of a relation and a form are not among them.
    learned_with_adam: ClassVar[tuple[str, ...]] = (
        "vectors",
        "summary",
        "fit",
        "name_words",
        "traits",
        "naming",
    )

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
        traits: RelationTraits | None = None,
        named: bool = False,
        forgotten_facts: float = 0.0,
        inside_weight: float = 1.0,
        reads_preface: bool = False,
    ) -> None:
        """With `summary`, the mean of the topic's relations is read before the first token.

        The paper's model learns what a topic has only where it chooses a relation, so it may begin
        an article about a river whose topic is a country. With `told`, those that were not named
        yet, or just now, are read with every token; with `named`, what was named already changes
        the choices of a source, a relation and a form. With `fit`, the source sees how well
        relations fit; with `name_words`, a word may be one of a name; with `traits`, the vectors of
        relations also say how they stand among those of the topic. In training up to a share
        `forgotten_facts` of the facts that a text does not name is taken for unknown, and words
        within candidate spans count `inside_weight` times.
        """
        super().__init__(embedding, backbone, words)
        self.source = source
        self.vectors = vectors
        self.relations = relations
        self.forms = forms
        self.forgotten_facts = forgotten_facts
        self.inside_weight = inside_weight
        self.reads_preface = reads_preface
        vector_size = vectors.output_size
        self.summary = nn.Linear(vector_size, embedding.output_size) if summary else None
        self.told = told
        self.fit = fit
        self.name_words = name_words
        self.traits = traits
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
                RelationFit(
                    size,
                    vectors.output_size,
                    named=relations.named,
                    deep=relations.deep_fit,
                )
                if relations.fit
                else None
            ),
            name_words=parts.name_words(size) if relations.name_words else None,
            traits=parts.relation_traits(vectors) if relations.traits else None,
            named=relations.named,
            forgotten_facts=relations.forgotten_facts,
            inside_weight=relations.inside_weight,
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
        if self.traits is None:
            return vectors_BRW
        assert relations.traits_BRJ is not None, "the collator serves another model"
        # Most of a row is padding, which needs none.
        here_N = relations.mask_BR.nonzero(as_tuple=True)
        added_NW = self.traits(relations.traits_BRJ[here_N])
        return vectors_BRW.index_put(here_N, added_NW.to(vectors_BRW.dtype), accumulate=True)

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
        vectors_BRW = self.vectors_of(relations)
        states_XD = flat(states_BTD, window)
        can_copy_BT = relations.mask_BR.any(1)[:, None].expand_as(window.mask_BT)
        if window.may_copy_BT is not None:
            can_copy_BT = can_copy_BT & window.may_copy_BT
        log_word_X, log_relation_X = self.source(
            states_XD,
            flat(can_copy_BT, window),
            self._source_added(states_BTD, vectors_BRW, window),
        )
        token_X, fresh_X = self.token_log_probs(states_XD, window, fresh=edges.bound_E is not None)
        score_E = (
            unflat(log_relation_X, window)[edges.row_E, edges.start_E]
            + self._relation_log_probs(
                states_BTD, vectors_BRW, relations.mask_BR, edges, window.named_BTR
            )
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
            log_vocabulary_BT, name_word_BT = self._name_word_log_probs(
                states_BTD, states_XD, window
            )
            token_BT = token_BT + log_vocabulary_BT
        scores = WindowScores(
            token_BT=token_BT,
            choice_BT=unflat(log_word_X, window),
            edges=edges,
            score_E=score_E,
            name_word_BT=name_word_BT,
        )
        return scores, state

    def _name_word_log_probs(
        self, states_BTD: Tensor, states_XD: Tensor, window: Window
    ) -> tuple[Tensor, Tensor]:
        """Give log P(vocabulary | a word, h), and log P that a name gives the token: (B, T) each.

        The latter is −inf where the token is no word of a name, or completes one; padding has 0 in
        the former.
        """
        words = window.name_words
        assert words is not None, "the collator serves another model"
        assert self.name_words is not None
        log_vocabulary_X, log_name_X = self.name_words.log_shares(
            states_XD,
            flat(words.goes_on_BT, window),
            flat(words.is_open_BT, window),
        )
        here_M = words.row_M, words.place_M
        log_probs_MK = self.name_words.log_probs(
            states_BTD[here_M],
            words.features_VW,
            self.vectors_of_words(words.ids_V),
            words.allowed_MK,
            number_XK=words.number_MK,
            follows_XK=words.follows_MK,
            times_XK=words.so_far.times,
            since_XK=words.so_far.since,
        )
        log_name_BT = unflat(log_name_X, window)
        log_prob_M = taken(log_probs_MK, words.word_M)
        nothing_BT = torch.full_like(log_name_BT, -torch.inf)
        name_word_BT = nothing_BT.index_put(here_M, log_name_BT[here_M] + log_prob_M)
        return unflat(log_vocabulary_X, window), name_word_BT

    @torch.no_grad()
    def vectors_of_words(self, ids_V: Tensor) -> Tensor:
        """Give the vectors that the words of names are read as: (V, W)."""
        vectors_VW: Tensor = self.embedding(ids_V)
        return vectors_VW

    def _source_added(
        self, states_BTD: Tensor, vectors_BRW: Tensor, window: Window
    ) -> Tensor | None:
        """Score words and relations by what else the model reads of the topic: (X, 2)."""
        relations, named_BTR = window.relations, window.named_BTR
        assert relations is not None, "the collator serves another model"
        added_X2 = None
        if self.naming is not None:
            assert named_BTR is not None, "the collator serves another model"
            added_BT2 = self.naming.source_scores(
                named_BTR.times, named_BTR.since, relations.known_BR[:, None]
            )
            added_X2 = flat(added_BT2, window)
        if self.fit is not None:
            fit_BT = self.fit(
                states_BTD,
                vectors_BRW,
                relations.known_BR,
                *(() if named_BTR is None else (named_BTR.times, named_BTR.since)),
            )
            added_X2 = with_fit(added_X2, flat(fit_BT, window))
        return added_X2

    def _relation_log_probs(
        self,
        states_BTD: Tensor,
        vectors_BRW: Tensor,
        mask_BR: Tensor,
        edges: Edges,
        named_BTR: NamesSoFar | None,
    ) -> Tensor:
        """Give log P(e | h) of each edge, over all relations of its topic: (E,)."""
        rows_B1 = torch.arange(len(states_BTD), device=states_BTD.device)[:, None]
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
            states_BSD, vectors_BRW, mask_BR, added_BSR
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
    relation_settings: ClassVar[Mapping[str, Any]] = {
        "summary": True,
        "beside_names": True,
        "shapes": True,
        "fit": True,
        "deep_fit": True,
        "name_words": True,
        "named": True,
        "traits": True,
        "inside_weight": 1.5,
    }
