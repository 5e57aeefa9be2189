"""Files that appear whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lrlm.whole_files import new_file, replace_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with new_file(path) as file:
        file.write(b"one ")
        assert not path.exists()
        file.write(b"two")
    assert path.read_bytes() == b"one two"
    with pytest.raises(KeyboardInterrupt):
        write_half_a_file(path)
    assert path.read_bytes() == b"one two"
    assert names(tmp_path) == ["file"]


def write_half_a_file(path: Path) -> None:
    with new_file(path) as file:
        file.write(b"three")
        raise KeyboardInterrupt


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_the_file_that_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    file, alias = place / "file", tmp_path / "alias"
    file.write_text("old")
    alias.symlink_to(file)
    replace_file(alias, b"new")
    assert alias.is_symlink()
    assert file.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as beside:
        read = beside.submit(pipe.read_bytes)
        replace_file(pipe, b"content")
        assert read.result() == b"content"
    assert pipe.is_fifo()


def test_two_writers_of_a_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with new_file(path) as one, new_file(path) as other:
        one.write(b"one")
        other.write(b"other")
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["out"]


def test_a_file_that_cannot_be_written_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        replace_file(tmp_path / "out", b"x")
    assert names(tmp_path) == []
