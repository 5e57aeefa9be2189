"""Damage to any file that lrlm writes is told before the file is used."""

from pathlib import Path

import pytest

from lrlm.artifacts import verify
from tests.damage import KINDS, OF_VERSION_0_1, Kind, folders, untold


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_whole_is_used(tmp_path: Path, kind: Kind) -> None:
    folder = folders(tmp_path)[kind.name]
    check = verify(folder)
    assert (check.damaged, check.unchecked) == ((), ())
    kind.use(folder)


def test_every_flip_and_cut_is_told(tmp_path: Path) -> None:
    assert untold(tmp_path, 14) == []


@pytest.mark.parametrize("name", ["run", "corpus", "graph"])
def test_what_version_0_1_wrote_cannot_be_checked_but_is_used(name: str) -> None:
    check = verify(OF_VERSION_0_1 / name)
    assert check.damaged == ()
    assert str(OF_VERSION_0_1 / name) in check.unchecked
    next(kind for kind in KINDS if kind.name == name).use(OF_VERSION_0_1 / name)
