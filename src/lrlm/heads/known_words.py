"""Begin training with what is known of words: how frequent they are, and which are alike.

A model that starts from nothing spends much of a short training on finding that out, though both is
known before: the vocabulary has counts, and the features have vectors of words. So biases begin
with the logarithms of frequencies, and the vectors of words with a picture of what the features
have, beside some chance. The maps between clusters begin such that the words of all clusters lie in
one space. Not in the paper.

Shapes: V words, W width of the given vectors, N width of the vectors of a cluster.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrlm.heads.clusters import Cluster

_KNOWN = 0.7
"""Length of what is known in the first vector of a word, whose whole length is about 1."""
_KNOWN_MAP, _CHANCE_MAP = 0.9, 0.3
"""How much of the maps between clusters is known, and how much of what chance gave is left."""


@dataclass(frozen=True)
class KnownWords:
    """How often words occur, and vectors in which similar words are alike."""

    counts_V: Tensor
    vectors_VW: Tensor

    @classmethod
    def of(cls, counts: Sequence[int], vectors_VW: Tensor) -> "KnownWords":
        """Take vectors without what all of them have in common, each of length 1."""
        counts_V = torch.tensor(counts, dtype=torch.float64) + 0.5
        weight_V1 = counts_V.sqrt()[:, None]
        vectors_VW = vectors_VW.double()
        vectors_VW = vectors_VW - (vectors_VW * weight_V1).sum(0) / weight_V1.sum()
        return cls(counts_V, nn.functional.normalize(vectors_VW, dim=1))


@torch.no_grad()
def begin_biases(
    known: KnownWords, clusters: Sequence[Cluster], biases: Iterable[Tensor], tails_bias: Tensor
) -> None:
    """Let a softmax over clusters begin with the frequencies of words."""
    counts = [known.counts_V[cluster.first : cluster.last] for cluster in clusters]
    total = known.counts_V.sum()
    for number, (bias, counts_N) in enumerate(zip(biases, counts, strict=True)):
        bias.copy_((counts_N / (counts_N.sum() if number else total)).log())
    if len(clusters) > 1:
        tails_bias.copy_((torch.stack([each.sum() for each in counts[1:]]) / total).log())


@torch.no_grad()
def begin_vectors(
    known: KnownWords,
    clusters: Sequence[Cluster],
    tables: Iterable[Tensor],
    *,
    up: Iterable[nn.Module] = (),
    down: Iterable[nn.Module] = (),
) -> None:
    """Let the vectors of words begin with what is known of them.

    `up` are the linear maps from the width of each rare cluster to that of the first, `down` those
    back; both fit together.
    """
    pictures = [_picture(known.vectors_VW.shape[1], cluster.width) for cluster in clusters]
    for cluster, table, picture_WN in zip(clusters, tables, pictures, strict=True):
        seen_VN = known.vectors_VW[cluster.first : cluster.last] @ picture_WN
        table.mul_((1 - _KNOWN**2) ** 0.5).add_((_KNOWN * seen_VN).to(table.dtype))
    for maps, is_up in ((up, True), (down, False)):
        for linear, picture_WN in zip(maps, pictures[1:], strict=False):
            between = torch.linalg.pinv(picture_WN) @ pictures[0]
            weight = linear.get_parameter("weight")
            known_map = between.T if is_up else between
            weight.mul_(_CHANCE_MAP).add_((_KNOWN_MAP * known_map).to(weight.dtype))


def _picture(width: int, narrow: int) -> Tensor:
    """Draw a linear map that changes lengths and angles as little as it can: (W, N)."""
    large, small = max(width, narrow), min(width, narrow)
    columns, _ = torch.linalg.qr(torch.randn(large, small, dtype=torch.float64))
    picture_WN: Tensor = columns if width >= narrow else columns.T
    scale: float = max(width / narrow, 1.0) ** 0.5
    return picture_WN.mul(scale)
