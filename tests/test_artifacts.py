"""Folders that appear whole or not at all, and what they say of themselves."""

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lrlm import artifacts
from lrlm.artifacts import (
    MANIFEST,
    check_files,
    fingerprint,
    fingerprints_beside,
    fingerprints_in,
    new_folder,
    read_manifest,
    replace_listed,
    rewrite_manifests,
    verify,
    write_manifest,
)
from lrlm.errors import ExistsError, FormatError, InputError


def write(folder: Path, content: str, *, overwrite: bool = False) -> None:
    with new_folder(folder, overwrite=overwrite) as draft:
        (draft / "content").write_text(content, encoding="utf-8")
        write_manifest(draft, format="lrlm test", version=1)


def write_half(folder: Path, trouble: type[BaseException]) -> None:
    with new_folder(folder, overwrite=True) as draft:
        (draft / "content").write_text("half", encoding="utf-8")
        raise trouble


def content(folder: Path) -> str:
    return (folder / "content").read_text(encoding="utf-8")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class StoppedError(Exception):
    """Stands for whatever may go wrong while a folder is being filled."""


def test_a_folder_appears_when_its_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with new_folder(target) as draft:
        (draft / "content").write_text("x", encoding="utf-8")
        assert not target.exists()
    assert names(tmp_path) == ["out"]
    assert content(target) == "x"


@pytest.mark.parametrize("trouble", [StoppedError, KeyboardInterrupt, SystemExit, OSError])
def test_trouble_leaves_nothing(tmp_path: Path, trouble: type[BaseException]) -> None:
    with pytest.raises(trouble):
        write_half(tmp_path / "out", trouble)
    assert names(tmp_path) == []


@pytest.mark.parametrize("trouble", [StoppedError, KeyboardInterrupt])
def test_trouble_leaves_the_old_folder(tmp_path: Path, trouble: type[BaseException]) -> None:
    target = tmp_path / "out"
    write(target, "old")
    with pytest.raises(trouble):
        write_half(target, trouble)
    assert names(tmp_path) == ["out"]
    assert content(target) == "old"


def test_trouble_between_the_two_renames_brings_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write(target, "old")
    rename = Path.rename

    def interrupted(self: Path, new_name: Path) -> Path:
        if self.name.endswith(".partial"):
            raise KeyboardInterrupt
        return rename(self, new_name)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(target, "new", overwrite=True)
    assert names(tmp_path) == ["out"]
    assert content(target) == "old"


def test_an_existing_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "old")
    with pytest.raises(
        ExistsError, match="out exists already; choose another place, or overwrite it"
    ):
        write(target, "new")
    assert content(target) == "old"
    write(target, "new", overwrite=True)
    assert content(target) == "new"
    assert names(tmp_path) == ["out"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    write(target, "x")
    assert content(target) == "x"


def test_files_of_others_are_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="did not write"):
        write(target, "x", overwrite=True)
    assert names(target) == ["chapter"]
    with pytest.raises(InputError, match="is a file"):
        write(target / "chapter", "x", overwrite=True)
    with pytest.raises(InputError, match="make it first"):
        write(tmp_path / "nowhere" / "out", "x")
    assert names(tmp_path) == ["thesis"]


def test_what_a_killed_process_left_is_cleared(tmp_path: Path) -> None:
    draft = tmp_path / ".out.partial"
    draft.mkdir()
    (draft / "half").write_text("x", encoding="utf-8")
    (tmp_path / ".out.lock").touch()
    write(tmp_path / "out", "x")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["content", MANIFEST]


def test_a_kill_between_the_two_renames_is_undone_by_the_next_writer(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "old")
    target.rename(tmp_path / ".out.previous")
    with pytest.raises(
        ExistsError, match="out exists already; choose another place, or overwrite it"
    ):
        write(target, "new")
    assert content(target) == "old"
    target.rename(tmp_path / ".out.previous")
    write(target, "new", overwrite=True)
    assert content(target) == "new"
    assert names(tmp_path) == ["out"]


def test_a_kill_after_the_two_renames_is_cleared_by_the_next_writer(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "current")
    write(tmp_path / ".out.previous", "older")
    write(target, "new", overwrite=True)
    assert content(target) == "new"
    assert names(tmp_path) == ["out"]


