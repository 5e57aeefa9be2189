"""Several real processes: one gradient, one decision to stop, and no waiting for the dead."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lrlm.runs.run import Run
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.train import train
from tests.processes import ROOT, free_port, is_alive
from tests.training import tiny
from tests.training.toy_training import make_model, make_trainer
from tests.training.worker import EXACT, gradients

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")


def launch(mode: str, folder: Path) -> list[subprocess.Popen[str]]:
    port = free_port()
    return [
        subprocess.Popen(
            [sys.executable, "-m", "tests.training.worker", mode, str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_RANK": str(rank),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "GLOO_SOCKET_IFNAME": "lo",
            },
        )
        for rank in range(2)
    ]


@pytest.fixture
def ended() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are gone after the test, whatever happens in it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_two_learn_as_one_and_resume_as_two(
    ended: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    ended += launch("learn", tmp_path)
    for process in ended:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert all((tmp_path / f"same-{rank}").exists() for rank in range(2))
    two = load_file(tmp_path / "gradients")
    one = gradients(make_trainer(make_model(dropout=0.0), EXACT))
    assert len(one) == len(two) > 5
    for number, gradient in enumerate(one):
        torch.testing.assert_close(gradient, two[str(number)], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("mode", ["die", "hang"])
def test_the_death_of_one_is_told_by_the_other(
    ended: list[subprocess.Popen[str]], tmp_path: Path, mode: str
) -> None:
    ended += launch(mode, tmp_path)
    _, errors = ended[0].communicate(timeout=60)
    assert ended[0].returncode == 2, errors
    assert "another process of this run died or does not answer" in errors
    assert "the run can be resumed" in errors


def await_all(folder: Path, pattern: str, process: subprocess.Popen[str]) -> list[Path]:
    """Wait until there is such a file of both processes."""
    end = time.monotonic() + 90
    while len(found := sorted(folder.glob(pattern))) < 2 or not all(map(os.path.getsize, found)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the moment did not come"
        time.sleep(0.05)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("mode", ["orphan", "prepare"])
def test_nobody_trains_on_when_torchrun_is_killed(
    ended: list[subprocess.Popen[str]], tmp_path: Path, mode: str
) -> None:
    launcher = subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run"),
            *("--nproc-per-node", "2", "--master-port", str(free_port())),
            *("-m", "tests.training.worker", mode, str(tmp_path)),
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    ended.append(launcher)
    workers = [int(path.read_text()) for path in await_all(tmp_path, "pid-*", launcher)]
    assert all(map(is_alive, workers))
    launcher.kill()
    end = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    alive = [pid for pid in workers if is_alive(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert not alive
    if mode == "prepare":
        assert sorted(path.name for path in tmp_path.glob("tidy-*")) == ["tidy-0", "tidy-1"]
        return
    told = [(tmp_path / f"told-{rank}").read_text() for rank in range(2)]
    assert all(each.endswith("everything is saved, and the run can be resumed") for each in told)
    assert any(
        "stopped by the end of the program that started it in epoch" in each for each in told
    )
    checkpoint = Checkpoints(tmp_path / "checkpoints").read()
    assert checkpoint is not None
    assert checkpoint.state["position"]["updates"] >= 3


def test_nobody_waits_for_a_launcher_that_died_before(
    ended: list[subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "of a launcher that is gone")
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    ended += launch("orphan", tmp_path)
    for process in ended:
        _, errors = process.communicate(timeout=40)
        assert process.returncode == 2
        assert "the program that started this process is gone" in errors


def test_torchrun(ended: list[subprocess.Popen[str]], tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path)
    exact = ("model.backbone.dropout=0", "model.relations.unseen_rate=0", "training.epochs=2")
    more = [part for setting in exact for part in ("--set", setting)]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run"),
            *("--nproc-per-node", "2", "--master-port", str(free_port())),
            *("-m", "lrlm", *tiny.arguments(corpus, tmp_path / "two", *more)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    ended.append(process)
    try:
        output, errors = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, errors
    assert output.count("Wrote") == 1
    alone = train(
        corpus,
        tmp_path / "one",
        configure=tiny.configured(*tiny.SETTINGS, *exact),
        features_cache=corpus.parent / "features",
    )
    assert f"validation perplexity {alone.perplexity:.2f}" in output
    for name, weight in Run.open(tmp_path / "two").model.named_parameters():
        other = Run.open(tmp_path / "one").model.get_parameter(name)
        torch.testing.assert_close(weight, other, rtol=0.01, atol=0.001)
