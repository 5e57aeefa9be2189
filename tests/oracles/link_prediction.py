"""Filtered ranks of triples in plain numpy, one candidate at a time."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Triple = tuple[int, int, int]


def rank(
    nodes: Floats, types: Floats, triple: Triple, known: set[Triple], *, side: str, norm: int
) -> float:
    """Rank the true answer among all nodes: 1 + those nearer + half of those as near."""
    head, kind, tail = triple

    def distance(node: int) -> float:
        h, t = (node, tail) if side == "head" else (head, node)
        return float(np.linalg.norm(nodes[h] + types[kind] - nodes[t], ord=norm))

    answer = head if side == "head" else tail
    true = distance(answer)
    result = 1.0
    for node in range(len(nodes)):
        candidate = (node, kind, tail) if side == "head" else (head, kind, node)
        if node == answer or candidate in known:
            continue
        result += 1.0 if distance(node) < true else 0.5 if distance(node) == true else 0.0
    return result
