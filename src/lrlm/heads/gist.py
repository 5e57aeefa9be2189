"""Tell a model what kind of thing its text is about, with every token.

The paper's model meets its topic only where it chooses a relation. What a topic and its facts are
called says much of the words to come ("quarterback" where a fact is a Super Bowl). It depends on
the graph alone, so nothing changes for the sum over segmentations. Not in the paper.

Shapes: B rows, R relations of a row, W width of relation vectors or of the features of names, G
width of the gist.
"""

import torch
from torch import Tensor, nn

_DROPOUT = 0.2
"""Share of what is known of a topic that is dropped in training, for no two texts share a title."""

_SCALE = 0.05
"""Of the gist, which is added to every token: a large rate of learning soon makes it drown them."""


class TopicGist(nn.Module):
    """One vector of a topic, made of the vectors and names of its relations and of its title."""

    def __init__(
        self, vector_size: int, feature_size: int, input_size: int, state_size: int
    ) -> None:
        super().__init__()
        width = max(input_size // 2, 1)
        self.dropout = nn.Dropout(_DROPOUT)
        self.made = nn.Linear(vector_size + 3 * feature_size, width)
        self.to_input = nn.Linear(width, input_size, bias=False)
        self.to_state = nn.Linear(width, state_size, bias=False)
        # Training begins where it changes nothing: vectors of tokens are small at first.
        nn.init.zeros_(self.to_input.weight)
        nn.init.zeros_(self.to_state.weight)

    def forward(
        self, vectors_BRW: Tensor, types_BRW: Tensor, objects_BRW: Tensor, known_BR: Tensor
    ) -> Tensor:
        """Describe topics by their known relations, the first of which is the title: (B, G).

        `types_BRW` and `objects_BRW` are the features of what types and objects are called.
        """
        known_BR1 = known_BR[..., None].to(vectors_BRW.dtype)
        count_B1 = known_BR1.sum(1).clamp(min=1)
        means = [
            (each_BRW * known_BR1).sum(1) / count_B1
            for each_BRW in (vectors_BRW, types_BRW, objects_BRW)
        ]
        title_BW = (objects_BRW * known_BR1)[:, :1].sum(1)
        known = self.dropout(torch.cat([*means, title_BW], dim=1))
        gist_BG: Tensor = _SCALE * torch.tanh(self.made(known))
        return gist_BG
