"""Damaged files of every kind that importers read: they are used, or refused by the one error."""

import gzip
import json
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lrlm.corpora.importers import DocRed, WebNlg, WikiFacts, WikiText, import_release
from lrlm.corpora.importers.intake import ImportSource
from lrlm.corpora.importers.plain_pickle import load_plain, stream_plain_list
from lrlm.corpora.importers.release_vectors import copy_word_log_probs, read_matrix
from lrlm.corpora.importers.safe_files import elements, files_in
from lrlm.corpora.inputs import ReadSettings
from lrlm.corpora.staging import Staging
from lrlm.errors import LrlmError
from lrlm.text_files import BadLines
from tests.corpora.importers import test_docred, test_webnlg, test_wikitext
from tests.generators.archives import TRAIN, pack, wikifacts, write_release
from tests.generators.hostile_files import tensor_file
from tests.generators.mutations import mutations

SEED = int(os.environ.get("LRLM_FUZZ_SEED", "1"))
TIMES = int(os.environ.get("LRLM_FUZZ_TIMES", "300"))
WHOLE = max(60, TIMES // 10)
"""How often a whole corpus is read."""


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Python warns of odd escapes in damaged texts, which is no error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def fuzz(path: Path, content: bytes, read: Callable[[Path], object], times: int = TIMES) -> None:
    """Read damaged versions of a file; anything but an error of the library is a failure."""
    path.write_bytes(content)
    read(path)
    told = []
    for changed in mutations(content, times, seed=SEED):
        path.write_bytes(changed)
        try:
            read(path)
        except LrlmError as error:
            told.append(str(error))
    path.write_bytes(content)
    assert all(0 < len(text) < 2000 for text in told)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickles(tmp_path: Path, protocol: int) -> None:
    def read(path: Path) -> None:
        with path.open("rb") as stream:
            repr(load_plain(stream, path.name))
        for item in stream_plain_list(path, path.name):
            repr(item)

    fuzz(tmp_path / "a.pkl", pickle.dumps(list(TRAIN), protocol=protocol), read)


@pytest.mark.parametrize("legacy", [True, False])
def test_tensors(tmp_path: Path, legacy: bool) -> None:
    fuzz(tmp_path / "a.pt", tensor_file(legacy=legacy), lambda path: read_matrix(path, "a.pt"))


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2"])
def test_archives(tmp_path: Path, suffix: str) -> None:
    path = pack(tmp_path / f"a.{suffix}", {"a" * 150: b"one" * 300, "b/c": b"two"})
    fuzz(path, path.read_bytes(), lambda path: [each.read() for _, each in files_in(path)])


@pytest.mark.parametrize("is_compressed", [True, False])
def test_xml(tmp_path: Path, is_compressed: bool) -> None:
    text = test_webnlg.entry("Id1", test_webnlg.AIRPORT, test_webnlg.ENRICHED).encode()
    text = b"<?xml version='1.0' encoding='utf-8'?><a>" + text + b"</a>"
    content = gzip.compress(text, mtime=0) if is_compressed else text
    fuzz(tmp_path / "a.xml", content, lambda path: list(elements(path, "entry")))


def test_word_probabilities(tmp_path: Path) -> None:
    content = b"Goscinny\t-12.5\nUderzo\t-9.25\n" * 5
    fuzz(
        tmp_path / "a.txt",
        gzip.compress(content),
        lambda path: copy_word_log_probs(path, tmp_path / "b"),
    )


def filled(tmp_path: Path, source: ImportSource) -> None:
    """Read all that a source has, as an import does before it links anything."""
    (tmp_path / "staged").mkdir(exist_ok=True)
    for file in (tmp_path / "staged").iterdir():
        file.unlink()
    staging = Staging(tmp_path / "staged", memory="200MB", threads=1)
    try:
        source.fill(staging, ReadSettings(bad_lines=BadLines(max_share=1)))
    finally:
        staging.close()


def test_files_of_webnlg(tmp_path: Path) -> None:
    folder = test_webnlg.world(tmp_path / "webnlg")
    path = next(folder.rglob("*.xml"))
    fuzz(path, path.read_bytes(), lambda _: filled(tmp_path, WebNlg(folder)), WHOLE)


def test_files_of_docred(tmp_path: Path) -> None:
    folder = test_docred.write(tmp_path / "docred", train=[test_docred.document()] * 2)
    path = folder / "train.json"

    def read(_: Path) -> None:
        filled(tmp_path, DocRed(folder))

    fuzz(path, path.read_bytes(), read, WHOLE)
    path.write_text(json.dumps([test_docred.document()]))
    names = folder / "pid2name.json"
    fuzz(names, json.dumps({"P39": "position", "P20": ["place", "x"]}).encode(), read, WHOLE)


def test_files_of_wikifacts(tmp_path: Path) -> None:
    path = pack(tmp_path / "facts.tar", wikifacts(range(3)))
    fuzz(path, path.read_bytes(), lambda path: filled(tmp_path, WikiFacts(path)), WHOLE)


def test_files_of_wikitext(tmp_path: Path) -> None:
    files = {
        "wiki.train.tokens": test_wikitext.TOKENS,
        "ids.tsv": "M-82 (Michigan highway)\tQ1\nE = MC ²\tQ2\n",
        "triples.tsv": "Q1\tcountry\tQ3\nQ2\tperformer\tQ4\n",
        "forms.tsv": "Q3\tUnited States\nQ4\tMariah Carey\n",
    }

    def read(_: Path) -> None:
        source = WikiText(
            tmp_path / "wiki.train.tokens",
            tmp_path / "ids.tsv",
            triples=tmp_path / "triples.tsv",
            forms=tmp_path / "forms.tsv",
        )
        filled(tmp_path, source)

    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name, text in files.items():
        fuzz(tmp_path / name, text.encode(), read, WHOLE)


@pytest.mark.parametrize(
    "name", ["train.pkl", "train.span.pkl", "rel_names.pkl", "unk_probs.txt", "entity_vec.pt"]
)
def test_releases(tmp_path: Path, name: str) -> None:
    folder = write_release(tmp_path / "release")

    def read(_: Path) -> None:
        import_release(tmp_path / "out", folder, max_bad=1, overwrite=True)

    fuzz(folder / name, (folder / name).read_bytes(), read, WHOLE)
