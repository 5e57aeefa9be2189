"""`lrlm verify`: one line a folder, the damaged files by name, and an exit code."""

import json
from pathlib import Path

import pytest

from lrlm.cli import main
from tests.damage import OF_VERSION_0_1, folders


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folders(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["verify", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_whole_folders_have_a_line_each(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("run", "corpus", "graph", "features", "checkpoints")
    code, output, errors = said(capsys, *(str(home / name) for name in names))
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert len(lines) == len(names)
    assert lines[0].startswith(f"{home / 'run'} (run): whole, ")
    assert lines[2].startswith(f"{home / 'graph'} (knowledge graph): whole, 6 files, ")
    assert lines[4].startswith(f"{home / 'checkpoints'} (folders of lrlm): whole, ")


def test_damaged_files_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("graph/names.parquet", "graph/manifest.json"):
        content = bytearray((home / name).read_bytes())
        content[len(content) // 2] ^= 4
        (home / name).write_bytes(content)
    (home / "corpus" / "words.json").unlink()
    code, output, errors = said(capsys, str(home / "corpus"), str(home / "graph"))
    assert code == 1
    assert f"{home / 'corpus'} (corpus): damaged: 1 file\n" in output
    assert f"{home / 'corpus' / 'words.json'}: cannot be read (it is missing)" in errors
    assert f"{home / 'graph' / 'manifest.json'}: cannot be read (it is not as" in errors
    code, output, errors = said(capsys, "--json", str(home))
    assert (code, errors) == (1, "")
    (found,) = json.loads(output)
    assert found["folder"] == str(home)
    assert found["files"] > 10
    assert len(found["damaged"]) == 2


def test_what_has_no_checksums_or_is_nothing_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output, _ = said(capsys, str(OF_VERSION_0_1 / "graph"))
    assert code == 0
    assert output.endswith("cannot be checked: version 0.1 wrote no checksums\n")
    code, output, _ = said(capsys, str(OF_VERSION_0_1 / "run"))
    assert code == 0
    assert "version 0.1 wrote no checksums" in output
    code, output, errors = said(capsys, str(tmp_path))
    assert (code, output) == (2, "")
    assert "holds nothing that lrlm wrote" in errors
