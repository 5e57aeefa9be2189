"""Every reader of files from outside, each with good files to be changed."""

import bz2
import gzip
import hashlib
import json
import lzma
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

from lrlm.artifacts import MANIFEST
from lrlm.corpora.importers import (
    DocRed,
    WebNlg,
    WikiFacts,
    WikiText,
    import_corpus,
    import_release,
)
from lrlm.corpora.importers.intake import ImportSource
from lrlm.corpora.importers.plain_pickle import load_plain, stream_plain_list
from lrlm.corpora.importers.release_vectors import copy_word_log_probs, read_matrix
from lrlm.corpora.importers.safe_files import elements, files_in
from lrlm.corpora.inputs import BuildInputs, CorpusSource, ReadSettings
from lrlm.corpora.staging import _TABLES, Staging
from lrlm.evaluation.document_scores import read_published_words
from lrlm.features.config import FormVectorConfig
from lrlm.features.fasttext import read_fasttext
from lrlm.features.openke import read_openke
from lrlm.knowledge import Topic
from lrlm.knowledge.extract import KnowledgeFile, extract
from lrlm.knowledge.sources import recognise
from lrlm.runs.config import RunConfig
from lrlm.runs.settings import to_toml
from lrlm.runs.sizes import CHOICES, read_config
from lrlm.tensor_files import read_names, read_tensors
from lrlm.text import Vocabulary
from lrlm.text_files import BadLines, beginning_of
from tests import damage
from tests.corpora.importers import test_docred, test_webnlg, test_wikitext
from tests.generators.archives import TRAIN, pack, wikifacts, write_release
from tests.generators.hostile_files import tensor_file
from tests.generators.hostile_numbers import fasttext_file
from tests.knowledge.hostile_lines import ARTICLE, LINES

_IMPORTED = 25
"""A corpus is linked and written once in so many times."""


@dataclass(frozen=True)
class Reader:
    """Something that reads, and good files for it."""

    name: str
    files: tuple[Path, ...]
    """These may be changed, one at a time."""
    read: Callable[[Path], object]
    """Reads, where the file with this path has been changed."""
    finish: Callable[[bytes], bytes] = bytes
    """What someone who changes a file would do to it in the end."""


def readers(folder: Path) -> Iterator[Reader]:
    """Make all readers, with their files in a folder."""
    for make in (_formats, _tables, _importers, _releases, _knowledge, _folders):
        place = folder / make.__name__.strip("_")
        place.mkdir(parents=True)
        yield from make(place)


def write_openke(folder: Path) -> None:
    """Write three entities, one with a space in its name, and two relations, of width 3."""
    (folder / "entity2id.txt").write_text("3\nQ2\t0\nNew York\t2\nQ1 1\n", encoding="utf-8")
    (folder / "relation2id.txt").write_text("2\nP31 1\nP17 0\n", encoding="utf-8")
    np.arange(9, dtype="<f4").tofile(folder / "entity2vec.bin")
    np.arange(6, dtype="<f4").tofile(folder / "relation2vec.bin")


def _formats(folder: Path) -> Iterator[Reader]:
    """Pickles, tensors, archives, XML: what importers are made of."""
    protocols = {n: pickle.dumps(list(TRAIN), protocol=n) for n in (0, 2, 4)}

    def read_pickle(path: Path) -> None:
        with path.open("rb") as stream:
            repr(load_plain(stream, path.name))
        for item in stream_plain_list(path, path.name):
            repr(item)

    yield Reader(
        "pickles",
        tuple(_written(folder, {f"{n}.pkl": content for n, content in protocols.items()})),
        read_pickle,
    )
    tensors = {"zip.pt": tensor_file(), "legacy.pt": tensor_file(legacy=True)}
    yield Reader(
        "tensors", tuple(_written(folder, tensors)), lambda path: read_matrix(path, path.name)
    )
    content = {"a" * 150: b"one" * 300, "b/c": b"two"}
    yield Reader(
        "archives",
        tuple(pack(folder / f"a.{suffix}", content) for suffix in ("tar", "tar.gz", "tar.bz2")),
        lambda path: [stream.read() for _, stream in files_in(path)],
    )
    text = test_webnlg.entry("Id1", test_webnlg.AIRPORT, test_webnlg.ENRICHED).encode()
    text = b"<?xml version='1.0' encoding='utf-8'?><a>" + text + b"</a>"
    yield Reader(
        "XML",
        tuple(_written(folder, {"a.xml": text, "a.xml.gz": gzip.compress(text, mtime=0)})),
        lambda path: list(elements(path, "entry")),
    )
    (folder / "fast").mkdir()
    config = FormVectorConfig(width=3)
    yield Reader(
        "fastText",
        tuple(_written(folder / "fast", {"a.bin": fasttext_file()})),
        lambda path: read_fasttext(path, config, {"the"}),
    )


