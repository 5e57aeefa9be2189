"""What is kept of every token that was read, so that more can be added without copying the rest.

Shapes: B rows, K slots, M slots in use, T new ones, A width; there may be heads between rows and
slots.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional

_SPARE = 64
"""Slots that are made at least beyond those in use."""


class Slots:
    """Tensors (B, …, M, A) that have a slot for each token of a row, the newest in the last one.

    It is a value: adding gives another one. Both share their memory as long as the older one is
    added to only once; what stands in a slot in use is never changed.
    """

    def __init__(self, tensors: Mapping[int, Tensor], length: int, used: list[int]) -> None:
        """`used[0]` says how many slots of the tensors are taken, by whichever value."""
        self._tensors = tensors
        self._used = used
        self.length = length

    @classmethod
    def of(cls, tensors: Mapping[int, Tensor]) -> "Slots":
        """Keep tensors whose slots are all in use."""
        length = next((tensor.shape[-2] for tensor in tensors.values()), 0)
        return cls(tensors, length, [length])

    def tensors(self) -> dict[int, Tensor]:
        """Give the slots in use of every tensor, by its number."""
        return {
            number: tensor.narrow(-2, 0, self.length) for number, tensor in self._tensors.items()
        }

    def select(self, rows: Tensor) -> "Slots":
        """Give the slots of the rows at these indices."""
        return Slots.of(
            {number: tensor.index_select(0, rows) for number, tensor in self.tensors().items()}
        )

    def detach(self) -> "Slots":
        """Give the same without the graph that made it."""
        if not any(tensor.requires_grad for tensor in self._tensors.values()):
            return self
        return Slots.of({number: tensor.detach() for number, tensor in self.tensors().items()})

    def only(self, number: int) -> "Slots":
        """Give one of the tensors alone."""
        return Slots.of({number: self.tensors()[number]} if self._tensors else {})

    def adding(self, count: int) -> "AddedSlots":
        """Begin to add this many slots to every tensor."""
        in_place = not torch.is_grad_enabled() and all(
            not tensor.requires_grad
            and (torch.is_inference_mode_enabled() or not tensor.is_inference())
            for tensor in self._tensors.values()
        )
        if not self._tensors or not in_place:
            return AddedSlots(self.tensors(), self.length, count, None)
        end = self.length + count
        room = min(tensor.shape[-2] for tensor in self._tensors.values())
        if self._used[0] == self.length and end <= room:
            self._used[0] = end
            return AddedSlots(self._tensors, self.length, count, self._used)
        size = end + max(_SPARE, end // 2)
        roomy = {number: _roomier(tensor, size) for number, tensor in self.tensors().items()}
        return AddedSlots(roomy, self.length, count, [end])


class AddedSlots:
    """Slots that are being added to, one tensor after the other."""

    def __init__(
        self, before: Mapping[int, Tensor], length: int, count: int, used: list[int] | None
    ) -> None:
        """With `used`, there is room behind the slots in use."""
        self._before = before
        self._length, self._count = length, count
        self._used = used
        self._after: dict[int, Tensor] = {}

    def put(self, number: int, new: Tensor) -> Tensor:
        """Add the new slots of a tensor (B, …, T, A), and give all of them, old and new."""
        before = self._before.get(number)
        if before is None:
            self._after[number] = new
            return new
        if self._used is None or before.dtype != new.dtype:
            self._after[number] = torch.cat([before.narrow(-2, 0, self._length), new], dim=-2)
            return self._after[number]
        before.narrow(-2, self._length, self._count).copy_(new)
        self._after[number] = before
        return before.narrow(-2, 0, self._length + self._count)

    def done(self) -> Slots:
        """Give the slots when every tensor was added to."""
        length = self._length + self._count
        return Slots(self._after, length, [length] if self._used is None else self._used)


def _roomier(tensor: Tensor, size: int) -> Tensor:
    """Copy a tensor to where it has so many slots."""
    *outer, length, width = tensor.shape
    roomy = tensor.new_empty(*outer, size, width)
    roomy.narrow(-2, 0, length).copy_(tensor)
    return roomy


def right_aligned(slots: Slots, ends: Sequence[int], length: int) -> Slots:
    """Move each row so that the slot before its end becomes the last one, of `length` in all."""
    moved: dict[int, Tensor] = {}
    for number, tensor in slots.tensors().items():
        rows = []
        for row, end in zip(tensor.unbind(0), ends, strict=True):
            kept = row.narrow(-2, max(end - length, 0), min(length, end))
            empty = max(length - end, 0)
            rows.append(functional.pad(kept, (0, 0, empty, 0)) if empty else kept)
        moved[number] = torch.stack(rows)
    return Slots.of(moved)


def stacked(parts: Sequence[tuple[Slots, int]]) -> Slots:
    """Put the rows of several together, each part with the number of its rows.

    The newest token of every row is then in the last slot. What is kept in only some parts, because
    it can be made again from the rest, is dropped.
    """
    known = [slots.tensors() for slots, _ in parts if slots.length]
    numbers = set.intersection(*(set(tensors) for tensors in known)) if known else set()
    length = max(slots.length for slots, _ in parts)
    together: dict[int, Tensor] = {}
    for number in sorted(numbers):
        like = known[0][number]
        rows = []
        for slots, count in parts:
            tensor = slots.tensors().get(number)
            if tensor is None or not slots.length:
                tensor = like.new_zeros(count, *like.shape[1:-2], 0, like.shape[-1])
            rows.append(functional.pad(tensor, (0, 0, length - slots.length, 0)))
        together[number] = torch.cat(rows)
    return Slots.of(together)
