"""Choose whether to copy a name, through which relation, and in which form.

Shapes: X states, B rows (topics), R relations of a row, S states of a row, D width of states, V
vectors of a table, N distinct names, I width of the features of a name, Q choices of a form (a
state and an object), F forms of all choices, W width of a relation's vector or of form features.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrlm.arrays import UNSEEN
from lrlm.checks import WIDEST, check_range, check_rate, check_shape
from lrlm.errors import InputError


class SourceHead(nn.Module):
    """P(π | h) = softmax(W_π h + b_π): whether the next segment is a word or is copied."""

    def __init__(self, state_size: int, *, first_rate: float | None = None) -> None:
        """With `first_rate`, training begins at this probability of a relation in every state."""
        super().__init__()
        self.state_size = state_size
        self.linear = nn.Linear(state_size, 2)
        if first_rate is not None:
            nn.init.zeros_(self.linear.weight)
            odds = math.log(first_rate / (1 - first_rate))
            with torch.no_grad():
                self.linear.bias.copy_(torch.tensor([-odds / 2, odds / 2]))

    def forward(
        self, states_XD: Tensor, has_relations_X: Tensor, added_X2: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Give log P(word) and log P(relation) of each state: (X,), (X,).

        Where a topic has no relations there is nothing to choose: exactly 0 and −inf. `added_X2`
        is added to the scores.
        """
        check_shape("states_XD", states_XD, (None, self.state_size))
        check_shape("has_relations_X", has_relations_X, (len(states_XD),))
        log_probs_X2 = self.log_probs(states_XD, added_X2)
        return (
            torch.where(has_relations_X, log_probs_X2[:, 0], 0.0),
            torch.where(has_relations_X, log_probs_X2[:, 1], -torch.inf),
        )

    def log_probs(self, states_XD: Tensor, added_X2: Tensor | None = None) -> Tensor:
        """Give log P(word) and log P(relation) of states of topics that have relations: (X, 2)."""
        scores_X2: Tensor = self.linear(states_XD)
        return (scores_X2 if added_X2 is None else scores_X2 + added_X2).log_softmax(1)


