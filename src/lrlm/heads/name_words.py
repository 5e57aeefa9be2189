"""Write single words of the topic's names: "the Packers", where the name is "Green Bay Packers".

A word is one of the vocabulary or one of the topic's names, so its probability is that of both ways
together. A word that would complete a name is not taken from there: whole names are copied, so that
one can tell where they came from. Both ways are distributions over words, and what is read of the
text (which words of names stand in it, and which word came last) is known from its tokens alone.
Not in the paper.

Shapes: X states, K words that a state chooses from, V words of the names of all topics, D width of
states, W width of a word's features, E width of the vectors of tokens, H what is told of the text.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lrlm.heads.naming import MENTION_FEATURES, Mentions

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
        states_XD: Tensor,
        features_VW: Tensor,
        vectors_VE: Tensor,
        allowed_XK: Tensor,
        *,
        number_XK: Tensor | None = None,
        follows_XK: Tensor,
        times_XK: Tensor,
        since_XK: Tensor,
    ) -> Tensor:
        """Give the log-probability of every word among those of the names: (X, K).

        `number_XK` says which words a state chooses from, if not from all. Words that are not
        allowed have −inf, and so have all where none is.
        """
        # Vectors of tokens grow while they learn: without the scale, their products would soon
        # decide everything.
        wanted_XE = vectors_VE.shape[1] ** -0.5 * self.by_vector(states_XD)
        # Most words are those of other topics, but with some tens of topics, of some tens of words
        # each, it is faster to multiply them all than to lay out the words of each topic, padded.
        scores_XV = self.by_features(states_XD) @ features_VW.mT + wanted_XE @ vectors_VE.mT
        scores_XK = scores_XV if number_XK is None else scores_XV.gather(1, number_XK)
        weights_XH = self.by_history(states_XD)
        scores_XK = scores_XK + weights_XH[:, :1] * follows_XK
        mentions = Mentions(times_XK, since_XK, states_XD.dtype)
        scores_XK = mentions.add_to(scores_XK, weights_XH[:, 1:])
        # Where no word is allowed, all are scored first, lest the softmax divide 0 by 0.
        hidden_XK = ~allowed_XK & allowed_XK.any(1, keepdim=True)
        log_probs_XK = scores_XK.masked_fill(hidden_XK, -torch.inf).log_softmax(1)
        masked_XK: Tensor = log_probs_XK.masked_fill(~allowed_XK, -torch.inf)
        return masked_XK
