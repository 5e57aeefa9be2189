"""Real processes, really killed: what is resumed ends as if nothing had happened."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lrlm.cli import main
from tests.training import tiny
from tests.training.same_run import difference, lines_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

Start = Callable[..., subprocess.Popen[str]]

LONG = ("--set", "training.epochs=8", "--set", "training.checkpoint_minutes=0.004")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert main(tiny.arguments(corpus, out, *LONG)) == 0
    return out


@pytest.fixture
def start(corpus: Path, tmp_path: Path) -> Iterator[Start]:
    """Start training into `run`; each process is a group of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(*more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            tiny.command(corpus, tmp_path / "run", *LONG, *more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, f"training ended first: {process.communicate()}"
        assert time.monotonic() < end, "the moment did not come"
        time.sleep(0.001)


@pytest.mark.slow
def test_killed_at_all_kinds_of_moments(start: Start, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    checkpoints, lines = out / "checkpoints", lines_of(undisturbed)
    moments: list[Callable[[], bool]] = [
        (tmp_path / ".run.partial").exists,  # before the run's folder is there
        lambda: lines_of(out) >= lines // 6,
        lambda: any(checkpoints.glob(".*.partial/best.safetensors")),
        lambda: any(checkpoints.glob(".*.removed")) or lines_of(out) >= 3 * lines // 4,
    ]
    for moment in moments:
        process = start("--resume")
        wait_until(moment, process)
        process.kill()
        process.wait()
    newest = max(path for path in checkpoints.iterdir() if path.name.isdigit())
    with (newest / "optimiser.safetensors").open("r+b") as file:
        file.seek(-9, os.SEEK_END)
        file.write(b"\0\1\2")
    last = start("--resume")
    output, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    assert f"{newest} is damaged" in errors
    assert "validation perplexity" in output
    assert difference(undisturbed, out) is None


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "Ctrl-C")]
)
def test_asked_to_stop_it_saves_first(
    start: Start, undisturbed: Path, tmp_path: Path, number: signal.Signals, name: str
) -> None:
    out = tmp_path / "run"
    process = start()
    wait_until(lambda: lines_of(out) >= 5, process)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    *_, last = errors.splitlines()
    assert last.startswith(f"lrlm: stopped by {name} in epoch ")
    assert last.endswith("(the same command with --resume continues)")
    again = start("--resume")
    _, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert difference(undisturbed, out) is None


def test_a_second_process_is_refused(start: Start, tmp_path: Path) -> None:
    first = start()
    wait_until(lambda: lines_of(tmp_path / "run") >= 1, first)
    first.send_signal(signal.SIGSTOP)  # so that it is still there when the second comes
    second = start("--resume")
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 2
    assert errors == f"lrlm: another process is writing {tmp_path / 'run'} right now\n"