@dataclass(frozen=True, slots=True)
class RelationConfig:
    """How relations are represented and chosen; the defaults are the paper's for WikiText."""

    type_size: int = 100
    """Width of the vector of a relation type."""
    object_size: int = 100
    """Width of the vector of an object."""
    hidden_size: int = 1000
    """Width of the bottleneck between a state and what relations are compared with."""
    unseen_rate: float = 0.01
    """Share of types that training takes for unseen, so that new ones find a trained vector."""
    unseen_objects: float = 0.0
    """Share of objects that training takes for unseen, for the same reason (not in the paper)."""
    forgotten_facts: float = 0.0
    """Largest share of the facts that a text does not name that training takes for unknown, so that
    LRLM reads texts about topics of which little is known (not in the paper)."""
    tuned_types: bool = False
    """Whether training also changes the given vectors of relation types (not in the paper)."""
    first_rate: float | None = None
    """How probable a relation is before anything was learned; none for whatever chance gives (the
    paper's)."""
    names: bool = False
    """Whether the vectors of types and objects are made from their names, by a learned map, so that
    a graph that was never seen has them too (not in the paper)."""
    beside_names: bool = False
    """Whether what a learned map makes of their names is added to the vectors of types and objects
    (not in the paper)."""
    summary: bool = False
    """Whether LRLM reads the mean of the topic's relations before the text (not in the paper)."""
    named: bool = False
    """Whether LRLM knows which names stand in the text already when it chooses a source, a relation
    and a form (not in the paper)."""
    told: bool = False
    """Whether LRLM reads with every token which relations were not named yet, and which were just
    now (not in the paper)."""
    own_types: bool = False
    """Whether `told` has a vector of its own for each relation type, beside what the given vectors
    say of it (not in the paper)."""
    fit: bool = False
    """Whether LRLM sees how well the topic's relations fit when it chooses between words and names
    (not in the paper)."""
    deep_fit: bool = False
    """Whether that choice also sees which relations fit and whether they were named, through a
    small hidden layer (not in the paper)."""
    name_words: bool = False
    """Whether LRLM may also write single words of the topic's names, one by one (not in the
    paper)."""
    traits: bool = False
    """Whether the vectors of relations also say how they stand among those of the topic: how many
    there are of a type, which come first, what their names have in common (not in the paper)."""
    inside_weight: float = 1.0
    """Weight of words within candidate spans in the loss of training; all others have 1. With more,
    LRLM learns names better and plain words a little worse (not in the paper)."""
    shapes: bool = False
    """Whether the features of names also say what they look like: digits, capitals, length (not in
    the paper)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        for name in ("type_size", "object_size", "hidden_size"):
            check_range(f"model.relations.{name}", getattr(self, name), 1, WIDEST)
        check_rate("model.relations.unseen_rate", self.unseen_rate)
        check_rate("model.relations.unseen_objects", self.unseen_objects)
        check_rate("model.relations.forgotten_facts", self.forgotten_facts)
        check_range("model.relations.inside_weight", self.inside_weight, 0.1, 10)
        if self.own_types and (self.names or not self.told):
            raise InputError(
                "model.relations.own_types is for a model that has model.relations.told, and not"
                " model.relations.names, where types have no vectors of their own"
            )
        if self.traits and self.forgotten_facts:
            raise InputError(
                "model.relations.traits tells how many facts a topic has, also those that"
                " model.relations.forgotten_facts takes for unknown; set model.relations.traits to"
                " false, or leave out forgotten_facts"
            )
        if self.deep_fit and not self.fit:
            raise InputError("model.relations.deep_fit is for a model that has model.relations.fit")
        if self.names and self.beside_names:
            raise InputError(
                "model.relations.names takes names in place of other vectors, and"
                " model.relations.beside_names beside them; set one of the two"
            )
        if self.first_rate is not None and not 0 < self.first_rate < 1:
            raise InputError(
                f"model.relations.first_rate must be between 0 and 1, not {self.first_rate}"
            )


class VectorTable(nn.Module):
    """Vectors by id: given ones first, which stay as they are, then learned ones.

    An id of −1 has no vector of its own; all such share one that is learned. `tuned` vectors that
    were given are learned too, from what they are.
    """

    def __init__(
        self,
        width: int,
        *,
        learned: int = 0,
        given_VW: Tensor | None = None,
        tuned: bool = False,
    ) -> None:
        super().__init__()
        given_VW = torch.empty(0, width) if given_VW is None else given_VW.detach()
        check_shape("given_VW", given_VW, (None, width))
        self.width = width
        fresh_VW = torch.empty(1 + learned, width).uniform_(-0.1, 0.1)
        if tuned:
            fresh_VW = torch.cat([fresh_VW[:1], given_VW, fresh_VW[1:]])
            given_VW = given_VW[:0]
        self.register_buffer("given_VW", given_VW.clone())
        self.given_VW: Tensor
        # Row 0 is the shared one.
        self.learned_VW = nn.Parameter(fresh_VW)

    def __len__(self) -> int:
        return len(self.given_VW) + len(self.learned_VW) - 1

    def forward(self, ids: Tensor) -> Tensor:
        """Look up vectors: ids of any shape → that shape with the width behind it."""
        given = len(self.given_VW)
        vectors = nn.functional.embedding((ids + 1 - given).clamp(min=0), self.learned_VW)
        if not given:
            return vectors
        fixed = nn.functional.embedding(ids.clamp(0, given - 1), self.given_VW)
        is_fixed = ((ids >= 0) & (ids < given))[..., None]
        return torch.where(is_fixed, fixed, vectors)


class RelationVectors(nn.Module):
    """e = [vector of the type; vector of the object]."""

    def __init__(
        self,
        types: VectorTable,
        objects: VectorTable,
        *,
        unseen_rate: float,
        unseen_objects: float = 0.0,
    ) -> None:
        super().__init__()
        self.types = types
        self.objects = objects
        self.unseen_rate = unseen_rate
        self.unseen_objects = unseen_objects
        self.output_size = types.width + objects.width

    def forward(
        self,
        types_BR: Tensor,
        objects_BR: Tensor,
        *_names: Tensor,
    ) -> Tensor:
        """Give the vectors of relations by the ids of their types and objects: (B, R, W).

        What they are called, which other kinds of vectors are made from, is not read.
        """
        check_shape("objects_BR", objects_BR, tuple(types_BR.shape))
        if self.training:
            types_BR = forgotten(types_BR, self.unseen_rate)
            objects_BR = forgotten(objects_BR, self.unseen_objects)
        return torch.cat([self.types(types_BR), self.objects(objects_BR)], dim=-1)


def forgotten(ids_BR: Tensor, rate: float) -> Tensor:
    """Take a share of the ids for unseen."""
    if rate == 0:
        return ids_BR
    dropped_BR = torch.rand(ids_BR.shape, device=ids_BR.device) < rate
    return ids_BR.masked_fill(dropped_BR, UNSEEN)


class NamedVectors(nn.Module):
    """e = [vector of the type; vector of the object], each made from the features of its name.

    So a type or an object that was never seen has a vector that says what it is.
    """

    def __init__(self, feature_size: int, type_size: int, object_size: int) -> None:
        super().__init__()
        self.types = nn.Linear(feature_size, type_size)
        self.objects = nn.Linear(feature_size, object_size)
        self.output_size = type_size + object_size

    def forward(
        self,
        types_BR: Tensor,
        objects_BR: Tensor,
        type_name_BR: Tensor | None = None,
        object_name_BR: Tensor | None = None,
        features_NI: Tensor | None = None,
    ) -> Tensor:
        """Give the vectors of relations by what their types and objects are called: (B, R, W).

        `type_name_BR` and `object_name_BR` say which of N distinct names each has.
        """
        assert type_name_BR is not None, "the collator serves another model"
        assert object_name_BR is not None, "the collator serves another model"
        assert features_NI is not None, "the collator serves another model"
        check_shape("type_name_BR", type_name_BR, tuple(types_BR.shape))
        check_shape("object_name_BR", object_name_BR, tuple(objects_BR.shape))
        check_shape("features_NI", features_NI, (None, self.types.in_features))
        # Each name is mapped once, however many relations have it.
        types_BRW = nn.functional.embedding(type_name_BR, self.types(features_NI))
        objects_BRW = nn.functional.embedding(object_name_BR, self.objects(features_NI))
        return torch.cat([types_BRW, objects_BRW], dim=-1)


class VectorsBesideNames(nn.Module):
    """e = [vector of the type; vector of the object], plus what a learned map makes of their names.

    So what is known of a type or an object by its id is kept, and one that was never seen still has
    a vector that says what it is.
    """

    def __init__(self, by_id: RelationVectors, by_name: NamedVectors) -> None:
        super().__init__()
        self.by_id = by_id
        self.by_name = by_name
        self.output_size = by_id.output_size

    def forward(
        self,
        types_BR: Tensor,
        objects_BR: Tensor,
        *names: Tensor,
    ) -> Tensor:
        """Give the vectors of relations by ids and names: (B, R, W)."""
        by_id_BRW: Tensor = self.by_id(types_BR, objects_BR)
        by_name_BRW: Tensor = self.by_name(types_BR, objects_BR, *names)
        return by_id_BRW + by_name_BRW


class RelationHead(nn.Module):
    """P(e | h) = softmax over the topic's relations of e · Linear_o(h)."""

    def __init__(self, state_size: int, hidden_size: int, vector_size: int) -> None:
        super().__init__()
        self.state_size = state_size
        self.vector_size = vector_size
        self.linear = nn.Sequential(
            nn.Linear(state_size, hidden_size), nn.Linear(hidden_size, vector_size)
        )

    def log_probs(
        self,
        states_BSD: Tensor,
        vectors_BRW: Tensor,
        mask_BR: Tensor,
        added_BSR: Tensor | None = None,
    ) -> Tensor:
        """Give log-probabilities over the relations of each row's topic: (B, S, R).

        Relations outside the mask have −inf, and so have all where a topic has none. `added_BSR`
        is added to the scores.
        """
        check_shape("mask_BR", mask_BR, (None, None))
        rows, relations = mask_BR.shape
        check_shape("states_BSD", states_BSD, (rows, None, self.state_size))
        check_shape("vectors_BRW", vectors_BRW, (rows, relations, self.vector_size))
        scores_BSR = self.linear(states_BSD) @ vectors_BRW.mT
        if added_BSR is not None:
            scores_BSR = scores_BSR + added_BSR
        missing_BSR = ~mask_BR[:, None].expand_as(scores_BSR)
        # Where a row has no relation, all are scored first, lest the softmax divide 0 by 0.
        hidden_BSR = missing_BSR & mask_BR.any(1)[:, None, None]
        log_probs_BSR = scores_BSR.masked_fill(hidden_BSR, -torch.inf).log_softmax(2)
        masked_BSR: Tensor = log_probs_BSR.masked_fill(missing_BSR, -torch.inf)
        return masked_BSR


