"""Let the vector of a relation also say how it stands among the facts of its topic.

Not in the paper, where a relation is its type and its object, whatever else is known of the topic.

Shapes: N relations, J traits of a relation, W width of a relation's vector.
"""

from torch import Tensor, nn

_HIDDEN_SIZE = 64


class RelationTraits(nn.Module):
    """Makes of a relation's traits what is added to its vector."""

    def __init__(self, traits: int, vector_size: int) -> None:
        super().__init__()
        last = nn.Linear(_HIDDEN_SIZE, vector_size)
        nn.init.zeros_(last.weight)  # training begins where it changes nothing
        nn.init.zeros_(last.bias)
        self.map = nn.Sequential(nn.Linear(traits, _HIDDEN_SIZE), nn.ReLU(), last)

    def forward(self, traits_NJ: Tensor) -> Tensor:
        """Give what is added to the vectors of relations: (N, W)."""
        added_NW: Tensor = self.map(traits_NJ)
        return added_NW
