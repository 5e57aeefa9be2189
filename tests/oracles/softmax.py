"""The probabilities of all words, from the weights of a word head, without any shortcut."""

import torch
from torch import Tensor
from torch.nn import functional

from lrlm.heads import TokenHead, WordHead


def all_log_probs(head: TokenHead, states_XD: Tensor) -> Tensor:
    """Give the log-probability of every word in every state: (X, V)."""
    assert isinstance(head, WordHead)
    hidden_XP = head.project(states_XD)
    first_XC = functional.linear(hidden_XP, *head.head_weights()).log_softmax(1)
    frequent = len(head.clusters[0])
    tails = []
    for number in range(1, len(head.clusters)):
        narrow = head.narrow[number - 1](hidden_XP)
        scores_XV = functional.linear(narrow, head.tables[number], head.biases[number])
        tails.append(scores_XV.log_softmax(1) + first_XC[:, frequent + number - 1, None])
    return torch.cat([first_XC[:, :frequent], *tails], dim=1)
