"""Vectors and held-out triples in, the rank of each true head and tail out.

It tells whether TransE has learned anything: a good model ranks what is true near the top.

Shapes: B triples, M nodes, T relation types, D width.
"""

import torch
from torch import Tensor


def link_ranks(
    nodes_MD: Tensor,
    types_TD: Tensor,
    triples_B3: Tensor,
    *,
    known_N3: Tensor,
    norm: int = 1,
    at_once: int = 64,
) -> Tensor:
    """Rank the true tails, then the true heads, among all nodes, (2, B); 1 is the best.

    Other answers that are known to be true do not count (the "filtered" rank); with nodes that are
    equally near, the rank is the mean of the best and the worst.
    """
    ranks = [
        _ranks(nodes_MD, types_TD, some, known_N3, norm, answer=answer)
        for answer in (2, 0)
        for some in torch.split(triples_B3, at_once)
    ]
    return torch.cat(ranks).view(2, -1)


def mean_reciprocal_rank(ranks: Tensor) -> float:
    """Give the usual summary: 1 is perfect, about `log(M) / M` is chance."""
    return float(ranks.double().reciprocal().mean())


def _ranks(
    nodes_MD: Tensor,
    types_TD: Tensor,
    triples_B3: Tensor,
    known_N3: Tensor,
    norm: int,
    *,
    answer: int,
) -> Tensor:
    given = 2 - answer
    sign = 1 if answer == 2 else -1
    sought_BD = nodes_MD[triples_B3[:, given]] + sign * types_TD[triples_B3[:, 1]]
    distance_BM = torch.cdist(sought_BD, nodes_MD, p=norm, compute_mode=_EXACT)
    rows_B = torch.arange(len(triples_B3))
    true_B = distance_BM[rows_B, triples_B3[:, answer]].clone()
    for row, (node, kind) in enumerate(triples_B3[:, [given, 1]].tolist()):
        is_other = (known_N3[:, given] == node) & (known_N3[:, 1] == kind)
        distance_BM[row, known_N3[is_other, answer]] = torch.inf
    nearer_B = (distance_BM < true_B[:, None]).sum(1)
    distance_BM[rows_B, triples_B3[:, answer]] = true_B
    as_near_B = (distance_BM == true_B[:, None]).sum(1)
    return nearer_B + (as_near_B + 1) / 2


_EXACT = "donot_use_mm_for_euclid_dist"
"""By differences: the faster way through products loses the digits that tell near nodes apart."""
