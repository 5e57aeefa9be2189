"""Writing text the slow and obvious way: one text at a time, every choice with all its chances.

`plain_text` is the loop that one would write first: at every step the probabilities of all words
and of all forms of all relations, then one draw. `next_tokens` lists what may come next with its
probability, choice by choice, for any way of changing the chances of a choice.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from lrlm.heads import WordHead
from lrlm.models import LatentRelationLM, NeuralKnowledgeLM, VanillaLM
from lrlm.models.nklm import position_log_probs
from lrlm.models.writing import EncodedTopic
from tests.oracles.softmax import all_log_probs

Outcome = tuple[int, int, int]
"""Word, form (−1 for none) and position."""

Adjust = Callable[[Tensor], Tensor]
"""Changes the log-probabilities of one choice into the chances with which it is made."""


def tempered(temperature: float) -> Adjust:
    return lambda log_probs: (log_probs / temperature).softmax(-1)


def best(count: int) -> Adjust:
    def adjust(log_probs: Tensor) -> Tensor:
        chances = log_probs.exp()
        for place in range(len(chances)):
            if (log_probs > log_probs[place]).sum() >= count:
                chances[place] = 0
        return chances / chances.sum()

    return adjust


def nucleus(share: float) -> Adjust:
    def adjust(log_probs: Tensor) -> Tensor:
        chances = log_probs.exp()
        kept = torch.zeros_like(chances)
        for place in log_probs.argsort(descending=True).tolist():
            if kept.sum() < share:
                kept[place] = chances[place]
        return kept / kept.sum()

    return adjust


def next_tokens(
    model: VanillaLM | NeuralKnowledgeLM, topic: EncodedTopic, state_1D: Tensor, adjust: Adjust
) -> Iterator[tuple[Outcome, float]]:
    """Give every token that may come next, with its chance; the same one may come twice."""
    if isinstance(model, NeuralKnowledgeLM):
        yield from _next_of_nklm(model, topic, state_1D, adjust)
        return
    p_word = 1.0
    if isinstance(model, LatentRelationLM) and topic.relations:
        log_word, log_relation = model.source(state_1D, torch.tensor([True]))
        p_word, p_relation = adjust(torch.cat([log_word, log_relation])).tolist()
        log_relations = _relation_log_probs(model, topic, state_1D)
        for relation, p_e in enumerate(adjust(log_relations).tolist()):
            forms = (topic.relation_F == relation).nonzero().squeeze(1)
            p_forms = adjust(_form_log_probs(model, topic, state_1D, forms)).tolist()
            for form, p_a in zip(forms.tolist(), p_forms, strict=True):
                yield (int(topic.tokens_CFL[0, form, 0]), form, 0), p_relation * p_e * p_a
    for word, p in enumerate(adjust(all_log_probs(model.words, state_1D)[0]).tolist()):
        yield (word, -1, 0), p_word * p


def _next_of_nklm(
    model: NeuralKnowledgeLM, topic: EncodedTopic, state_1D: Tensor, adjust: Adjust
) -> Iterator[tuple[Outcome, float]]:
    vectors = model.vectors(topic.types_R[None], topic.objects_R[None])
    facts_1GW = torch.cat([model.not_a_fact.expand(1, 1, -1), vectors], dim=1)
    everything = torch.ones(1, facts_1GW.shape[1], dtype=torch.bool)
    log_facts = model.facts.log_probs(state_1D[:, None], facts_1GW, everything)[0, 0]
    for fact, p_fact in enumerate(adjust(log_facts).tolist()):
        chosen_1D = torch.cat([state_1D, facts_1GW[:, fact]], dim=1)
        score = model.copy(chosen_1D)[0]
        log_copy = torch.nn.functional.logsigmoid(torch.cat([-score, score]))
        p_not, p_copy = adjust(log_copy).tolist() if fact else (1.0, 0.0)
        for word, p in enumerate(adjust(all_log_probs(model.words, chosen_1D)[0]).tolist()):
            yield (word, -1, 0), p_fact * p_not * p
        if not fact:
            continue
        forms = (topic.relation_F == fact - 1).nonzero().squeeze(1)
        p_forms = adjust(_form_log_probs(model, topic, chosen_1D, forms)).tolist()
        for form, p_a in zip(forms.tolist(), p_forms, strict=True):
            length = int(topic.length_CF[0, form])
            log_positions = position_log_probs(model.position(chosen_1D), torch.tensor([length]))
            p_positions = adjust(log_positions[0, :length]).tolist()
            for position, p in enumerate(p_positions):
                word = int(topic.tokens_CFL[0, form, position])
                yield (word, form, position), p_fact * p_copy * p_a * p


def _relation_log_probs(model: LatentRelationLM, topic: EncodedTopic, state_1D: Tensor) -> Tensor:
    vectors_1RW = model.vectors(topic.types_R[None], topic.objects_R[None])
    everything = torch.ones(1, topic.relations, dtype=torch.bool)
    log_probs: Tensor = model.relations.log_probs(state_1D[:, None], vectors_1RW, everything)[0, 0]
    return log_probs


def _form_log_probs(
    model: LatentRelationLM | NeuralKnowledgeLM,
    topic: EncodedTopic,
    state_1D: Tensor,
    forms: Tensor,
) -> Tensor:
    log_probs: Tensor = model.forms.log_probs(
        state_1D, topic.features_FW[forms], torch.zeros_like(forms)
    )
    return log_probs


@torch.no_grad()
def plain_text(
    model: VanillaLM,
    topic: EncodedTopic,
    *,
    length: int,
    generator: torch.Generator,
    end: bool = True,
) -> list[tuple[int, int]]:
    """Write one text of Vanilla LM or LRLM, the word and form of each token.

    Without `end`, it does not end before its full length.
    """
    state = model.backbone.initial_state(1)
    assert isinstance(model.words, WordHead)
    words = model.words.words
    written: list[tuple[int, int]] = []
    waiting = [(topic.end_id, -1)]
    one = torch.tensor([1])
    while True:
        for word, _ in waiting:
            outputs_1TD, state = model.backbone(model.embedding(torch.tensor([[word]])), one, state)
        written += waiting
        if len(written) > length:
            return written[1 : length + 1]
        log_probs = _all_log_probs(model, topic, outputs_1TD[:, -1])
        if not end:
            log_probs[topic.end_id] = -torch.inf
        chosen = int(torch.multinomial(log_probs.softmax(0), 1, generator=generator))
        if chosen == topic.end_id:
            return written[1:]
        form = chosen - words
        waiting = (
            [(chosen, -1)]
            if form < 0
            else [
                (word, form)
                for word in topic.tokens_CFL[0, form, : topic.length_CF[0, form]].tolist()
            ]
        )


def _all_log_probs(model: VanillaLM, topic: EncodedTopic, state_1D: Tensor) -> Tensor:
    """Give the log-probability of every word, and behind them of every form."""
    log_words = all_log_probs(model.words, state_1D)[0]
    if not isinstance(model, LatentRelationLM) or not topic.relations:
        return log_words
    log_word, log_relation = model.source(state_1D, torch.tensor([True]))
    log_forms = model.forms.log_probs(
        state_1D.expand(topic.relations, -1), topic.features_FW, topic.relation_F
    )
    log_relations = _relation_log_probs(model, topic, state_1D)
    return torch.cat(
        [log_word + log_words, log_relation + log_relations[topic.relation_F] + log_forms]
    )
