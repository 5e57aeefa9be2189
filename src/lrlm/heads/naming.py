"""Let the choices of a copy depend on which names were written already, and on what is left to say.

Which names stand in the text so far is known from its tokens alone, so a model that reads it still
has one state before a place, however the tokens were made. None of this is in the paper; training
begins where it changes nothing.

Shapes: R relations, S states of a row, B rows, D width of states, W width of a relation's vector or
of form features, K features of a name or kinds of relations, C width of what is told, F forms, Q
choices of a form, T places of a row, M names that stand in the text before a place, for all places.
"""

import torch
from torch import Tensor, nn

from lrlm.heads.copying import VectorTable, forgotten

MENTION_FEATURES = 5
"""K, what is told of a name."""
_DECAYS = (5.0, 25.0, 125.0)
"""Tokens in which a mention fades."""
_SOURCE_FEATURES = 6


def mention_features(times: Tensor, since: Tensor, dtype: torch.dtype) -> Tensor:
    """Describe how often names were written and how long ago: any shape, with K behind it."""
    named = (times > 0).to(dtype)
    since = since.to(dtype)
    faded = [named * torch.exp(-since / decay) for decay in _DECAYS]
    return torch.stack([named, (times > 1).to(dtype), *faded], dim=-1)


class Mentions:
    """The names that stand in the text before some places, with their features.

    Most names do not stand there yet and have no features but zeros, so only the others are kept.
    Places may be of any shape; the names are behind them.
    """

    def __init__(self, times: Tensor, since: Tensor, dtype: torch.dtype) -> None:
        self._names = max(times.shape[-1], 1)
        self._number_M = times.reshape(-1).nonzero().squeeze(1)
        self._place_M = self._number_M // self._names
        self._features_MK = mention_features(
            times.reshape(-1)[self._number_M],
            since.reshape(-1)[self._number_M],
            dtype,
        )

    def add_to(
        self, scores: Tensor, weights: Tensor, weights_of_names: Tensor | None = None
    ) -> Tensor:
        """Add features to the scores of names, at weights that places give (any shape and K).

        `weights_of_names` (B, R, K) are added to `weights`; the places are those of B rows then.
        """
        weights_MK = weights.reshape(-1, MENTION_FEATURES).index_select(0, self._place_M)
        if weights_of_names is not None:
            row_M = self._place_M // max(scores.shape[1], 1)
            name_M = self._number_M % self._names
            weights_MK = weights_MK + weights_of_names[row_M, name_M]
        added_M = (self._features_MK * weights_MK).sum(1).to(scores.dtype)
        return scores.reshape(-1).index_add(0, self._number_M, added_M).view(scores.shape)

    def total(self, shares: Tensor) -> Tensor:
        """Add up the features of the names at each place by their shares: any shape and K."""
        shares_M1 = shares.reshape(-1)[self._number_M, None]
        total = self._features_MK.new_zeros(shares.shape[:-1].numel(), MENTION_FEATURES)
        parts_MK = (shares_M1 * self._features_MK).to(total.dtype)
        total = total.index_add(0, self._place_M, parts_MK)
        return total.view(*shares.shape[:-1], MENTION_FEATURES)


