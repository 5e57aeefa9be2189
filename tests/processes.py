"""Start real processes, and find everybody again whom they started."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

ROOT = Path(__file__).parents[1]

_MARK = "LRLM_STARTED_BY"


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def free_port() -> int:
    """Give a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def lrlm_command(*arguments: str) -> list[str]:
    """Give the command line of a command of lrlm."""
    return [sys.executable, "-m", "lrlm", *arguments]


class Started:
    """A process in a session of its own, whose offspring is known by a mark in its environment.

    What it writes goes to files, so that it never waits for a reader. At the end of a `with` block
    it and all that it started are killed.
    """

    def __init__(
        self, command: Sequence[str], logs: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._mark = uuid4().hex
        self._output, self._errors = (logs / f"{self._mark}.{name}" for name in ("out", "err"))
        more = {"OMP_NUM_THREADS": "1", **(environment or {}), _MARK: self._mark}
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                env={**os.environ, **more},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for pid in (
            {self.process.pid, *self.alive()} if self.process.poll() is None else self.alive()
        ):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    @property
    def output(self) -> str:
        """What was written to standard output so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    @property
    def errors(self) -> str:
        """What was written to standard error so far."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    @property
    def has_ended(self) -> bool:
        """Whether the process itself is gone."""
        return self.process.poll() is not None

    def alive(self) -> list[int]:
        """Find the process and everybody whom it started, directly or not, if they still run."""
        wanted = f"{_MARK}={self._mark}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return sorted(filter(is_alive, found))

    def wait_until(self, moment: Callable[[], bool], *, seconds: float = 120) -> bool:
        """Wait for a moment; say whether it came before the process ended or the time was up."""
        end = time.monotonic() + seconds
        while not moment():
            if self.has_ended or time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def seconds_until_nobody_is_left(self, *, at_most: float = 30) -> float | None:
        """Wait until all have ended; None where somebody outlives the time."""
        start = time.monotonic()
        while self.alive() or not self.has_ended:
            if time.monotonic() - start > at_most:
                return None
            time.sleep(0.05)
        return time.monotonic() - start
