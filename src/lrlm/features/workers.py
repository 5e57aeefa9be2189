"""Make features in processes of their own, several at a time.

What is trained must not depend on the number of cores, so it is trained with one thread; but
PyTorch's number of threads is a setting of the whole process, which belongs to whoever calls us. A
worker is a process that does nothing else. Several of them use several cores, where threads of one
process would mostly wait for each other.

A worker is a new Python that imports only this package: unlike those of `multiprocessing`, it does
not run the caller's script again, and it can be started from anywhere. It reads jobs from its
standard input and writes what happens to its standard output, in lines of JSON. When the process
that started it ends, however it ends, the worker's input ends, and the worker with it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, NoReturn

from lrlm import errors
from lrlm.errors import LrlmError
from lrlm.progress import Progress

try:
    import fcntl
except ImportError:  # a system without POSIX locks: two makers at once do the work twice
    fcntl = None  # type: ignore[assignment]

_CODE = "from lrlm.features import making, workers; workers.serve(making.make)"

_PATIENCE = 5.0
"""Seconds that a worker has to clean up when it is told to stop; then it is killed."""

_SECONDS_BETWEEN_REPORTS = 0.5
"""How often a worker reports progress at most."""

_SECONDS_OF_SILENCE = 2.0
"""After this many seconds without news, the caller is told again what is being done."""


@dataclass(frozen=True)
class Job:
    """One feature that is to be made."""

    kind: str
    """`relation`, `form` or `spelling`."""
    doing: str
    """What the caller is told while it is made."""
    corpus: str
    """Folder of the corpus."""
    config: dict[str, Any]
    """The settings of this kind of feature."""
    folder: str
    """Where the feature is written; it must not be there."""
    made_from: dict[str, Any]
    """What goes into the folder's manifest."""
    threads: int = 1
    """Threads that PyTorch may use."""


_News = tuple[str, int, int] | Job | Future[None]
"""Progress, a job that is done, or a thread that has no more to do."""


def make_all(jobs: Sequence[Job], *, workers: int, progress: Progress) -> None:
    """Make everything that is not there yet; other processes may be making the same.

    What is there when something fails, or on Ctrl-C, is complete, and no worker is left.
    """
    todo: SimpleQueue[Job] = SimpleQueue()
    for job in jobs:
        todo.put(job)
    news: SimpleQueue[_News] = SimpleQueue()
    stopped = threading.Event()

    def employ(worker: _Worker) -> None:
        """Give a worker jobs until there are no more."""
        while not stopped.is_set():
            try:
                job = todo.get_nowait()
            except Empty:
                return
            news.put((job.doing, 0, 0))
            folder = Path(job.folder)
            with _one_at_a_time(folder.with_name(f".{folder.name}.making"), stopped):
                if not folder.exists():  # another process may have made it while we waited
                    worker.make(job, lambda *step: news.put(step))
            news.put(job)

    with ExitStack() as stack:
        crew = [stack.enter_context(_worker()) for _ in range(min(workers, len(jobs)))]
        pool = stack.enter_context(ThreadPoolExecutor(len(crew), "worker"))
        running: list[Future[None]] = []
        try:
            for worker in crew:
                running.append(pool.submit(employ, worker))
                running[-1].add_done_callback(news.put)
            _relay(news, len(running), progress)
        finally:
            stopped.set()
            for worker in crew:
                worker.process.terminate()  # it removes what it has half written
            wait(running, timeout=_PATIENCE)
            for worker in crew:
                worker.process.kill()


def _relay(news: "SimpleQueue[_News]", running: int, progress: Progress) -> None:
    """Tell the caller, in its own thread, what the workers do; raise what goes wrong there."""
    under_way: dict[str, tuple[int, int]] = {}
    while running:
        try:
            item = news.get(timeout=_SECONDS_OF_SILENCE)
        except Empty:
            for doing, (done, total) in under_way.items():
                progress(doing, done, total)
            continue
        if isinstance(item, Future):
            item.result()
            running -= 1
        elif isinstance(item, Job):
            under_way.pop(item.doing, None)
        else:
            doing, done, total = item
            under_way[doing] = done, total
            progress(doing, done, total)


@contextmanager
def _one_at_a_time(path: Path, stopped: threading.Event) -> Iterator[None]:
    """Wait until no other process is making the same."""
    if fcntl is None:
        yield
        return
    # The file stays: removing it could let two processes hold locks on two files of that name.
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stopped.wait(0.1):
                    raise LrlmError("stopped while another process was making the same") from None
        yield


@contextmanager
def _worker() -> Iterator["_Worker"]:
    """Start a worker, and end it with the block."""
    with (
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(  # noqa: S603 - this package in this Python
            [sys.executable, "-P", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
            process_group=0,  # Ctrl-C on a terminal is for the caller, who then stops the worker
        ) as process,
    ):
        try:
            yield _Worker(process, stderr)
        finally:
            process.kill()


class _Worker:
    """A process that does one job after the other, as its caller sees it."""

    def __init__(self, process: "subprocess.Popen[bytes]", stderr: IO[bytes]) -> None:
        self.process = process
        self._stderr = stderr

    def make(self, job: Job, tell: Callable[[str, int, int], None]) -> None:
        """Have a job done; raise what went wrong in the worker."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(asdict(job)).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            self._explain_death(job)
        for line in stdout:
            what, *rest = json.loads(line)
            if what == "progress":
                tell(*rest)
            elif what == "made":
                return
            elif what == "OSError":
                raise OSError(*rest)
            else:
                raise getattr(errors, what, LrlmError)(*rest)
        self._explain_death(job)

    def _explain_death(self, job: Job) -> NoReturn:
        code = self.process.wait()
        self._stderr.seek(0)
        reason = self._stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
        if code < 0:
            reason = f"its process was ended by signal {-code}; is there too little memory?"
        raise LrlmError(f"{job.doing} failed: {reason or 'its process ended'}")


def serve(make: Callable[[Job, Progress], None]) -> None:
    """Do jobs until there are no more: this is what a worker runs."""
    # Both interrupt what is being made, so that what is half written is removed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what a library prints must not get between our lines

        def send(*message: Any) -> None:
            out.write(json.dumps(message).encode() + b"\n")
            out.flush()

        jobs: SimpleQueue[Job | None] = SimpleQueue()
        threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
        try:
            while (job := jobs.get()) is not None:
                try:
                    make(job, _now_and_then(send))
                except LrlmError as error:
                    send(type(error).__name__, str(error))
                except OSError as error:
                    known = (error.errno, error.strerror, error.filename)
                    send("OSError", *(known if error.errno else (str(error),)))
                else:
                    send("made")
        except (KeyboardInterrupt, BrokenPipeError):
            os._exit(1)  # other threads may still compute


def _read_jobs(jobs: "SimpleQueue[Job | None]") -> None:
    """Pass on what the caller sends; when the caller is gone, end what is being made."""
    with os.fdopen(0, "rb", closefd=False) as stdin:
        for line in stdin:
            jobs.put(Job(**json.loads(line)))
    jobs.put(None)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(1)


def _now_and_then(send: Callable[..., None]) -> Progress:
    """Report progress, but not more often than anyone can read."""
    last_time = -float("inf")

    def report(doing: str, done: int, total: int) -> None:
        nonlocal last_time
        now = time.monotonic()
        if now >= last_time + _SECONDS_BETWEEN_REPORTS or (total and done == total):
            last_time = now
            send("progress", doing, done, total)

    return report
