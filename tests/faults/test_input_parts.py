"""The short version of every part of `benchmarks.faults` that is about inputs: all of it holds."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.faults import bad_lines, damage, hostile_files, many_texts, mutations, shared_model
from benchmarks.faults.outcome import Outcome

Run = Callable[[Path, Mapping[str, int], random.Random], list[Outcome]]


@pytest.mark.parametrize(
    ("run", "counts"),
    [
        (damage.run, damage.SHORT),
        (bad_lines.run, bad_lines.SHORT),
        pytest.param(hostile_files.run, hostile_files.SHORT, marks=pytest.mark.slow),
        (shared_model.run, shared_model.SHORT),
    ],
    ids=["damage", "bad lines", "hostile files", "shared model"],
)
def test_all_of_a_part_holds(run: Run, counts: Mapping[str, int], tmp_path: Path) -> None:
    for outcome in run(tmp_path, counts, random.Random(1)):
        assert outcome.tried > 0
        assert (outcome.failures, outcome.held) == ((), outcome.tried), outcome.promise


def test_many_texts_take_no_more_memory(tmp_path: Path) -> None:
    memory, time = many_texts.run(tmp_path, many_texts.SHORT, random.Random(1))
    assert memory.held == memory.tried, memory.note
    assert time.tried == many_texts.SHORT["texts"]  # of which too few are read to time them well


@pytest.mark.slow
def test_mutations_hold_and_a_crash_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["no such reader", *mutations._trials(tmp_path / "names")]
    monkeypatch.setattr(mutations, "_trials", lambda _: names)
    died, *others = mutations.run(tmp_path, mutations.SHORT, random.Random(1))
    assert "died with 1" in died.failures[0]
    assert len(others) > 30
    for outcome in others:
        assert (outcome.failures, outcome.held) == ((), outcome.tried), outcome.promise
