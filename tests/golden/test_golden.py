"""Training, scores, annotations, written texts and evaluations are those of version 0.1.

Words, ids and offsets are the same; numbers agree to five digits, as far as machines differ. A test
that fails here says that behaviour has changed: see `record.py` before the numbers are.
"""

from pathlib import Path

import pytest

from tests.golden import behaviour
from tests.golden.recorded import assert_recorded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus of towns; runs and features are put beside it."""
    folder = tmp_path_factory.mktemp("golden")
    behaviour.build_corpus(folder)
    return folder


@pytest.mark.parametrize("backbone", behaviour.BACKBONES)
@pytest.mark.parametrize("kind", behaviour.KINDS)
def test_a_model(kind: str, backbone: str, folder: Path) -> None:
    found = behaviour.of_model(folder, kind, backbone)
    assert sum(line["kind"] == "train" for line in found["losses"]) == 20
    assert_recorded(found["losses"], f"{kind} on {backbone}", "losses", absolute=0)
    assert_recorded(found, f"{kind} on {backbone}")


def test_models_side_by_side(folder: Path) -> None:
    assert_recorded(behaviour.compared(folder), "side by side")


@pytest.mark.parametrize(("kind", "backbone"), [("lrlm", "lstm"), ("nklm", "lstm")])
def test_a_resumed_run_is_the_unbroken_one(kind: str, backbone: str, folder: Path) -> None:
    unbroken = behaviour.train(folder, kind, backbone)
    for epochs in (1, 3, 4):
        pieces = behaviour.train(folder, kind, backbone, name=f"{kind}-pieces", epochs=epochs)
    assert_recorded(behaviour.losses(pieces), f"{kind} on {backbone}", "losses", absolute=0)
    name = "weights.safetensors"
    assert (pieces / name).read_bytes() == (unbroken / name).read_bytes()


def test_the_model_that_comes_with_the_package(tmp_path: Path) -> None:
    assert_recorded(behaviour.of_shipped_model(tmp_path), "shipped")
