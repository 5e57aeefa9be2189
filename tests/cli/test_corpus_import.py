"""`lrlm corpus import`, as a user runs it: what it says, and how it refuses."""

import json
import os
import pickle
import re
import tarfile
from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.corpora.corpus import Corpus
from tests.corpora.importers import test_docred, test_webnlg, test_wikitext
from tests.generators.archives import contents, link, pack, wikifacts, write_release

FORMATS = ("release", "wikitext", "wikifacts", "webnlg", "docred")


def run(*arguments: object) -> int:
    return main(["corpus", "import", *map(str, arguments)])


def source(kind: str, folder: Path) -> list[object]:
    """Make something to import, and give it with the options that it needs."""
    if kind == "release":
        return [write_release(folder)]
    if kind == "wikifacts":
        return [pack(folder.with_suffix(".tar.bz2"), wikifacts())]
    if kind == "webnlg":
        return [test_webnlg.world(folder), "--workers", 1]
    if kind == "docred":
        return [test_docred.write(folder, dev=[test_docred.document()]), "--workers", 1]
    test_wikitext.write(folder)
    tables = ["--triples", folder / "triples.tsv", "--forms", folder / "forms.tsv"]
    return [folder, "--ids", folder / "ids.tsv", *tables, "--form", "F", "--workers", 1]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_becomes_a_corpus(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = source(kind, tmp_path / "in")
    assert run(kind, *arguments, "--out", tmp_path / "out") == 0
    output, errors = capsys.readouterr()
    assert output.startswith("Wrote ")
    assert "Traceback" not in errors
    corpus = Corpus.open(tmp_path / "out")
    assert corpus.manifest["made_by"].startswith(f"lrlm corpus import {kind}")
    assert main(["corpus", "stats", str(tmp_path / "out"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert set(figures) == set(corpus.splits)
    assert main(["corpus", "show", str(tmp_path / "out"), "--split", corpus.splits[0]]) == 0
    assert run(kind, *arguments, "--out", tmp_path / "out") == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(kind, *arguments, "--out", tmp_path / "out", "--overwrite") == 0


@pytest.mark.parametrize("kind", FORMATS)
def test_help_has_an_example(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kind, "--help") == 0
    assert f"lrlm corpus import {kind}" in " ".join(capsys.readouterr().out.split())


def test_what_is_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("release", write_release(tmp_path / "in"), "--out", tmp_path / "out") == 0
    errors = capsys.readouterr().err
    assert re.search(r"left out: spans whose tokens .* \(5\)\n", errors)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_missing_file_is_one_line(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--ids", tmp_path / "ids", "--graph", tmp_path] if kind == "wikitext" else []
    assert run(kind, tmp_path / "none", *options, "--out", tmp_path / "out") == 2
    errors = capsys.readouterr().err
    assert errors.startswith("lrlm: ")
    assert errors.count("\n") == 1
    assert "there is no such file" in errors


def hostile(tmp_path: Path, attack: str) -> tuple[str, Path]:
    """Make an input that tries something; the second is what to import, the first how."""
    files = contents(write_release(tmp_path / "in" / "release"))
    path = tmp_path / "in" / "evil.tar.bz2"
    if attack == "traversal":
        return "release", pack(path, {**files, "../../escaped.pkl": b"x"})
    if attack == "absolute":
        return "wikifacts", pack(path, {**wikifacts(), "/tmp/escaped": b"x"})
    if attack == "link":
        return "release", pack(path, files, link("train.pkl", tarfile.SYMTYPE))
    if attack == "device":
        return "wikifacts", pack(path, wikifacts(), link("1.m.1.sm", tarfile.CHRTYPE))
    if attack == "class":
        mark = str(tmp_path / "executed")
        evil = b"cposix\nsystem\n(V" + f"touch {mark}".encode() + b"\ntR."
        return "release", pack(path, {**files, "train.pkl": evil})
    if attack == "object":
        return "release", pack(path, {**files, "rel_names.pkl": pickle.dumps(Path("x"))})
    if attack == "tensor":
        return "release", pack(path, {**files, "entity_vec.pt": pickle.dumps(os.system)})
    if attack == "truncated":
        pack(path, files).write_bytes(path.read_bytes()[:-20])
        return "release", path
    xml = tmp_path / "in" / "evil.xml"
    xml.write_text(
        '<!DOCTYPE a [<!ENTITY b "xxxx"><!ENTITY c "&b;&b;&b;&b;">]><a><entry>&c;</entry></a>'
    )
    return "webnlg", xml


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("traversal", "out of its folder"),
        ("absolute", "out of its folder"),
        ("link", "holds a link"),
        ("device", "no file and no folder"),
        ("class", "would load posix.system"),
        ("object", "would load pathlib"),
        ("tensor", "would load posix.system"),
        ("truncated", "damaged or truncated"),
        ("entities", "document type or entities"),
    ],
)
def test_hostile_input_is_refused_and_touches_nothing(
    tmp_path: Path, attack: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, path = hostile(tmp_path, attack)
    before = sorted(tmp_path.rglob("*"))
    (tmp_path / "target").mkdir()
    assert run(kind, path, "--out", tmp_path / "target" / "out") == 2
    errors = capsys.readouterr().err
    assert errors.startswith("lrlm: ")
    assert errors.count("\n") == 1
    assert reason in errors
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "target"])
