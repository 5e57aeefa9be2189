"""Several real processes: one gradient, one decision to stop, and no waiting for the dead."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lrlm.runs.run import Run
from lrlm.training.train import train
from tests.training import tiny
from tests.training.toy_training import make_model, make_trainer
from tests.training.worker import EXACT, gradients

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
