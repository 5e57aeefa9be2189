"""Words of names: a distribution over those of a state's own topic, whatever other topics have."""

import torch

from lrlm.heads import NameWordHead
from lrlm.heads.naming import MENTION_FEATURES

D, W, E = 4, 3, 5
OWN = [[0, 1, 2], [3, 4]]
"""The words of two topics among all words."""


def head() -> NameWordHead:
    torch.manual_seed(1)
    made = NameWordHead(D, W, E).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter)
    assert made.by_history.out_features == 1 + MENTION_FEATURES
    return made


def test_a_state_chooses_from_the_words_of_its_topic() -> None:
    chooser, draw = head(), torch.Generator().manual_seed(2)
    features_VW = torch.randn(5, W, generator=draw).double()
    vectors_VE = torch.randn(5, E, generator=draw).double()
    states_XD = torch.randn(3, D, generator=draw).double()
    topic_X = [0, 1, 0]
    number_XK = torch.tensor([[0, 1, 2], [3, 4, 0], [0, 1, 2]])  # the second topic has two words
    allowed_XK = torch.tensor([[True, True, False], [True, True, False], [False, False, False]])
    times_XK = torch.tensor([[0, 1, 2], [1, 0, 0], [0, 0, 0]])
    told = {"follows_XK": times_XK == 0, "times_XK": times_XK, "since_XK": 3 * times_XK}
    found_XK = chooser.log_probs(
        states_XD, features_VW, vectors_VE, allowed_XK, number_XK=number_XK, **told
    )
    assert torch.equal(found_XK > -torch.inf, allowed_XK)
    torch.testing.assert_close(found_XK[:2].exp().sum(1), torch.ones(2).double())
    for state, topic in enumerate(topic_X):
        own, one = OWN[topic], slice(state, state + 1)
        words = len(own)
        alone_1K = chooser.log_probs(
            states_XD[one],
            features_VW[own],
            vectors_VE[own],
            allowed_XK[one, :words],
            **{name: each[one, :words] for name, each in told.items()},
        )
        torch.testing.assert_close(found_XK[one, :words], alone_1K)
