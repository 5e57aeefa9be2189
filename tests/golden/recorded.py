"""Compare what is found with what was recorded."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parent / "recorded.json"
RELATIVE = 1e-5
ABSOLUTE = 1e-5
"""Of probabilities and their logarithms: machines differ in the last digits of sums of many."""


@cache
def _recorded() -> Any:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def assert_recorded(found: Any, *keys: str, absolute: float = ABSOLUTE) -> None:
    """Compare with what was recorded under these keys: numbers to five digits, all else exactly.

    All names that were there must still be there, in their order; there may be new ones.
    """
    expected = _recorded()
    for key in keys:
        expected = expected[key]
    _compare(found, expected, " → ".join(keys), absolute)


def _compare(found: Any, expected: Any, where: str, absolute: float) -> None:
    told = f"{where}: {found!r} is not as recorded, {expected!r}"
    if isinstance(expected, dict):
        assert isinstance(found, dict), told
        assert [key for key in found if key in expected] == list(expected), told
        for key, value in expected.items():
            _compare(found[key], value, f"{where} → {key}", absolute)
    elif isinstance(expected, list):
        assert isinstance(found, list | tuple), told
        assert len(found) == len(expected), told
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            _compare(one, other, f"{where}[{number}]", absolute)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=RELATIVE, abs=absolute), told
    else:
        assert type(found) is type(expected), told
        assert found == expected, told
