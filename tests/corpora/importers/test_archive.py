"""Archives from strangers: their files as streams, or refused as a whole."""

import tarfile
from pathlib import Path

import pytest

from lrlm.corpora.importers import archive
from lrlm.corpora.importers.archive import files_in
from lrlm.errors import FormatError, InputError
from tests.generators.archives import link, pack

FILES = {"data/a.txt": b"one", "data/b.txt": b"two" * 1000}


def read(path: Path) -> dict[str, bytes]:
    return {str(name): stream.read() for name, stream in files_in(path)}


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2"])
def test_files_come_in_order(tmp_path: Path, suffix: str) -> None:
    assert read(pack(tmp_path / f"a.{suffix}", FILES)) == FILES


def test_files_need_not_be_read(tmp_path: Path) -> None:
    assert [str(name) for name, _ in files_in(pack(tmp_path / "a.tar.gz", FILES))] == list(FILES)


def test_a_folder_is_read_as_its_archive(tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert read(tmp_path) == FILES


@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a/../../escape", "a\\..\\escape"])
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match="out of its folder"):
        read(pack(tmp_path / "a.tar", {**FILES, name: b"x"}))
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "no file and no folder"),
        (tarfile.FIFOTYPE, "no file and no folder"),
    ],
)
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        read(pack(tmp_path / "a.tar", FILES, link("data/odd", kind)))


@pytest.mark.parametrize("bound", ["LARGEST_FILE", "LARGEST_ARCHIVE"])
def test_sizes_are_bounded(tmp_path: Path, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, bound, 2999)
    with pytest.raises(FormatError, match=r"b\.txt is too large"):
        read(pack(tmp_path / "a.tar.bz2", FILES))


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2"])
def test_truncated_archives_are_refused(tmp_path: Path, suffix: str) -> None:
    path = pack(tmp_path / f"a.{suffix}", FILES)
    content = path.read_bytes()
    path.write_bytes(content[: 2500 if suffix == "tar" else len(content) - 12])
    with pytest.raises(FormatError, match=r"damaged|truncated"):
        read(path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("only text")
    with pytest.raises(FormatError, match="not a tar"):
        read(tmp_path / "a.tar")
    with pytest.raises(InputError, match="no such file or folder"):
        read(tmp_path / "b.tar")
