"""Change good files at random and read them: whatever comes, it is one of the library's errors.

Every reader has good files (`tests.readers`), which are changed in one to four places and read. A
reader may use what it is given or refuse it by an `LrlmError`; another exception, a message that
is no message, a crash of the process or more than half a minute is a failure. Lines are changed
between good ones, which must be read as ever (`tests.knowledge.hostile_lines`). Readers run in
processes of their own, for they may crash.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.faults.outcome import Outcome

FULL = {"each": 20_000, "processes": 2}
SHORT = {"each": 40, "processes": 1}

_SECONDS = 30
_MOST_FAILURES = 5
_LONGEST_MESSAGE = 2000
_CURRENT = "current"
_PROMISE = "mutations: {}: nothing but LrlmError"


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Change the files of every reader so many times."""
    names = list(_trials(folder / "names"))
    seed = rng.randrange(1 << 30)
    processes = counts["processes"]
    with ThreadPoolExecutor(processes) as pool:
        shares = [names[part::processes] for part in range(processes)]
        places = [folder / f"process-{part}" for part in range(processes)]
        found = dict(
            pair
            for pairs in pool.map(
                lambda share, place: list(_try_all(share, counts["each"], seed, place)),
                shares,
                places,
            )
            for pair in pairs
        )
    return [found[name] for name in names]


def _try_all(
    names: list[str], count: int, seed: int, folder: Path
) -> Iterator[tuple[str, Outcome]]:
    """Try readers in a process; where one makes it crash, go on behind it in another."""
    left = list(names)
    while left:
        folder.mkdir(exist_ok=True)
        arguments = [str(folder), str(count), str(seed), *left]
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.faults.mutations", *arguments]
        with (folder / "stderr").open("w+") as stderr:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
            assert process.stdout is not None
            with process, process.stdout:
                for line in process.stdout:
                    told = json.loads(line)
                    left.remove(told["name"])
                    yield told["name"], _outcome(**told)
        if left:
            name = left.pop(0)
            tried, what = _current(folder)
            end = (folder / "stderr").read_text()[-200:]
            failure = f"{name}, {tried}: died with {process.returncode} at {what}: {end}"
            yield name, _outcome(name=name, tried=tried, failures=[failure], held=tried - 1)


def _outcome(*, name: str, tried: int, failures: list[str], held: int) -> Outcome:
    return Outcome(_PROMISE.format(name), tried, held, tuple(failures))


def _current(folder: Path) -> tuple[int, str]:
    """Which trial was running when a process died."""
    try:
        number, what = (folder / _CURRENT).read_text().split(" ", 1)
    except (OSError, ValueError):
        return 1, "its beginning"
    return int(number), what


Trial = Callable[[int, int, Path], Iterator[str]]
"""Tries a reader so many times with a seed; gives what did not hold. Notes in the folder where it
is."""


def _trials(folder: Path) -> dict[str, Trial]:
    """Give all readers by name; their files lie in a folder."""
    from tests.knowledge.hostile_lines import LINES, PARSERS, faults_of_lines, faults_of_source
    from tests.readers import readers

    found: dict[str, Trial] = {}
    for format_ in LINES:
        found[f"lines of {format_.value}"] = (
            lambda count, seed, _, format_=format_: faults_of_source(format_, count, seed)  # type: ignore[misc]
        )
    for parse in PARSERS:
        found[f"lines by {parse.__name__}"] = (
            lambda count, seed, _, parse=parse: faults_of_lines(parse, count, seed)  # type: ignore[misc]
        )
    for reader in readers(folder):
        found[reader.name] = (
            lambda count, seed, place, reader=reader: _faults(reader, count, seed, place)  # type: ignore[misc]
        )
    return found


def _faults(reader: Any, count: int, seed: int, folder: Path) -> Iterator[str]:
    """Change the files of a reader in turn; give what is not as it should be."""
    from lrlm.errors import LrlmError
    from tests.generators.mutations import mutations

    contents = [path.read_bytes() for path in reader.files]
    changed = [mutations(each, count, seed=seed + n) for n, each in enumerate(contents)]
    for path in reader.files:
        reader.read(path)  # what is whole is used
    for number in range(count):
        which = number % len(contents)
        path = reader.files[which]
        path.write_bytes(reader.finish(next(changed[which])))
        (folder / _CURRENT).write_text(f"{number + 1} {path}")
        signal.alarm(_SECONDS)
        try:
            reader.read(path)
        except LrlmError as error:
            if not 0 < len(str(error)) < _LONGEST_MESSAGE:
                yield _kept(folder, path, number, f"a message of {len(str(error))} characters")
        except Exception as error:  # noqa: BLE001  it is given
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {str(error)[:150]}"
            place = f"{Path(where.filename).name}:{where.lineno}"
            yield _kept(folder, path, number, f"{what} ({place})")
        finally:
            signal.alarm(0)
            path.write_bytes(contents[which])


def _kept(folder: Path, path: Path, number: int, what: str) -> str:
    """Keep a file that made trouble, and say what it did."""
    kept = folder.parent / "kept" / f"{number}-{path.name}"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(path.read_bytes())
    return f"{path.name}, {number}: {what}"


def _stop(*_: object) -> None:
    raise TimeoutError(f"more than {_SECONDS} seconds")


def _nothing(fd: object) -> None:
    """Do nothing with a file."""
    del fd


def _main(place: str, count: str, seed: str, *names: str) -> None:
    warnings.simplefilter("ignore")
    os.fsync = _nothing  # nothing here needs to survive, and waiting takes long
    signal.signal(signal.SIGALRM, _stop)
    folder = Path(place)
    # Readers must not find what an earlier process left.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        trials = _trials(Path(scratch) / "files")
        for name in names:
            failures: list[str] = []
            failed = 0
            for failure in trials[name](int(count), int(seed), folder):
                failed += 1
                failures += [failure] * (len(failures) < _MOST_FAILURES)
            told = {"name": name, "tried": int(count), "held": int(count) - failed}
            sys.stdout.write(json.dumps({**told, "failures": failures}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])
