"""Learn vectors of nodes and relation types from triples with TransE (Bordes et al., 2013).

A fact ⟨h, r, t⟩ is a translation: h + r ≈ t. A true triple must be nearer than the same triple with
another head or tail, by a margin. Only the rows that a batch touches are updated, so an epoch costs
what its triples cost, however many nodes there are.

Shapes: B triples of a batch, K negatives of each, M nodes, T relation types, D width.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.features.config import RelationVectorConfig
from lrlm.features.relation_vectors import TripleTable
from lrlm.progress import Progress, silent

DOING = "making relation vectors"

_REDRAWS = 8
"""How often false triples that turn out to be true are drawn again at most."""


@dataclass(frozen=True)
class Translations:
    """What TransE has learned: unit vectors of nodes, and the translation of each type."""

    nodes_MD: Tensor
    types_TD: Tensor
    loss: float
    """Mean margin loss of the last epoch."""


class Corrupter:
    """Makes false triples of true ones by replacing the head or the tail."""

    def __init__(self, triples: TripleTable, *, filtered: bool) -> None:
        self._nodes = len(triples.nodes)
        self._types = len(triples.types)
        self._known = torch.from_numpy(np.sort(self._key(torch.from_numpy(triples.triples_N3))))
        self._filtered = filtered

    def _key(self, triples_N3: Tensor) -> Tensor:
        """Give each triple a number of its own."""
        head_N, type_N, tail_N = triples_N3.unbind(-1)
        return (head_N * self._types + type_N) * self._nodes + tail_N

    def is_known(self, triples_N3: Tensor) -> Tensor:
        """Tell which triples are true."""
        key_N = self._key(triples_N3)
        place_N = torch.searchsorted(self._known, key_N).clamp_(max=len(self._known) - 1)
        return self._known[place_N] == key_N

    def draw(
        self, triples_B3: Tensor, negatives: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Give the nodes to put in, and whether each replaces the head (else the tail), (B, K)."""
        size = (len(triples_B3), negatives)
        replaces_head_BK = torch.randint(2, size, generator=generator).bool()
        node_BK = torch.randint(self._nodes, size, generator=generator)
        for _ in range(_REDRAWS if self._filtered else 0):
            again = self.is_known(replace(triples_B3, node_BK, replaces_head_BK)).nonzero()
            if not len(again):
                break
            node_BK[again.unbind(1)] = torch.randint(
                self._nodes, (len(again),), generator=generator
            )
        return node_BK, replaces_head_BK


def replace(triples_B3: Tensor, node_BK: Tensor, replaces_head_BK: Tensor) -> Tensor:
    """Put nodes into copies of triples, (B, K, 3)."""
    head_B, type_B, tail_B = triples_B3.unbind(1)
    return torch.stack(
        [
            torch.where(replaces_head_BK, node_BK, head_B[:, None]),
            type_B[:, None].expand_as(node_BK),
            torch.where(replaces_head_BK, tail_B[:, None], node_BK),
        ],
        dim=2,
    )


def train_transe(
    triples: TripleTable, config: RelationVectorConfig, *, progress: Progress = silent
) -> Translations:
    """Learn vectors; progress counts the triples seen, over all epochs.

    On one thread, the same triples and settings give the same vectors to the bit. On several, the
    order of sums is not fixed, and such small operations mostly wait for each other: beside other
    work, two threads took about five times the CPU time of one.
    """
    generator = torch.Generator().manual_seed(config.seed)
    nodes = _embedding(len(triples.nodes), config.width, generator)
    types = _embedding(len(triples.types), config.width, generator)
    corrupter = Corrupter(triples, filtered=config.filtered)
    triples_N3 = torch.from_numpy(triples.triples_N3)
    optimiser = torch.optim.SparseAdam([nodes.weight, types.weight], lr=config.learning_rate)
    batches = -(-len(triples_N3) // config.batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(
        optimiser, start_factor=1.0, end_factor=1e-3, total_iters=config.epochs * batches
    )
    loss = 0.0
    seen, to_see = 0, config.epochs * len(triples_N3)
    progress(DOING, seen, to_see)
    for _ in range(config.epochs):
        order_N = torch.randperm(len(triples_N3), generator=generator)
        loss = 0.0
        for rows_B in torch.split(order_N, config.batch_size):
            triples_B3 = triples_N3[rows_B]
            node_BK, replaces_head_BK = corrupter.draw(triples_B3, config.negatives, generator)
            loss_BK = margin_loss(
                nodes,
                types,
                triples_B3,
                node_BK,
                replaces_head_BK,
                margin=config.margin,
                norm=config.norm,
            )
            optimiser.zero_grad()
            loss_BK.mean(1).sum().backward()  # type: ignore[no-untyped-call]
            optimiser.step()  # type: ignore[no-untyped-call]
            schedule.step()
            _onto_sphere(nodes.weight, torch.cat([triples_B3[:, ::2].flatten(), node_BK.flatten()]))
            loss += float(loss_BK.detach().mean()) * len(rows_B)
            seen += len(rows_B)
            progress(DOING, seen, to_see)
    return Translations(
        nodes.weight.detach(), types.weight.detach(), loss=loss / max(1, len(triples_N3))
    )


def margin_loss(
    nodes: nn.Embedding,
    types: nn.Embedding,
    triples_B3: Tensor,
    node_BK: Tensor,
    replaces_head_BK: Tensor,
    *,
    margin: float,
    norm: int,
) -> Tensor:
    """Give `max(0, γ + d(true) − d(false))` of each false triple, (B, K)."""
    head_BD, tail_BD = nodes(triples_B3[:, 0]), nodes(triples_B3[:, 2])
    type_BD = types(triples_B3[:, 1])
    new_BKD = nodes(node_BK)
    true_B = torch.linalg.vector_norm(head_BD + type_BD - tail_BD, norm, dim=-1)
    apart_BKD = torch.where(
        replaces_head_BK[..., None],
        new_BKD + (type_BD - tail_BD)[:, None],
        (head_BD + type_BD)[:, None] - new_BKD,
    )
    false_BK = torch.linalg.vector_norm(apart_BKD, norm, dim=-1)
    return functional.relu(margin + true_B[:, None] - false_BK)


def _embedding(rows: int, width: int, generator: torch.Generator) -> nn.Embedding:
    """Give unit vectors, drawn uniformly as in the paper."""
    first = torch.rand(rows, width, generator=generator).mul_(2).sub_(1)
    return nn.Embedding(rows, width, sparse=True, _weight=functional.normalize(first))


@torch.no_grad()
def _onto_sphere(weight_MD: Tensor, rows: Tensor) -> None:
    """Scale the rows that have moved back to length one; all others have it already."""
    rows = torch.unique(rows)
    weight_MD[rows] = functional.normalize(weight_MD[rows])