def _tables(folder: Path) -> Iterator[Reader]:
    """Files of one kind that users write or that other programs publish."""
    lines = b"Goscinny\t-12.5\nUderzo\t-9.25\n" * 5
    published = _written(folder, {"words.tsv": lines, "words.tsv.gz": gzip.compress(lines)})
    yield Reader(
        "word probabilities",
        tuple(published),
        lambda path: copy_word_log_probs(path, folder / "copy"),
    )
    yield Reader(
        "published words",
        tuple(_written(folder, {"published.tsv": lines[:28]})),
        read_published_words,
    )
    write_openke(folder)
    openke = ("entity2id.txt", "entity2vec.bin", "relation2id.txt", "relation2vec.bin")
    names = frozenset({"New York", "Q1", "Q3"})
    yield Reader(
        "OpenKE",
        tuple(folder / name for name in openke),
        lambda _: read_openke(folder, nodes=names, types=frozenset({"P31"}), width=3),
    )
    topic = {
        "id": "Q585",
        "names": ["Oslo", "Kristiania"],
        "relations": [{"type": "country", "object": "Q20", "forms": ["Norway", "Norge"]}],
    }
    yield Reader(
        "topics",
        tuple(_written(folder, {"topic.json": json.dumps(topic).encode()})),
        Topic.from_json,
    )
    settings = to_toml(RunConfig(), CHOICES).encode()

    def read_settings(path: Path) -> None:
        read_config(path.read_bytes().decode("utf-8", errors="replace"), where=path.name)

    yield Reader(
        "configurations", tuple(_written(folder, {"config.toml": settings})), read_settings
    )
    run = damage.OF_VERSION_0_1 / "run"
    vocabulary = (run / "vocabulary.json").read_bytes()
    yield Reader(
        "vocabularies", tuple(_written(folder, {"vocabulary.json": vocabulary})), Vocabulary.read
    )
    relations = run / "features" / "relations"
    types = (relations / "types.json").read_bytes()
    rows = len(json.loads(types))
    yield Reader(
        "names of rows",
        tuple(_written(folder, {"types.json": types})),
        lambda path: read_names(path, count=rows),
    )
    vectors = (relations / "vectors.safetensors").read_bytes()
    shapes = {"types": (None, None), "objects": (None, None)}
    yield Reader(
        "safetensors",
        tuple(_written(folder, {"vectors.safetensors": vectors})),
        lambda path: read_tensors(path, shapes),
    )


def _importers(folder: Path) -> Iterator[Reader]:
    """Corpora of others, and the files of `lrlm corpus build`, up to their linking."""
    webnlg = test_webnlg.world(folder / "webnlg")
    yield _corpus_reader("WebNLG", folder, tuple(webnlg.rglob("*.xml")), lambda: WebNlg(webnlg))
    names = {"P39": "position", "P20": ["place", "x"]}
    docred = test_docred.write(
        folder / "docred", train=[test_docred.document()] * 2, pid2name=names
    )
    yield _corpus_reader("DocRED", folder, tuple(docred.glob("*.json")), lambda: DocRed(docred))
    facts = pack(folder / "facts.tar", wikifacts(range(3)))
    yield _corpus_reader("WikiFacts", folder, (facts,), lambda: WikiFacts(facts))
    (folder / "wikitext").mkdir()
    tokens, ids, triples, forms = _written(
        folder / "wikitext",
        {
            "wiki.train.tokens": test_wikitext.TOKENS.encode(),
            "ids.tsv": "M-82 (Michigan highway)\tQ1\nE = MC ²\tQ2\n".encode(),
            "triples.tsv": b"Q1\tcountry\tQ3\nQ2\tperformer\tQ4\n",
            "forms.tsv": b"Q3\tUnited States\nQ4\tMariah Carey\n",
        },
    )
    yield _corpus_reader(
        "WikiText",
        folder,
        (tokens, ids, triples, forms),
        lambda: WikiText(tokens, ids, triples=triples, forms=forms),
    )
    (folder / "tables").mkdir()
    articles = "".join(f"{ARTICLE}\n".replace('"Zürich"', f'"Z{n}"', 1) for n in range(3)).encode()
    files = _written(
        folder / "tables",
        {
            "triples.tsv": b"Q12\tcountry\tQ39\tentity\nQ12\tarea\t87.88 km2\tliteral\n",
            "forms.tsv": "Q12\tZürich\nQ39\tSwitzerland\n".encode(),
            "train.jsonl": articles,
            "train.jsonl.gz": gzip.compress(articles, mtime=0),
            "train.jsonl.bz2": bz2.compress(articles),
            "train.jsonl.xz": lzma.compress(articles),
        },
    )

    def read(path: Path) -> None:
        changed = path if "train" in path.name else files[2]
        _fill(BuildInputs(files[0], files[1], {"train": changed}))

    yield Reader("tables and articles", tuple(files), read)


