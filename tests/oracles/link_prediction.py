"""Where TransE ranks the true head or tail of a triple among all nodes: has it learned anything?"""

import numpy as np

from lrlm.arrays import Doubles, Integers


def rank(
    nodes_MD: Doubles,
    types_TD: Doubles,
    triple: tuple[int, int, int],
    known_N3: Integers,
    *,
    side: str,
    norm: int,
) -> float:
    """Rank the true answer among all nodes: 1 + those nearer + half of those as near.

    Other answers that are known to be true do not count: this is the "filtered" rank.
    """
    head, kind, tail = triple
    heads, kinds, tails = known_N3.T
    if side == "tail":
        distances_M = np.linalg.norm(nodes_MD[head] + types_TD[kind] - nodes_MD, norm, axis=1)
        answer, true_answers = tail, tails[(heads == head) & (kinds == kind)]
    else:
        distances_M = np.linalg.norm(nodes_MD + types_TD[kind] - nodes_MD[tail], norm, axis=1)
        answer, true_answers = head, heads[(tails == tail) & (kinds == kind)]
    others = np.delete(distances_M, [answer, *true_answers])
    true = distances_M[answer]
    return 1 + float((others < true).sum() + (others == true).sum() / 2)


def mean_reciprocal_rank(ranks: list[float]) -> float:
    """Give the usual summary: 1 is perfect, about `log(M) / M` is chance."""
    return float(np.mean(1 / np.array(ranks)))
