"""Damage to any file that lrlm writes is told before the file is used."""

from pathlib import Path

import pytest

from lrlm.artifacts import verify
from tests.damage import KINDS, MADE, OF_VERSION_0_1, folders, made_folders


def test_what_is_whole_is_used(tmp_path: Path) -> None:
    places = {**folders(tmp_path), **made_folders(tmp_path)}
    for kind in (*KINDS, *MADE):
        check = verify(places[kind.name])
        assert (check.damaged, check.unchecked) == ((), ()), kind
        kind.use(places[kind.name])


@pytest.mark.parametrize("name", ["run", "corpus", "graph"])
def test_what_version_0_1_wrote_cannot_be_checked_but_is_used(name: str) -> None:
    check = verify(OF_VERSION_0_1 / name)
    assert check.damaged == ()
    assert str(OF_VERSION_0_1 / name) in check.unchecked
    next(kind for kind in KINDS if kind.name == name).use(OF_VERSION_0_1 / name)
