"""NKLM: the neural knowledge language model; one word at a time, each copied from a fact or not.

What is reported for it is the joint probability of a text and its one hard annotation.

Shapes: B rows, T tokens, X tokens without padding, D width of states, R relations of a row,
G facts of a row with "not a fact" before them (R + 1), W width of a fact, C copied tokens,
K copy positions, F forms.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lrlm.backbones import Backbone, State
from lrlm.batching import NOT_A_FACT, Annotation, Window
from lrlm.heads import FormHead, RelationVectors, WordEmbedding, WordHead
from lrlm.models.language_model import LanguageModel, WindowScore, flat, token_by_token


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
    """Chooses a fact for every word, whether to copy from it, and then a position or a word."""

    def __init__(
        self,
        embedding: WordEmbedding,
        backbone: Backbone,
        words: WordHead,
        *,
        vectors: RelationVectors,
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

    def forward(self, window: Window, state: State) -> tuple[WindowScore, State]:
        """Score a window under its annotation, and give the state after it."""
        facts_BGW = self.fact_vectors(window)
        states_BTD, state = self.backbone(self._inputs(window, facts_BGW), window.lengths_B, state)
        annotation = window.annotation
        log_facts_BTG = self.facts.log_probs(states_BTD, facts_BGW, fact_mask(window))
        chosen_BTW = _take(facts_BGW, annotation.relation_BT)
        chosen_BTD = torch.cat([states_BTD, chosen_BTW], dim=2)
        log_fact_BT = log_facts_BTG.gather(2, (annotation.relation_BT + 1)[..., None]).squeeze(2)
        how_BT = self._word_log_probs(chosen_BTD, window).index_put(
            (annotation.row_C, annotation.place_C), self._copy_log_probs(chosen_BTD, annotation)
        )
        score = token_by_token(
            flat(log_fact_BT + how_BT, window),
            window,
            copied_BT=annotation.relation_BT != NOT_A_FACT,
        )
        return score, state

    def fact_vectors(self, window: Window) -> Tensor:
        """Give the vectors of each topic's facts, "not a fact" first: (B, G, W)."""
        vectors_BRW = self.vectors(window.types_BR, window.objects_BR)
        not_a_fact_B1W = self.not_a_fact.expand(len(vectors_BRW), 1, -1)
        return torch.cat([not_a_fact_B1W, vectors_BRW], dim=1)

    def _inputs(self, window: Window, facts_BGW: Tensor) -> Tensor:
        """Tell the backbone what the token before was: a word, or a position in a fact's form."""
        annotation = window.annotation
        copied_BT1 = (annotation.previous_relation_BT != NOT_A_FACT)[..., None]
        words_BTI = self.embedding(window.inputs_BT).masked_fill(copied_BT1, 0.0)
        facts_BTW = _take(facts_BGW, annotation.previous_relation_BT)
        position_BT = annotation.previous_position_BT.clamp(min=0)
        positions_BTP = self.position_embedding(position_BT).masked_fill(~copied_BT1, 0.0)
        return torch.cat([words_BTI, facts_BTW, positions_BTP], dim=2)

    def _word_log_probs(self, chosen_BTD: Tensor, window: Window) -> Tensor:
        """Give log P(not copied, word | h, fact) where no fact was copied, 0 elsewhere: (B, T).

        "Not a fact" has nothing to copy from, so not to copy it is certain.
        """
        is_word_BT = window.mask_BT & (window.annotation.relation_BT == NOT_A_FACT)
        log_probs_X = self.words.log_probs(chosen_BTD[is_word_BT], window.targets_BT[is_word_BT])
        log_probs_BT = torch.zeros_like(chosen_BTD[..., 0])
        return log_probs_BT.masked_scatter(is_word_BT, log_probs_X + window.spelling_BT[is_word_BT])

    def _copy_log_probs(self, chosen_BTD: Tensor, annotation: Annotation) -> Tensor:
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
    return nn.functional.pad(window.relation_mask_BR, (1, 0), value=True)


def position_log_probs(scores_CK: Tensor, length_C: Tensor) -> Tensor:
    """Normalise over the positions that exist in the chosen form."""
    positions_K = torch.arange(scores_CK.shape[1], device=scores_CK.device)
    missing_CK = positions_K >= length_C[:, None]
    return scores_CK.masked_fill(missing_CK, -torch.inf).log_softmax(1)


def _take(facts_BGW: Tensor, relation_BT: Tensor) -> Tensor:
    """Give each token the vector of its fact; `NOT_A_FACT` is −1, so fact g is relation g − 1."""
    index_BTW = (relation_BT + 1)[..., None].expand(-1, -1, facts_BGW.shape[2])
    return facts_BGW.gather(1, index_BTW)
