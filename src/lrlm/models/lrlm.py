"""LRLM: the latent relation language model; a lattice of words and copied names, summed exactly.

Shapes: B rows, T tokens, X tokens without padding, D width of states, R relations of a row,
E candidate edges, S places of a row where edges start, Q choices of a form, F forms, W widths.
"""

import torch
from torch import Tensor, nn

from lrlm.backbones import Backbone, State
from lrlm.batching import Edges, Window
from lrlm.heads import (
    FormHead,
    RelationHead,
    RelationVectors,
    SourceHead,
    WordEmbedding,
    WordHead,
)
from lrlm.lattice import Lattice, log_marginal
from lrlm.models.language_model import WindowScore, flat, last_token, unflat
from lrlm.models.vanilla import VanillaLM


class LatentRelationLM(VanillaLM):
    """A vanilla LM that can also copy whole names of the topic's objects through a relation.

    The state `h` before a segment has read all tokens so far and does not know how they were cut
    into segments, so the sum over all segmentations (the paper's marginal over Z) is exact.
    """

    def __init__(
        self,
        embedding: WordEmbedding,
        backbone: Backbone,
        words: WordHead,
        *,
        source: SourceHead,
        vectors: RelationVectors,
        relations: RelationHead,
        forms: FormHead,
        summary: bool = False,
    ) -> None:
        """With `summary`, the mean of the topic's relations is read before the first token.

        The paper's model learns what a topic has only where it chooses a relation, so it may begin
        an article about a river whose topic is a country.
        """
        super().__init__(embedding, backbone, words)
        self.source = source
        self.vectors = vectors
        self.relations = relations
        self.forms = forms
        self.summary = nn.Linear(vectors.output_size, embedding.output_size) if summary else None

    def begin(self, window: Window) -> State:
        """Give the state before the first window, which may know the topic's relations."""
        return self.read_topic(
            super().begin(window), window.types_BR, window.objects_BR, window.relation_mask_BR
        )

    def read_topic(
        self, state: State, types_BR: Tensor, objects_BR: Tensor, mask_BR: Tensor
    ) -> State:
        """Read the summary of each row's topic, where the model has one."""
        if self.summary is None:
            return state
        known_BR1 = mask_BR[..., None]
        total_BW = self.vectors(types_BR, objects_BR).masked_fill(~known_BR1, 0.0).sum(1)
        mean_BW = total_BW / known_BR1.sum(1).clamp(min=1)
        one_B = torch.ones(len(mask_BR), dtype=torch.long, device=mask_BR.device)
        after: State
        _, after = self.backbone(self.summary(mean_BW)[:, None], one_B, state)
        return after

    def forward(self, window: Window, state: State) -> tuple[WindowScore, State]:
        """Sum over all segmentations of a window, and give the state after it."""
        states_BTD, state = self.read(window, state)
        lattice = self.lattice(states_BTD, window)
        nats_B = -log_marginal(lattice)
        # `</s>` is always a word of its own, so its share can be told apart.
        return WindowScore(nats_B, -last_token(lattice.words_BT, window), lattice=lattice), state

    def lattice(self, states_BTD: Tensor, window: Window) -> Lattice:
        """Score every segment that a window's tokens can be cut into."""
        states_XD = flat(states_BTD, window)
        has_relations_B = window.relation_mask_BR.any(1)
        has_relations_X = flat(has_relations_B[:, None].expand_as(window.mask_BT), window)
        log_word_X, log_relation_X = self.source(states_XD, has_relations_X)
        word_X = log_word_X + self.word_log_probs(states_XD, window)
        edges = window.edges
        source_E = unflat(log_relation_X, window)[edges.row_E, edges.start_E]
        return Lattice(
            unflat(word_X, window),
            window.lengths_B,
            edges.row_E,
            edges.start_E,
            edges.end_E,
            source_E
            + self._relation_log_probs(states_BTD, window)
            + self._form_log_probs(states_BTD, edges),
            checked=False,  # the collator made the indices
        )

    def _relation_log_probs(self, states_BTD: Tensor, window: Window) -> Tensor:
        """Give log P(e | h) of each edge, over all relations of its topic: (E,)."""
        edges = window.edges
        rows_B1 = torch.arange(len(states_BTD), device=states_BTD.device)[:, None]
        vectors_BRW = self.vectors(window.types_BR, window.objects_BR)
        log_probs_BSR: Tensor = self.relations.log_probs(
            states_BTD[rows_B1, edges.place_BS], vectors_BRW, window.relation_mask_BR
        )
        return log_probs_BSR[edges.row_E, edges.slot_E, edges.relation_E]

    def _form_log_probs(self, states_BTD: Tensor, edges: Edges) -> Tensor:
        """Give log P(a | e, h) of each edge, over the forms of its object: (E,)."""
        log_probs_F: Tensor = self.forms.log_probs(
            states_BTD[edges.row_Q, edges.start_Q], edges.forms.features_FW, edges.forms.query_F
        )
        return log_probs_F[edges.forms.chosen]
