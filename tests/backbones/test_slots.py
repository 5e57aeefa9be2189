"""Slots: adding to them shares memory where it can, and never changes what is there."""

import torch
from torch import Tensor

from lrlm.backbones.slots import Slots, right_aligned, stacked


def added(slots: Slots, *values: float) -> Slots:
    """Add a token of each value to every row."""
    new = torch.tensor(values)[None, :, None].expand(2, -1, 1)
    adding = slots.adding(len(values))
    everything = adding.put(0, new)
    after = adding.done()
    assert torch.equal(everything, after.tensors()[0])
    return after


def values(slots: Slots, row: int = 0) -> list[float]:
    numbers: list[float] = slots.tensors()[0][row, :, 0].tolist()
    return numbers


def memory(slots: Slots) -> int:
    return slots.tensors()[0].data_ptr()


@torch.no_grad()
def test_what_grows_in_one_line_shares_its_memory() -> None:
    first = added(Slots.of({}), 1, 2)
    second = added(first, 3)
    third = added(second, 4, 5)
    fourth = added(third, 6)
    assert [values(each) for each in (first, second, third)] == [[1, 2], [1, 2, 3], [1, 2, 3, 4, 5]]
    assert memory(second) == memory(third) == memory(fourth) != memory(first)


@torch.no_grad()
def test_what_branches_is_copied() -> None:
    root = added(added(Slots.of({}), 1), 2)
    left, right = added(root, 3), added(root, 4)
    assert memory(left) == memory(root) != memory(right)
    longer = added(right, 5)
    assert (values(root), values(left), values(longer)) == ([1, 2], [1, 2, 3], [1, 2, 4, 5])


@torch.no_grad()
def test_room_is_made_when_there_is_none() -> None:
    slots = added(Slots.of({}), 0)
    for number in range(1, 200):
        slots = added(slots, number)
    assert values(slots) == list(range(200))


def test_with_a_gradient_nothing_is_written_in_place() -> None:
    root = added(added(Slots.of({}), 1), 2)
    after = added(root, 3)
    assert memory(after) != memory(root)
    assert values(after) == [1, 2, 3]


def rows(*rows: list[float]) -> Tensor:
    return torch.tensor(rows)[..., None]


def test_rows_are_moved_to_their_ends() -> None:
    slots = Slots.of({0: rows([1, 2, 3, 4], [5, 6, 7, 8])})
    moved = right_aligned(slots, [4, 2], 3)
    assert (values(moved), values(moved, 1)) == ([2, 3, 4], [0, 5, 6])


def test_rows_of_several_are_put_together() -> None:
    short, empty = Slots.of({0: rows([1, 2]), 1: rows([3, 4])}), Slots.of({})
    only = Slots.of({0: rows([5, 6, 7])})
    together = stacked([(short, 1), (empty, 2), (only, 1)])
    assert together.tensors().keys() == {0}
    assert together.tensors()[0][..., 0].tolist() == [[0, 1, 2], [0] * 3, [0] * 3, [5, 6, 7]]
    assert stacked([(empty, 2), (empty, 1)]).length == 0