def test_a_second_writer_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with new_folder(target) as draft:
        with pytest.raises(InputError, match="another process"):
            write(target, "second")
        (draft / "content").write_text("first", encoding="utf-8")
    assert content(target) == "first"
    assert names(tmp_path) == ["out"]


def test_a_manifest_is_read_back(tmp_path: Path) -> None:
    write_manifest(tmp_path, format="a thing", version=2, made_by="é", counts={"x": 1})
    manifest = read_manifest(tmp_path, format="a thing", version=2, hint="make one")
    assert manifest == {"format": "a thing", "version": 2, "made_by": "é", "counts": {"x": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no manifest.json; make one"),
        ("{", "cannot be read"),
        ("[]", "is not an? a thing; make one"),
        (json.dumps({"format": "another", "version": 1}), "is not an? a thing; make one"),
        (json.dumps({"format": "a thing", "version": 7}), "version 7 .* reads version 1; make one"),
        (json.dumps({"format": "a thing"}), "version None"),
    ],
)
def test_other_folders_are_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_manifest(tmp_path, format="a thing", version=1, hint="make one")


def test_a_manifest_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="cannot be read"):
        read_manifest(tmp_path, format="a thing", version=1, hint="make one")
    with pytest.raises(FormatError, match="no manifest"):
        read_manifest(tmp_path / "nowhere", format="a thing", version=1, hint="make one")


def test_a_fingerprint_is_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    digest = hashlib.sha256(b"abc").hexdigest()
    assert fingerprint(path) == {"name": "file", "bytes": 3, "sha256": digest}


@pytest.mark.skipif(os.name != "posix", reason="file names are text there")
def test_a_file_name_that_is_no_text_can_still_be_written(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        path.write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes only names that are text")
    write_manifest(tmp_path, format="a thing", version=1, inputs=[fingerprint(path)])
    manifest = read_manifest(tmp_path, format="a thing", version=1, hint="")
    assert manifest["inputs"][0]["name"] == "caf\ufffd"


def test_fingerprints_beside_other_work_are_the_same(tmp_path: Path) -> None:
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


def test_ctrl_c_as_soon_as_the_draft_exists_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Path, *arguments: int, mkdir: Callable[..., None] = Path.mkdir) -> None:
        mkdir(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "out"):
        pytest.fail("the block was entered")
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_of_another_program_does_not_make_a_folder_ours(tmp_path: Path) -> None:
    target = tmp_path / "extension"
    target.mkdir()
    for content_ in ('{"manifest_version": 3}', '{"format": "zip"}', "[]", "{"):
        (target / MANIFEST).write_text(content_, encoding="utf-8")
        with pytest.raises(InputError, match="did not write"):
            write(target, "x", overwrite=True)
    assert names(target) == [MANIFEST]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    place, link = tmp_path / "disk" / "real", tmp_path / "out"
    place.mkdir(parents=True)
    link.symlink_to(place)
    write(link, "first")
    write(link, "second", overwrite=True)
    assert link.is_symlink()
    assert content(place) == "second"
    assert names(tmp_path) == ["disk", "out"]


# Files that a manifest lists


