"""The sweep takes few steps, however large the batch."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lrlm.lattice import log_marginal
from tests.lattice.lattices import build
from tests.oracles import lattice as oracle


class CountedOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the tensor operations inside a `with`."""

    count: int = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def operations(rows: list[oracle.Row]) -> int:
    lattice = build(rows)
    lattice.words_BT.requires_grad_()
    counted = CountedOperations()  # type: ignore[no-untyped-call]
    with counted:
        torch.autograd.backward(log_marginal(lattice).sum())
    return counted.count


def test_work_does_not_grow_with_edges_rows_or_independent_tokens() -> None:
    def row(blocks: int, repeats: int) -> oracle.Row:
        spans = [
            (4 * block + start, 4 * block + end)
            for block in range(blocks)
            for start, end in [(0, 2), (1, 4), (2, 3)]
        ]
        edges = [oracle.Edge(*span, number, -1.0) for number, span in enumerate(spans * repeats)]
        return oracle.Row([-1.0] * (4 * blocks), edges)

    few = operations([row(1, 1)])
    assert operations([row(1, 200)]) == few
    assert operations([row(200, 1)]) == few
    assert operations([row(1, 1)] * 50) == few
