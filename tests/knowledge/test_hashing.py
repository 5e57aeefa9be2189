"""Hashing beside other work: the same fingerprints, and an end when the other work fails."""

from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from lrlm import artifacts
from lrlm.artifacts import fingerprint
from lrlm.knowledge.hashing import fingerprints_beside


def test_fingerprints_are_those_of_artifacts(tmp_path: Path) -> None:
    paths = [tmp_path / "empty", tmp_path / "lärge"]
    paths[0].touch()
    paths[1].write_bytes(b"some text\n" * 300_000)
    with fingerprints_beside(paths) as prints:
        assert prints.result() == [fingerprint(path) for path in paths]


def test_hashing_ends_with_the_work_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "_CHUNK", 1)
    path = tmp_path / "endless"
    with path.open("wb") as file:
        file.truncate(1 << 34)  # a byte at a time, its hash would take hours
    with pytest.raises(KeyboardInterrupt), fingerprints_beside([path]) as prints:
        raise KeyboardInterrupt
    with pytest.raises(CancelledError):
        prints.result(timeout=0)