class FormHead(nn.Module):
    """P(a | e, h) = softmax over the forms of e's object of f_a · (W_a h + b_a)."""

    def __init__(self, state_size: int, feature_size: int) -> None:
        super().__init__()
        self.state_size = state_size
        self.feature_size = feature_size
        self.linear = nn.Linear(state_size, feature_size)

    def log_probs(
        self,
        states_QD: Tensor,
        features_FW: Tensor,
        query_F: Tensor,
        *,
        shift_QW: Tensor | None = None,
        added_F: Tensor | None = None,
    ) -> Tensor:
        """Give the log-probability of each form among the forms of its own choice: (F,).

        `shift_QW` is added to what forms are compared with, `added_F` to their scores.
        """
        check_shape("states_QD", states_QD, (None, self.state_size))
        check_shape("features_FW", features_FW, (None, self.feature_size))
        check_shape("query_F", query_F, (len(features_FW),))
        wanted_QW = self.linear(states_QD)
        if shift_QW is not None:
            wanted_QW = wanted_QW + shift_QW
        scores_F = (wanted_QW[query_F] * features_FW).sum(1)
        if added_F is not None:
            scores_F = scores_F + added_F
        return _log_softmax_within(scores_F, query_F, len(states_QD))

    def masked_log_probs(
        self,
        states_QD: Tensor,
        features_FW: Tensor,
        mask_QF: Tensor,
        *,
        shift_QW: Tensor | None = None,
        added_QF: Tensor | None = None,
    ) -> Tensor:
        """Do the same where all choices are among the same forms, each within its mask: (Q, F)."""
        check_shape("states_QD", states_QD, (None, self.state_size))
        check_shape("features_FW", features_FW, (None, self.feature_size))
        check_shape("mask_QF", mask_QF, (len(states_QD), len(features_FW)))
        wanted_QW = self.linear(states_QD)
        if shift_QW is not None:
            wanted_QW = wanted_QW + shift_QW
        scores_QF = wanted_QW @ features_FW.mT
        if added_QF is not None:
            scores_QF = scores_QF + added_QF
        log_probs_QF: Tensor = scores_QF.masked_fill(~mask_QF, -torch.inf).log_softmax(1)
        return log_probs_QF


def _log_softmax_within(scores_F: Tensor, query_F: Tensor, choices: int) -> Tensor:
    """Normalise scores within the forms of each choice; a lone form has exactly 0."""
    with torch.no_grad():
        largest_Q = scores_F.new_full((choices,), -torch.inf).scatter_reduce(
            0, query_F, scores_F, "amax"
        )
    shifted_F = scores_F - largest_Q[query_F]
    total_Q = scores_F.new_zeros(choices).index_add(0, query_F, shifted_F.exp())
    return shifted_F - total_Q.log()[query_F]