class NamingScores(nn.Module):
    """What earlier mentions add to the scores of sources, relations and forms."""

    def __init__(self, state_size: int, vector_size: int, form_size: int) -> None:
        super().__init__()
        features = MENTION_FEATURES
        self.source = nn.Linear(_SOURCE_FEATURES, 2, bias=False)
        self.by_state = nn.Linear(state_size, features)
        self.by_relation = nn.Linear(vector_size, features, bias=False)
        self.after = nn.Linear(vector_size, vector_size, bias=False)
        self.form_by_state = nn.Linear(state_size, features)
        self.of_form = nn.Linear(features, form_size, bias=False)
        for parameter in self.parameters():
            nn.init.zeros_(parameter)

    def source_scores(self, times: Tensor, since: Tensor, mask: Tensor) -> Tensor:
        """Score words and relations by how much has been said: any shape, R → 2."""
        dtype = self.source.weight.dtype
        if not mask.shape[-1]:
            return self.source.weight.new_zeros(*times.shape[:-1], 2)
        is_named = (times > 0) & mask
        known, named = mask.sum(-1).to(dtype), is_named.sum(-1).to(dtype)
        last = since.masked_fill(~is_named, torch.iinfo(since.dtype).max).amin(-1).to(dtype)
        features = [
            named / known.clamp(min=1),
            torch.log1p(known - named),
            (known > named).to(dtype),
            *(torch.exp(-last / decay) for decay in _DECAYS),
        ]
        shape = named.shape
        scores: Tensor = self.source(torch.stack([each.expand(shape) for each in features], dim=-1))
        return scores

    def relation_scores(
        self, states_BSD: Tensor, vectors_BRW: Tensor, times_BSR: Tensor, since_BSR: Tensor
    ) -> Tensor:
        """Score relations by their earlier mentions, and by what was named last: (B, S, R)."""
        after_BSW = self.after(_last_named(vectors_BRW, times_BSR, since_BSR))
        mentions = Mentions(times_BSR, since_BSR, states_BSD.dtype)
        return mentions.add_to(
            after_BSW @ vectors_BRW.mT, self.by_state(states_BSD), self.by_relation(vectors_BRW)
        )

    def form_shift(self, times_Q: Tensor, since_Q: Tensor) -> Tensor:
        """Say what is wanted of the form of an object that was named so often: (Q, W)."""
        shift_QW: Tensor = self.of_form(
            mention_features(times_Q, since_Q, self.of_form.weight.dtype)
        )
        return shift_QW

    def form_scores(
        self, states_QD: Tensor, times: Tensor, since: Tensor, query_F: Tensor | None = None
    ) -> Tensor:
        """Score forms by their own earlier mentions.

        With `query_F`, the choice of each form: (F,); else every choice is among all forms: (Q, F).
        """
        features = mention_features(times, since, states_QD.dtype)
        weights_QK = self.form_by_state(states_QD)
        weights = weights_QK[:, None] if query_F is None else weights_QK[query_F]
        scores: Tensor = (features * weights).sum(-1)
        return scores


def _last_named(vectors_BRW: Tensor, times_BSR: Tensor, since_BSR: Tensor) -> Tensor:
    """Give the mean vector of the relations that were named last, or zeros: (B, S, W)."""
    if not times_BSR.shape[2]:
        return vectors_BRW.new_zeros(*times_BSR.shape[:2], vectors_BRW.shape[2])
    most = torch.iinfo(since_BSR.dtype).max
    waited_BSR = since_BSR.masked_fill(times_BSR == 0, most)
    last_BSR = (waited_BSR == waited_BSR.amin(2, keepdim=True)) & (times_BSR > 0)
    share_BSR = last_BSR.to(vectors_BRW.dtype)
    return (share_BSR / share_BSR.sum(2, keepdim=True).clamp(min=1)) @ vectors_BRW


