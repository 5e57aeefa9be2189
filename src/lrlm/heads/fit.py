"""Let the choice between words and names see how well the names would fit.

In the paper the source is chosen from the state alone, before any relation is looked at. But
whether a name comes next depends on what there is to name: after "born in" a place is copied if the
topic has one. Everything read here is known from the text so far and from the graph. Not in the
paper.

Shapes: X states, B rows, S places of a row, R relations, D width of states, W width of a relation's
vector, K features of a name, V all that a state says, H numbers that are compared, or hidden units.
"""

import torch
from torch import Tensor, nn

from lrlm.heads.naming import MENTION_FEATURES, Mentions

_WIDTH = 64
"""Numbers in which states and relations are compared, and units of the hidden layer, but no more
than half of the state's. Both are computed for every token, so more would make training slower."""
_NUMBERS = 2
"""How well all relations fit together, and how many there are."""


class RelationFit(nn.Module):
    """How much better than usual the topic's relations fit a place, all together."""

    def __init__(
        self, state_size: int, vector_size: int, *, named: bool, deep: bool = False
    ) -> None:
        """With `named`, it also knows which names stand in the text already.

        Where it is `deep`, it also looks at which relations those are that fit, through a hidden
        layer.
        """
        super().__init__()
        features = MENTION_FEATURES if named else 0
        self.width = width = min(_WIDTH, max(state_size // 2, 1))
        self._sizes = [width, features, width if deep else 0]
        # One product for all that a state says: what is wanted of relations and of their mentions,
        # and its part of the hidden layer. At first the head adds nothing to any score.
        self.by_state = nn.Linear(state_size, sum(self._sizes))
        with torch.no_grad():
            self.by_state.weight[: width + features].zero_()
            self.by_state.bias.zero_()
        self.offered = nn.Linear(vector_size, width, bias=False)
        self.is_named = named
        self.look = self.last = None
        if deep:
            self.look = nn.Linear(width + _NUMBERS + features, width, bias=False)
            self.last = nn.Linear(width, 1, bias=False)
            nn.init.zeros_(self.last.weight)

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
        said_BSV = self.by_state(states_BSD)
        wanted_BSH, weights_BSK, hidden_BSH = torch.split(said_BSV, self._sizes, dim=2)
        offered_BRH = self.offered(vectors_BRW)
        # Every token learns from it, so that without the scale one update would change too much.
        scores_BSR = self.width**-0.5 * (wanted_BSH @ offered_BRH.mT)
        mentions = None
        if self.is_named:
            assert times_BSR is not None, "the collator serves another model"
            assert since_BSR is not None, "the collator serves another model"
            mentions = Mentions(times_BSR, since_BSR, states_BSD.dtype)
            scores_BSR = mentions.add_to(scores_BSR, weights_BSK)
        has_any_B1 = known_BR.any(1)[:, None]
        # Where a row has no relation, all are scored, lest the log-sum be that of nothing.
        missing_BSR = (~known_BR & has_any_B1)[:, None].expand_as(scores_BSR)
        scores_BSR = scores_BSR.masked_fill(missing_BSR, -torch.inf)
        log_count_B1 = known_BR.sum(1, keepdim=True).clamp(min=1).to(scores_BSR.dtype).log()
        fit_BS = scores_BSR.logsumexp(2) - log_count_B1
        if self.look is not None and self.last is not None:
            share_BSR = scores_BSR.softmax(2)
            numbers_BS2 = torch.stack([fit_BS, log_count_B1.expand_as(fit_BS)], dim=2)
            seen = [share_BSR @ offered_BRH, numbers_BS2]
            if mentions is not None:
                seen.append(mentions.total(share_BSR))
            hidden_BSH = hidden_BSH + self.look(torch.cat(seen, dim=2))
            fit_BS = fit_BS + self.last(hidden_BSH.relu()).squeeze(2)
        return torch.where(has_any_B1, fit_BS, 0.0)


def with_fit(added_X2: Tensor | None, fit_X: Tensor) -> Tensor:
    """Add how well relations fit to what is added to the scores of words and relations: (X, 2)."""
    fit_X2 = torch.stack([torch.zeros_like(fit_X), fit_X], dim=1)
    return fit_X2 if added_X2 is None else added_X2 + fit_X2
