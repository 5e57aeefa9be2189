"""A model and the windows of a batch in, the lattice of each window before spelling out.

A model reads a text once. What unknown words cost to spell does not change its states, so it is
added afterwards, and as often as there are ways to count it. A model that makes one token at a
time gives a lattice too, one without edges: everything after this is the same for all models.

Shapes: B rows, T tokens, E edges.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lrlm.batching import Window
from lrlm.lattice import Lattice
from lrlm.models import LanguageModel, WindowScore


@dataclass(frozen=True)
class Reading:
    """What a model made of one window; tensors are on the CPU, scores in float64."""

    window: Window
    offset_B: Tensor
    """Tokens of each document before the window."""
    unspelled: Lattice
    """Every segment's score while unknown words are spelled for free."""
    is_latent: bool
    """Whether the edges are those of the model, so that their posteriors say something."""
    is_joint: bool
    """Whether the scores are of the text together with one annotation that was given."""
    can_be_spelled_BT: Tensor
    """Tokens that pay for their spelling if they are unknown; those that were copied do not."""

    def spelled(self, log_probs_BT: Tensor) -> Lattice:
        """Let unknown words cost their spelling, given for each token (0 where it is known)."""
        paid_BT = torch.where(self.can_be_spelled_BT, log_probs_BT.double(), 0.0)
        return with_words(self.unspelled, self.unspelled.words_BT + paid_BT)

    @property
    def text_BT(self) -> Tensor:
        """Where there is a token of the text: neither padding nor `</s>`."""
        places = torch.arange(self.window.targets_BT.shape[1])
        text_lengths_B = self.window.lengths_B - self.window.ends_B.long()
        return places < text_lengths_B[:, None]

    @property
    def covered_BT(self) -> Tensor:
        """Which tokens some candidate span covers, whatever the model does with it."""
        edges = self.window.edges
        rows, width = self.window.targets_BT.shape
        change_BT = torch.zeros(rows, width + 1, dtype=torch.long)
        for end_E, change in ((edges.start_E, 1), (edges.end_E, -1)):
            change_BT.index_put_((edges.row_E, end_E), torch.tensor(change), accumulate=True)
        return change_BT.cumsum(1)[:, :-1] > 0


@torch.no_grad()
def read(model: LanguageModel, windows: Iterable[Window]) -> Iterator[Reading]:
    """Read the windows of a batch one after the other."""
    parameter = next(model.parameters())
    state = None
    offset_D = torch.empty(0, dtype=torch.long)  # by document of the batch
    for window in windows:
        free = replace(window, spelling_BT=torch.zeros_like(window.spelling_BT))
        here = free.to(parameter.device, parameter.dtype)
        if state is None:
            state = model.begin(here)
            offset_D = torch.zeros(len(window.document_B), dtype=torch.long)
        score, state = model(here, state.select(here.kept_B))
        yield _reading(window, score, offset_D[window.document_B])
        offset_D[window.document_B] += window.lengths_B


def with_words(lattice: Lattice, words_BT: Tensor) -> Lattice:
    """Give a lattice with other scores of its words."""
    return Lattice(
        words_BT,
        lattice.lengths_B,
        lattice.row_E,
        lattice.start_E,
        lattice.end_E,
        lattice.score_E,
        checked=False,
    )


def _reading(window: Window, score: WindowScore, offset_B: Tensor) -> Reading:
    lattice = score.lattice
    if lattice is None:
        assert score.nats_BT is not None, "a model gives either a lattice or nats of each token"
        none_E = torch.empty(0, dtype=torch.long)
        words_BT, score_E, spans = -score.nats_BT, score.nats_BT.new_empty(0), (none_E,) * 3
    else:
        words_BT, score_E = lattice.words_BT, lattice.score_E
        spans = (lattice.row_E.cpu(), lattice.start_E.cpu(), lattice.end_E.cpu())
    copied_BT = score.copied_BT
    return Reading(
        window=window,
        offset_B=offset_B,
        unspelled=Lattice(
            words_BT.cpu().double(),
            window.lengths_B,
            *spans,
            score_E.cpu().double(),
            checked=False,  # the collator made the indices
        ),
        is_latent=lattice is not None,
        is_joint=copied_BT is not None,
        can_be_spelled_BT=(
            window.mask_BT if copied_BT is None else window.mask_BT & ~copied_BT.cpu()
        ),
    )