class ToldTopic(nn.Module):
    """What of its topic a model knows to be told at a place: not yet, or just now.

    Each relation is more or less of several kinds, and what is told of a kind is whether there is
    one of it (a noisy or): whether there is a capital matters, not how many other facts there are.
    Kinds are made of the relations' vectors, so new types have them too; but types that hold for
    the same topics have vectors that are alike, and so have their kinds. Vectors of their own tell
    the types apart that training has seen.

    The backbone reads it with every token, and it is added to the states that the backbone gives,
    where words are chosen: without that, training takes long to find out what it is good for.
    """

    def __init__(
        self,
        vector_size: int,
        input_size: int,
        state_size: int,
        *,
        types: int | None = None,
        unseen_rate: float = 0.0,
    ) -> None:
        """With `types`, each has a vector of its own; training takes a share of them for unseen."""
        super().__init__()
        kinds = max(input_size // 2, 1)
        self.kinds = nn.Linear(vector_size, kinds)
        nn.init.normal_(self.kinds.weight, std=0.5)  # so that relations differ from the beginning,
        nn.init.constant_(self.kinds.bias, -2.0)  # and many of them together are not of all kinds
        told = 2 * kinds + 2
        self.own = None if types is None else TypesOfTheirOwn(kinds, types, unseen_rate)
        if self.own is not None:
            told += self.own.output_size
        self.to_input = nn.Linear(told, input_size, bias=False)
        self.to_state = nn.Linear(told, state_size, bias=False)
        self.by_state = None if types is None else ToldByState(told, state_size)

    def forward(
        self,
        vectors_BRW: Tensor,
        types_BR: Tensor,
        times_BTR: Tensor,
        since_BTR: Tensor,
        mask_BR: Tensor,
    ) -> Tensor:
        """Describe the relations that were not named yet, and those whose name ends here.

        It is (B, T, C), and `to_input` makes of it what is added to the backbone's inputs.
        """
        kinds_BRK = nn.functional.softplus(self.kinds(vectors_BRW))
        dtype = kinds_BRK.dtype
        mask_B1R = mask_BR[:, None]
        named_BTR = mask_B1R & (times_BTR > 0)
        unsaid_BTR = (mask_B1R & ~named_BTR).to(dtype)
        now_BTR = (named_BTR & (since_BTR == 0)).to(dtype)
        count_BT1 = unsaid_BTR.sum(2, keepdim=True)
        told = [
            -torch.expm1(-(unsaid_BTR @ kinds_BRK)),
            -torch.expm1(-(now_BTR @ kinds_BRK)),
            (count_BT1 > 0).to(dtype),
            torch.log1p(count_BT1),
        ]
        if self.own is not None:
            told.append(self.own(types_BR, named_BTR.to(dtype), now_BTR, mask_BR))
        return torch.cat(told, dim=2)

    def add_to(self, states: Tensor, told: Tensor) -> Tensor:
        """Add what is told to the states that the backbone gives, both of any shape before D, C."""
        added: Tensor = self.to_state(told)
        if self.by_state is not None:
            added = added + self.by_state(states, told)
        return states + added


class TypesOfTheirOwn(nn.Module):
    """Learned vectors of relation types, added up over the types of a topic.

    All types that training has not seen share one.
    """

    def __init__(self, width: int, types: int, unseen_rate: float) -> None:
        super().__init__()
        self.unseen_rate = unseen_rate
        self.vectors = VectorTable(width, learned=types)
        nn.init.normal_(self.vectors.learned_VW, std=0.5)  # large enough to differ in a sum
        self.output_size = 3 * width

    def forward(
        self, types_BR: Tensor, named_BTR: Tensor, now_BTR: Tensor, mask_BR: Tensor
    ) -> Tensor:
        """Add up those of which nothing was named, something, and something just now: (B, T, 3 W).

        A type counts once, however many relations it has.
        """
        if self.training:
            types_BR = forgotten(types_BR, self.unseen_rate)
        is_same_BRR = (types_BR[:, :, None] == types_BR[:, None]) & mask_BR[:, :, None]
        same_BRR = is_same_BRR.to(named_BTR.dtype)
        share_BR = mask_BR / same_BRR.sum(1).clamp(min=1)
        vectors_BRW = self.vectors(types_BR) * share_BR[..., None]
        begun_BTR = ((named_BTR @ same_BRR) > 0).to(named_BTR.dtype)
        just_now_BTR = ((now_BTR @ same_BRR) > 0).to(named_BTR.dtype)
        sums = [some_BTR @ vectors_BRW for some_BTR in (1 - begun_BTR, begun_BTR, just_now_BTR)]
        return torch.cat(sums, dim=2)


class ToldByState(nn.Module):
    """What is told means something else in each state.

    After "published", whether the publisher is known decides between "by" and "in"; after "was
    born" it decides nothing. Training begins where it changes nothing.
    """

    def __init__(self, told_size: int, state_size: int) -> None:
        super().__init__()
        self.from_told = nn.Linear(told_size, state_size)
        self.from_state = nn.Linear(state_size, state_size, bias=False)
        self.added = nn.Linear(state_size, state_size, bias=False)
        nn.init.zeros_(self.added.weight)

    def forward(self, states: Tensor, told: Tensor) -> Tensor:
        """Give what is added to states, both of any shape before D, C."""
        added: Tensor = self.added(torch.relu(self.from_told(told) + self.from_state(states)))
        return added
