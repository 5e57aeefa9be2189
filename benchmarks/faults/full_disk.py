"""Fill the disk under every command that writes: the old output stays, and one line tells."""

import random
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults.full_disk_cases import CASES, Case
from benchmarks.faults.outcome import Outcome, Tally
from tests.processes import Started
from tests.small_disk import NoSmallDiskError, fill, mounted_disk

FULL = dict.fromkeys(CASES, 10)
SHORT = {"packing": 1}

KILOBYTES = 64_000
SECONDS_TO_END = 30.0
TOLD = "the disk is full: there is no room left to write"


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Try every command with random amounts of room, and then with enough."""
    return [try_case(name, folder, count, rng) for name, count in counts.items()]


def try_case(name: str, folder: Path, count: int, rng: random.Random) -> Outcome:
    tally = Tally(f"disk full, {name}: old output intact, one line, exit code not 0", count)
    try:
        with mounted_disk(folder / f"disk-{name}", KILOBYTES) as disk:
            case = CASES[name](folder / name, disk)
            for number in range(count):
                room, failure = attempt(case, number, disk, rng.randrange(case.room))
                tally.add(failure, f"{room:,} bytes of room")
    except NoSmallDiskError as error:
        return tally.outcome(str(error))
    return tally.outcome("with room again, the same command gave what it gives undisturbed")


def attempt(case: Case, number: int, disk: Path, room: int) -> tuple[int, str | None]:
    """Give how little room there was, and what then was not as promised.

    Where the room suffices, half of it is tried.
    """
    case.begin(number)
    filler = fill(disk, leave=room)
    with Started(case.command(), case.folder / "logs") as started:
        started.process.wait()
        seconds = started.seconds_until_nobody_is_left(at_most=SECONDS_TO_END)
        if started.process.returncode == 0 and room:
            return attempt(case, number, disk, room // 2)
        if seconds is None:
            return room, f"{started.alive()} still run"
        failure = complaint(started.process.returncode, started.errors) or case.harm()
    filler.unlink()
    with Started(case.command(), case.folder / "logs") as again:
        again.process.wait()
        if again.process.returncode:
            failure = failure or f"with room: {again.errors}"
    return room, failure or case.shortcoming()


def complaint(code: int, errors: str) -> str | None:
    """Say what is wrong with how a command ended."""
    told = [line for line in errors.splitlines() if line.startswith("lrlm: ")]
    if code == 0:
        return "exit code 0"
    if len(told) != 1 or "Traceback" in errors or not errors.endswith(f"{told[-1]}\n"):
        return f"not one line: {errors}"
    return None if TOLD in told[0] else f"another reason is told: {told[0]}"
