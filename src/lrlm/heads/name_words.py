"""Write single words of the topic's names: "the Packers", where the name is "Green Bay Packers".

A word is one of the vocabulary or one of the topic's names, so its probability is that of both ways
together. A word that would complete a name is not taken from there: whole names are copied, so that
one can tell where they came from. Both ways are distributions over words, and what is read of the
text (which words of names stand in it, and which word came last) is known from its tokens alone.
Not in the paper.

Shapes: X states, B rows, S places of a row, K words of the names of a row's topic, D width of
states, W width of a word's features, E width of the vectors of tokens, H what is told of the text.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lrlm.heads.naming import MENTION_FEATURES, mention_features

_FIRST_SCORE = -3.0
"""Training begins where a word of a name is this improbable, as log-odds."""


class NameWordHead(nn.Module):
    """Whether the next word is taken from a name, and which word of all names it is."""

    def __init__(self, state_size: int, feature_size: int, vector_size: int) -> None:
        """`vector_size` is that of the vectors that tokens are read as."""
        super().__init__()
        self.share = nn.Linear(state_size, 2)
        nn.init.zeros_(self.share.weight)
        with torch.no_grad():
            self.share.bias.copy_(torch.tensor([_FIRST_SCORE, -_FIRST_SCORE]))
        self.by_features = nn.Linear(state_size, feature_size)
        self.by_vector = nn.Linear(state_size, vector_size)
        self.by_history = nn.Linear(state_size, 1 + MENTION_FEATURES)

    def log_shares(
        self, states_XD: Tensor, goes_on_X: Tensor, has_words_X: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Give log P(vocabulary | a word, h) and log P(name | a word, h): (X,), (X,).

        `goes_on_X` says where the word before is one that others follow in a name. Where there is
        no word to take there is nothing to choose: exactly 0 and −inf.
        """
        score_X, more_X = self.share(states_XD).unbind(1)
        score_X = score_X + more_X * goes_on_X
        return (
            torch.where(has_words_X, logsigmoid(-score_X), 0.0),
            torch.where(has_words_X, logsigmoid(score_X), -torch.inf),
        )

    def log_probs(
        self,
        states_BSD: Tensor,
        features_BKW: Tensor,
        vectors_BKE: Tensor,
        allowed_BSK: Tensor,
        *,
        follows_BSK: Tensor,
        times_BSK: Tensor,
        since_BSK: Tensor,
    ) -> Tensor:
        """Give the log-probability of every word among those of the names: (B, S, K).

        Words that are not allowed have −inf, and so have all where none is.
        """
        scores_BSK = self.by_features(states_BSD) @ features_BKW.mT
        # Vectors of tokens grow while they learn: without the scale, their products would soon
        # decide everything.
        scale = vectors_BKE.shape[2] ** -0.5
        scores_BSK = scores_BSK + scale * (self.by_vector(states_BSD) @ vectors_BKE.mT)
        mentions_BSKH = mention_features(times_BSK, since_BSK, states_BSD.dtype)
        history_BSKH = torch.cat([follows_BSK[..., None].to(states_BSD.dtype), mentions_BSKH], 3)
        scores_BSK = scores_BSK + (history_BSKH @ self.by_history(states_BSD)[..., None]).squeeze(3)
        # Where no word is allowed, all are scored first, lest the softmax divide 0 by 0.
        hidden_BSK = ~allowed_BSK & allowed_BSK.any(2, keepdim=True)
        log_probs_BSK = scores_BSK.masked_fill(hidden_BSK, -torch.inf).log_softmax(2)
        masked_BSK: Tensor = log_probs_BSK.masked_fill(~allowed_BSK, -torch.inf)
        return masked_BSK
