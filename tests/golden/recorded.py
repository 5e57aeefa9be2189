"""Compare what is found with what was recorded."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parent / "recorded.json"
RELATIVE = 1e-5
ABSOLUTE = 1e-7
"""Of numbers that are nearly zero, such as the probability of what nobody would write."""


@cache
def _recorded() -> Any:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def assert_recorded(found: Any, *keys: str) -> None:
    """Compare with what was recorded under these keys; numbers to five digits, all else exactly."""
    expected = _recorded()
    for key in keys:
        expected = expected[key]
    _compare(found, expected, " → ".join(keys))


def _compare(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert list(found) == list(expected), where
        for key, value in expected.items():
            _compare(found[key], value, f"{where} → {key}")
    elif isinstance(expected, list):
        assert isinstance(found, list | tuple), where
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            _compare(one, other, f"{where}[{number}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=RELATIVE, abs=ABSOLUTE), where
    else:
        assert type(found) is type(expected), where
        assert found == expected, where