def sealed(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_manifest(folder, format="lrlm test", version=1, files=fingerprints_in(folder))
    return folder


def checked(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder, format="lrlm test", version=1, hint="make one")
    check_files(folder, manifest)
    return manifest


def test_a_manifest_lists_files_and_knows_inner_folders_by_their_manifests(tmp_path: Path) -> None:
    sealed(tmp_path / "out" / "inner", deep="1")
    (tmp_path / "out" / "plain").mkdir()
    (tmp_path / "out" / "plain" / "file").write_text("2")
    (tmp_path / "out" / ".hidden").write_text("3")
    folder = sealed(tmp_path / "out", content="x")
    names = [entry["name"] for entry in checked(folder)["files"]]
    assert names == ["content", "inner/manifest.json", "plain/file"]
    (folder / ".hidden").write_text("4")
    (folder / "beside").write_text("nobody wrote this")
    checked(folder)
    assert verify(folder).files == 5
    (folder / "plain" / "file").write_text("5")
    with pytest.raises(FormatError, match=r"plain/file: cannot be read \(it is not as lrlm wrote"):
        checked(folder)
    (folder / "inner" / "deep").write_text("23")
    (folder / "content").unlink()
    damaged = verify(folder).damaged
    assert [Path(line.split(":")[0]).name for line in damaged] == ["deep", "content", "file"]


def test_every_byte_of_a_manifest_counts(tmp_path: Path) -> None:
    folder = sealed(tmp_path / "out", content="x")
    whole = (folder / MANIFEST).read_bytes()
    for place in range(len(whole)):
        for bits in (1, 7, 32, 128):
            other = bytearray(whole)
            other[place] ^= bits
            (folder / MANIFEST).write_bytes(other)
            with pytest.raises(FormatError):
                checked(folder)
        (folder / MANIFEST).write_bytes(whole[:place])
        with pytest.raises(FormatError):
            checked(folder)


@pytest.mark.parametrize(
    "files",
    [
        None,
        "content",
        [None],
        ["content"],
        [{"name": "content"}],
        [{"name": "../content", "bytes": 1, "sha256": ""}],
        [{"name": "/etc/passwd", "bytes": 1, "sha256": ""}],
        [{"name": "", "bytes": 1, "sha256": ""}],
        [{"name": "a\0b", "bytes": 1, "sha256": ""}],
        [{"name": "content", "bytes": "1", "sha256": ""}],
    ],
)
def test_a_list_of_files_has_a_shape(tmp_path: Path, files: object) -> None:
    write_manifest(tmp_path, format="lrlm test", version=1, files=files)
    with pytest.raises(FormatError, match="its list of files is damaged"):
        checked(tmp_path)


def test_a_listed_file_is_replaced_together_with_its_checksum(tmp_path: Path) -> None:
    folder = sealed(tmp_path / "out", content="old", other="same")
    draft = tmp_path / "draft"
    for text in ("new", "new", "newer"):
        draft.write_text(text)
        replace_listed(draft, folder / "content")
        assert content(folder) == text
        assert len(checked(folder)["files"]) == 2
    draft.write_text("first of its name")
    replace_listed(draft, folder / "weights")
    assert [entry["name"] for entry in checked(folder)["files"]] == ["content", "other", "weights"]


@pytest.mark.parametrize("step", range(6))
def test_a_kill_while_a_file_is_replaced_leaves_a_folder_that_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    folder = sealed(tmp_path / "out", content="old")
    (tmp_path / "draft").write_text("new")
    renames = 0
    replace = Path.replace

    def killed(path: Path, target: Path) -> Path:
        """Stop before or after the rename of this step."""
        nonlocal renames
        renames += 1
        if renames == step // 2 + 1 and step % 2 == 0:
            raise StoppedError
        result = replace(path, target)
        if renames == step // 2 + 1:
            raise StoppedError
        return result

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(StoppedError):
        replace_listed(tmp_path / "draft", folder / "content")
    monkeypatch.undo()
    checked(folder)
    assert verify(folder).damaged == ()
    assert content(folder) == ("old" if step < 3 else "new")
    (tmp_path / "draft").write_text("newer")
    replace_listed(tmp_path / "draft", folder / "content")
    assert [entry["bytes"] for entry in checked(folder)["files"]] == [5]


def test_readers_are_not_disturbed_by_a_writer(tmp_path: Path) -> None:
    folder = sealed(tmp_path / "out", content="0")
    manifest = read_manifest(folder, format="lrlm test", version=1, hint="make one")
    with ThreadPoolExecutor(1) as pool:

        def write_many() -> None:
            for number in range(30):
                (tmp_path / "draft").write_text(f"{number}" * number)
                replace_listed(tmp_path / "draft", folder / "content")

        writing = pool.submit(write_many)
        while not writing.done():
            check_files(folder, manifest)
        writing.result()


def test_nothing_to_verify_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        verify(tmp_path / "nowhere")
    (tmp_path / MANIFEST).write_text('{"format": "of another program"}')
    with pytest.raises(InputError, match="holds nothing that lrlm wrote"):
        verify(tmp_path)
    rewrite_manifests(tmp_path)
    assert (tmp_path / MANIFEST).read_text() == '{"format": "of another program"}'
