"""Short versions of the parts of `python -m benchmarks.faults`: real processes and real disks.

Kills of training, alone and under `torchrun`, are in tests/training/test_kills.py and
tests/training/test_processes.py.
"""

import os
import sys
from pathlib import Path

import pytest

from benchmarks.faults import __main__ as faults
from benchmarks.faults.outcome import Outcome, Tally

pytestmark = pytest.mark.skipif(
    os.name != "posix" or not Path("/proc/self/environ").exists(), reason="signals, and /proc"
)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["full_disk", "killed_builds", "one_hash"])
def test_promises_are_held(part: str) -> None:
    outcomes = faults.run_part(part, short=True, seed=1)
    assert [outcome.failures for outcome in outcomes if not outcome.is_held] == []
    if not any(outcome.tried for outcome in outcomes):
        pytest.skip(outcomes[0].note)


def test_a_tally_counts_what_was_held_and_keeps_what_was_not() -> None:
    tally = Tally("never", 30)
    for number in range(30):
        tally.add("it\nbroke" if number % 5 else None, f"trial {number}")
    outcome = tally.outcome("a note")
    assert (outcome.tried, outcome.held, outcome.is_held) == (30, 6, False)
    assert len(outcome.failures) == 20
    assert outcome.failures[0] == "trial 1: it broke"
    assert Outcome("not tried", 0, 0, ()).is_held


@pytest.mark.parametrize(("held", "code"), [(2, 0), (1, 1)])
def test_the_table_and_the_exit_code(
    held: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run_part(name: str, *, short: bool, seed: int) -> list[Outcome]:
        failures = () if held == 2 else (f"{name} [{seed}]",)
        return [Outcome("a promise", 2, held, failures, "a note"), Outcome("other", 0, 0, ())]

    monkeypatch.setattr(faults, "run_part", run_part)
    report = tmp_path / "report.json"
    monkeypatch.setattr(sys, "argv", ["faults", "one_hash", "--seed", "7", "--json", str(report)])
    assert faults.main() == code
    shown = capsys.readouterr().out
    assert "a promise" in shown
    assert "not tried" in shown
    assert ("one_hash [7]" in shown) == (held == 1)
    assert '"held": ' in report.read_text()


def test_the_parts_are_listed_and_others_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["faults", "--list"])
    assert faults.main() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*faults.PARTS]
    monkeypatch.setattr(sys, "argv", ["faults", "earthquake"])
    with pytest.raises(SystemExit):
        faults.main()
    assert "there is no part 'earthquake'" in capsys.readouterr().err
