"""A lattice names what is wrong with its tensors."""

import math
from typing import Any

import pytest
import torch

from lrlm.errors import LrlmError, ShapeError
from lrlm.lattice import Lattice

INF = math.inf
NAN = math.nan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"words_BT": torch.zeros(3)},
            r"words_BT must have the shape \(rows, tokens\), not \(3,\)",
        ),
        (
            {"row_E": torch.zeros(2, 1).long()},
            r"row_E must have the shape \(edges,\), not \(2, 1\)",
        ),
        ({"lengths_B": torch.tensor([3])}, r"lengths_B has the shape \(1,\), but \(2,\)"),
        ({"start_E": torch.tensor([0])}, r"start_E has the shape \(1,\), but \(2,\) .* row_E"),
        ({"end_E": torch.tensor([1, 2, 3])}, r"end_E has the shape \(3,\)"),
        ({"score_E": torch.zeros(2, 2)}, r"score_E has the shape \(2, 2\)"),
        ({"words_BT": torch.zeros(2, 3).long()}, r"words_BT holds torch.int64"),
        ({"score_E": torch.zeros(2).long()}, r"score_E holds torch.int64"),
        ({"lengths_B": torch.tensor([3.0, 2.0])}, r"lengths_B holds torch.float32"),
        ({"row_E": torch.tensor([True, False])}, r"row_E holds torch.bool"),
        ({"start_E": torch.zeros(2)}, r"start_E holds torch.float32"),
        ({"end_E": torch.ones(2)}, r"end_E holds torch.float32"),
        ({"score_E": torch.zeros(2, device="meta")}, r"score_E is on meta, but words_BT is on cpu"),
        ({"lengths_B": torch.tensor([3, 4])}, r"lengths_B\[1\] is 4, .* 0 to 3 tokens"),
        ({"lengths_B": torch.tensor([-1, 2])}, r"lengths_B\[0\] is -1"),
        (
            {"row_E": torch.tensor([0, 2])},
            r"row_E\[1\] is 2 \(row 2, span \[0, 2\)\): there are 2 rows",
        ),
        ({"row_E": torch.tensor([-1, 0])}, r"row_E\[0\] is -1"),
        ({"start_E": torch.tensor([-1, 0])}, r"start_E\[0\] is -1 \(row 0, span \[-1, 3\)\)"),
        (
            {"end_E": torch.tensor([1, 2])},
            r"end_E\[0\] is 1 \(row 0, span \[1, 1\)\): .* one token",
        ),
        ({"end_E": torch.tensor([3, 3])}, r"end_E\[1\] is 3 \(row 1, .* beyond the 2 tokens"),
        ({"score_E": torch.tensor([0.0, NAN])}, r"score_E\[1\] is nan \(row 1, span \[0, 2\)\)"),
        ({"score_E": torch.tensor([INF, 0.0])}, r"score_E\[0\] is inf \(row 0, span \[1, 3\)\)"),
        ({"words_BT": torch.tensor([[0.0, 0, 0], [0, NAN, 0]])}, r"words_BT\[1, 1\] is nan"),
        ({"words_BT": torch.tensor([[0.0, INF, 0], [0, 0, 0]])}, r"words_BT\[0, 1\] is inf"),
    ],
)
def test_bad_tensors_are_named(changes: dict[str, Any], message: str) -> None:
    tensors: dict[str, Any] = {
        "words_BT": torch.zeros(2, 3),
        "lengths_B": torch.tensor([3, 2]),
        "row_E": torch.tensor([0, 1]),
        "start_E": torch.tensor([1, 0]),
        "end_E": torch.tensor([3, 2]),
        "score_E": torch.tensor([-1.0, -INF]),
    }
    Lattice(**tensors)
    with pytest.raises(ShapeError, match=message) as caught:
        Lattice(**(tensors | changes))
    assert isinstance(caught.value, LrlmError)


def test_an_edge_without_any_row_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"row_E\[0\] is 0 .* there are 0 rows"):
        Lattice(
            torch.zeros(0, 3),
            torch.zeros(0).long(),
            torch.tensor([0]),
            torch.tensor([0]),
            torch.tensor([1]),
            torch.zeros(1),
        )


def test_values_are_not_looked_at_when_told_so() -> None:
    words_BT, lengths_B = torch.full((1, 1), NAN), torch.tensor([1])
    none, no_score = torch.zeros(0, dtype=torch.long), torch.zeros(0)
    Lattice(words_BT, lengths_B, none, none, none, no_score, checked=False)
    with pytest.raises(ShapeError, match="start_E has the shape"):
        Lattice(words_BT, lengths_B, none, lengths_B, none, no_score, checked=False)
