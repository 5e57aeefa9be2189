"""Let the choice between words and names see how well the names would fit.

In the paper the source is chosen from the state alone, before any relation is looked at. But
whether a name comes next depends on what there is to name: after "born in" a place is copied if the
topic has one. Everything read here is known from the text so far and from the graph. Not in the
paper.

Shapes: X states, B rows, S places of a row, R relations, D width of states, W width of a relation's
vector, K features of a name, V all that is seen of relations, H width of the hidden layer.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from lrlm.heads.naming import MENTION_FEATURES, Mentions

_NUMBERS = 2
"""How well all relations fit together, and how many there are."""


class RelationFit(nn.Module):
    """How much better than usual the topic's relations fit a place, all together."""

    def __init__(
        self, state_size: int, vector_size: int, *, named: bool, hidden_size: int | None = None
    ) -> None:
        """With `named`, it also knows which names stand in the text already.

        With a hidden layer, it also looks at which relations those are that fit.
        """
        super().__init__()
        self.wanted = nn.Linear(state_size, vector_size)
        self.mentions = nn.Linear(state_size, MENTION_FEATURES) if named else None
        for parameter in self.parameters():
            nn.init.zeros_(parameter)
        self.look = None
        if hidden_size is not None:
            seen_size = vector_size + _NUMBERS + (MENTION_FEATURES if named else 0)
            last = nn.Linear(hidden_size, 1, bias=False)
            nn.init.zeros_(last.weight)  # training begins where it changes nothing
            self.look = nn.Sequential(
                nn.Linear(state_size + seen_size, hidden_size), nn.ReLU(), last
            )

    def forward(
        self,
        states_BSD: Tensor,
        vectors_BRW: Tensor,
        known_BR: Tensor,
        times_BSR: Tensor | None = None,
        since_BSR: Tensor | None = None,
    ) -> Tensor:
        """Give what is added to the score of copying at each place: (B, S); 0 without relations.

        It is the logarithm of the mean of the relations' odds, so that one relation which fits very
        well is enough. To this the hidden layer adds what it makes of the state, of the mean of the
        relations and of their mentions, each by its share of the odds, and of how many there are.
        """
        if not known_BR.shape[1]:
            return states_BSD.new_zeros(states_BSD.shape[:2])
        # Every token learns from it, so that without the scale one update would change too much.
        scores_BSR = vectors_BRW.shape[2] ** -0.5 * (self.wanted(states_BSD) @ vectors_BRW.mT)
        mentions = None
        if self.mentions is not None:
            assert times_BSR is not None, "the collator serves another model"
            assert since_BSR is not None, "the collator serves another model"
            mentions = Mentions(times_BSR, since_BSR, states_BSD.dtype)
            scores_BSR = mentions.add_to(scores_BSR, self.mentions(states_BSD))
        has_any_B1 = known_BR.any(1)[:, None]
        # Where a row has no relation, all are scored, lest the log-sum be that of nothing.
        hidden_BSR = (~known_BR & has_any_B1)[:, None].expand_as(scores_BSR)
        scores_BSR = scores_BSR.masked_fill(hidden_BSR, -torch.inf)
        log_count_B1 = known_BR.sum(1, keepdim=True).clamp(min=1).to(scores_BSR.dtype).log()
        fit_BS = scores_BSR.logsumexp(2) - log_count_B1
        if self.look is not None:
            share_BSR = scores_BSR.softmax(2)
            numbers_BS2 = torch.stack([fit_BS, log_count_B1.expand_as(fit_BS)], dim=2)
            seen = [share_BSR @ vectors_BRW, numbers_BS2]
            if mentions is not None:
                seen.append(mentions.total(share_BSR))
            fit_BS = fit_BS + self._looked(states_BSD, torch.cat(seen, dim=2))
        return torch.where(has_any_B1, fit_BS, 0.0)

    def _looked(self, states_BSD: Tensor, seen_BSV: Tensor) -> Tensor:
        """Give what the hidden layer makes of states and of what is seen of relations: (B, S)."""
        assert self.look is not None
        first, _, last = self.look
        assert isinstance(first, nn.Linear)
        # Two products, so that the many states need not be copied beside what is seen.
        width = states_BSD.shape[2]
        by_state, by_seen = first.weight[:, :width], first.weight[:, width:]
        hidden_BSH = linear(states_BSD, by_state) + linear(seen_BSV, by_seen, first.bias)
        added_BS1: Tensor = last(hidden_BSH.relu())
        return added_BS1.squeeze(2)


def with_fit(added_X2: Tensor | None, fit_X: Tensor) -> Tensor:
    """Add how well relations fit to what is added to the scores of words and relations: (X, 2)."""
    fit_X2 = torch.stack([torch.zeros_like(fit_X), fit_X], dim=1)
    return fit_X2 if added_X2 is None else added_X2 + fit_X2
