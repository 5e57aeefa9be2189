"""Hold the log scores of words and spans of a batch of texts, checked to be a well-formed lattice.

Shape suffixes: B rows (texts), T tokens of the widest row, E edges (spans) of all rows.
"""

import math
from dataclasses import KW_ONLY, InitVar, dataclass

import torch
from torch import Tensor

from lrlm.errors import ShapeError

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Log scores of B texts and of E spans in them: a batch of lattices, checked.

    Edge e covers the tokens `[start_E[e], end_E[e])` of row `row_E[e]`; the WORD edge of token t of
    row b covers `[t, t + 1)` and scores `words_BT[b, t]`. Edges come in any order and may overlap,
    nest or coincide. A score of −inf is a segment that cannot be. What stands in `words_BT` at or
    beyond a row's length is never looked at.

    Shapes, types and devices are always checked, without waiting for the device. The values are
    checked too unless `checked=False`, which is for callers that made the indices themselves: with
    wrong values and `checked=False`, results are undefined.

    One text of three tokens, in which two spans may have been copied: the first two tokens, or all.

    >>> import torch
    >>> lattice = Lattice(
    ...     words_BT=torch.tensor([[-2.0, -3.0, -1.0]]),
    ...     lengths_B=torch.tensor([3]),
    ...     row_E=torch.tensor([0, 0]),
    ...     start_E=torch.tensor([0, 0]),
    ...     end_E=torch.tensor([2, 3]),
    ...     score_E=torch.tensor([-1.0, -4.0]),
    ... )
    """

    words_BT: Tensor
    """Log scores of the WORD edges."""
    lengths_B: Tensor
    """How many tokens each row has, 0 to T."""
    row_E: Tensor
    """The row of each edge."""
    start_E: Tensor
    """The first token of each edge."""
    end_E: Tensor
    """The token after the last of each edge."""
    score_E: Tensor
    """Log scores of the edges."""
    _: KW_ONLY
    checked: InitVar[bool] = True

    def __post_init__(self, checked: bool) -> None:
        """Refuse tensors that disagree and, if `checked`, values that cannot be."""
        self._check_shapes()
        if checked:
            self._check_values()

    def _check_shapes(self) -> None:
        if self.words_BT.dim() != 2:
            raise ShapeError(
                f"words_BT must have the shape (rows, tokens), not {tuple(self.words_BT.shape)}"
            )
        if self.row_E.dim() != 1:
            raise ShapeError(f"row_E must have the shape (edges,), not {tuple(self.row_E.shape)}")
        rows, edges = self.words_BT.shape[:1], self.row_E.shape
        for name, shape, reference in (
            ("lengths_B", rows, "words_BT"),
            ("start_E", edges, "row_E"),
            ("end_E", edges, "row_E"),
            ("score_E", edges, "row_E"),
        ):
            tensor: Tensor = getattr(self, name)
            if tensor.shape != shape:
                raise ShapeError(
                    f"{name} has the shape {tuple(tensor.shape)}, "
                    f"but {tuple(shape)} is needed to agree with {reference}"
                )
        for name in ("words_BT", "score_E"):
            tensor = getattr(self, name)
            if not tensor.is_floating_point():
                raise ShapeError(f"{name} holds {tensor.dtype}, but log scores are floating point")
        for name in ("lengths_B", "row_E", "start_E", "end_E"):
            tensor = getattr(self, name)
            if tensor.dtype not in _INTEGERS:
                raise ShapeError(f"{name} holds {tensor.dtype}, but it must hold integers")
        for name in ("lengths_B", "row_E", "start_E", "end_E", "score_E"):
            device = getattr(self, name).device
            if device != self.words_BT.device:
                raise ShapeError(
                    f"{name} is on {device}, but words_BT is on {self.words_BT.device}; "
                    "move all six tensors to one device"
                )

    def _check_values(self) -> None:
        rows, width = self.words_BT.shape
        # Comparisons are made in int64, where the batch's sizes cannot overflow.
        lengths_B, row_E = self.lengths_B.long(), self.row_E.long()
        start_E, end_E = self.start_E.long(), self.end_E.long()
        position_T = torch.arange(width, device=lengths_B.device)
        # The length of an edge's row needs a row that exists; wrong rows are reported before ends.
        padded_lengths = torch.cat((lengths_B, lengths_B.new_zeros(1)))
        length_E = padded_lengths[row_E.clamp(0, rows)]

        wrong_length_B = (lengths_B < 0) | (lengths_B > width)
        # `not below +inf` is true of +inf and of NaN in one comparison.
        wrong_word_BT = ~(self.words_BT < math.inf) & (position_T < lengths_B[:, None])
        wrong_edges = (
            ("row_E", (row_E < 0) | (row_E >= rows), f"there are {rows} rows"),
            ("start_E", start_E < 0, "spans start at 0 or later"),
            ("end_E", end_E <= start_E, "a span [start, end) has at least one token"),
            ("end_E", end_E > length_E, "the span goes beyond the {length} tokens of its row"),
            ("score_E", ~(self.score_E < math.inf), "a log score is a number or −inf"),
        )
        masks = (wrong_length_B, wrong_word_BT, *(wrong_E for _, wrong_E, _ in wrong_edges))
        # One answer from the device for all checks; the culprit is only looked for if there is one.
        if not torch.stack([mask.any() for mask in masks]).any():
            return

        if wrong_length_B.any():
            row = _first(wrong_length_B)
            raise ShapeError(
                f"lengths_B[{row}] is {int(lengths_B[row])}, "
                f"but words_BT has room for 0 to {width} tokens"
            )
        for name, wrong_E, reason in wrong_edges:
            if wrong_E.any():
                edge = _first(wrong_E)
                span = f"[{int(start_E[edge])}, {int(end_E[edge])})"
                raise ShapeError(
                    f"{name}[{edge}] is {getattr(self, name)[edge].item()} "
                    f"(row {int(row_E[edge])}, span {span}): "
                    + reason.format(length=int(length_E[edge]))
                )
        row, token = divmod(_first(wrong_word_BT.flatten()), width)
        raise ShapeError(
            f"words_BT[{row}, {token}] is {self.words_BT[row, token].item()}: "
            "a log score is a number or −inf"
        )


def _first(wrong: Tensor) -> int:
    """Return the first place where a mask is true, which it is somewhere."""
    return int(wrong.nonzero()[0, 0])