def _corpus_reader(
    name: str, folder: Path, files: tuple[Path, ...], source: Callable[[], ImportSource]
) -> Reader:
    """Read all that a source has, as an import does before it links; at times import it."""
    times = count()

    def read(_: Path) -> None:
        if next(times) % _IMPORTED == 0:
            import_corpus(folder / f"out-{name}", source(), max_bad=0.99, overwrite=True)
        else:
            _fill(source())

    return Reader(name, files, read)


def _fill(source: CorpusSource) -> None:
    staging = _NoDatabase()
    source.fill(staging, ReadSettings(bad_lines=BadLines(max_share=1)))
    staging.finish()


class _NoDatabase(Staging):
    """A staging area that only sees whether its rows could be stored: a database takes long."""

    def __init__(self) -> None:
        self.sample = []
        self._waiting = {table: [] for table in _TABLES}
        self._names = self._articles = 0
        self._files: list[Path] = []

    def _insert(self, table: str) -> None:
        rows = self._waiting[table]
        for column, field in zip(zip(*rows, strict=True), _TABLES[table], strict=False):
            pa.array(column, field.type)
        rows.clear()


def _releases(folder: Path) -> Iterator[Reader]:
    """A release of the paper, to the finished corpus."""
    release = write_release(folder / "release")

    def read(_: Path) -> None:
        import_release(folder / "out", release, max_bad=1, overwrite=True)

    names = (
        "train.pkl", "train.span.pkl", "test.pkl", "rel_names.pkl", "unk_probs.txt",
        "entity_vec.pt",
    )  # fmt: skip
    yield Reader("releases", tuple(release / name for name in names), read)


def _knowledge(folder: Path) -> Iterator[Reader]:
    """Whole files of knowledge, plain and compressed."""
    packed: dict[str, Callable[[bytes], bytes]] = {
        "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress
    }  # fmt: skip

    def read(path: Path) -> None:
        shutil.rmtree(folder / "parts", ignore_errors=True)
        (folder / "parts").mkdir()
        source = KnowledgeFile(path, recognise(str(path), beginning_of(path)))
        extract([source], folder / "parts", language="en", max_bad=1)

    files = {
        f"{format_.name.lower()}{end}": pack("".join(f"{line}\n" for line in lines).encode())
        for format_, lines in LINES.items()
        for end, pack in packed.items()
    }
    yield Reader("files of knowledge", tuple(_written(folder, files)), read)


def _folders(folder: Path) -> Iterator[Reader]:
    """Folders that lrlm wrote: of version 0.1, without checksums, and with those made right."""
    old = folder / "old"
    originals = damage.folders(folder / "new")
    damage.folders(old, with_checksums=False)
    for kind in damage.KINDS:
        place = old / kind.name
        use = kind.use if kind.name != "checkpoints" else _use_copy(kind.use, folder / "copy")
        files = tuple(
            path
            for path in sorted(place.rglob("*"))
            if path.is_file() and not path.name.endswith(kind.for_others)
        )
        yield Reader(f"{kind.name} of version 0.1", files, _using(use, place))
        manifests = tuple(sorted(originals[kind.name].rglob(MANIFEST)))
        yield Reader(
            f"manifests, {kind.name}",
            manifests,
            _using(use, originals[kind.name]),
            finish=_sealed,
        )


def _using(use: Callable[[Path], None], place: Path) -> Callable[[Path], None]:
    return lambda _: use(place)


def _use_copy(use: Callable[[Path], None], copy: Path) -> Callable[[Path], None]:
    """Use a copy of a folder from which what is damaged is removed."""

    def read(place: Path) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(place, copy)
        use(copy)

    return read


def _sealed(manifest: bytes) -> bytes:
    """End a manifest with its SHA-256, as whoever changes it can."""
    head = manifest[: manifest.rfind(b'"', 0, manifest.rfind(b'"'))]
    return head + f'"{hashlib.sha256(head).hexdigest()}"\n}}\n'.encode()


def _written(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]
