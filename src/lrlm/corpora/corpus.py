"""Keep linked documents on disk as a corpus: Parquet, one file a split, with a manifest.

    manifest.json      what made it, from which inputs, its options and statistics
    words.json         every word of the training texts with its count
    types.json         what relation types are called; only where they are not their own names
    train.parquet      one row a document; see `columns`
    valid.parquet
    test.parquet

A row holds the whole document, its topic's relations included, so documents can be read in any
order, by any number of processes, and by any tool that reads Parquet.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.artifacts import (
    MANIFEST,
    check_files,
    fingerprint,
    read_manifest,
    write_manifest,
)
from lrlm.corpora.columns import SCHEMA, from_table
from lrlm.corpora.linking import LinkOptions, topic_of
from lrlm.corpora.statistics import SplitStatistics, figures
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import Topic
from lrlm.knowledge.topic import near_matches
from lrlm.plain_data import read_json
from lrlm.text import Vocabulary
from lrlm.text.document import LinkedDocument
from lrlm.text_files import reading

FORMAT = "lrlm corpus"
VERSION = 1
SPLITS = ("train", "valid", "test")
WORDS = "words.json"
TYPES = "types.json"

_HINT = "make one with 'lrlm corpus build' or 'lrlm corpus miniworld'"
_DOCUMENTS_AT_ONCE = 256


class CorpusWriter:
    """Writes documents into a folder, split by split, counting as it goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.statistics: dict[str, SplitStatistics] = {}
        self.type_labels: Mapping[str, str] = {}
        """What relation types are called; those that the documents have are kept."""
        self._types: set[str] = set()
        self._writers: dict[str, pq.ParquetWriter] = {}

    def add(self, split: str, table: pa.Table, statistics: SplitStatistics) -> None:
        """Append documents, given as columns together with their statistics, to a split."""
        if split not in self._writers:
            self._writers[split] = pq.ParquetWriter(
                self.folder / f"{split}.parquet", SCHEMA, compression="zstd"
            )
            self.statistics[split] = SplitStatistics()
        self._writers[split].write_table(table)
        if self.type_labels:
            relations = table.column("relations").combine_chunks().flatten()
            self._types.update(relations.field("type").unique().to_pylist())
        self.statistics[split] += statistics

    def close(self, *, made_by: str, options: LinkOptions, **content: Any) -> None:
        """Finish the files and write the manifest; without it the folder is no corpus."""
        for writer in self._writers.values():
            writer.close()
        train = self.statistics.get("train", SplitStatistics())
        words = Vocabulary.from_counts(train.word_counts, documents=train.documents)
        (self.folder / WORDS).write_text(words.to_json(), encoding="utf-8")
        names = [WORDS, *self._write_types(), *(f"{split}.parquet" for split in self._writers)]
        write_manifest(
            self.folder,
            format=FORMAT,
            version=VERSION,
            made_by=made_by,
            options=options.to_dict(),
            **content,
            splits={
                split: self.statistics[split].to_dict()
                for split in SPLITS
                if split in self.statistics
            },
            files=[fingerprint(self.folder / name) for name in sorted(names)],
        )

    def _write_types(self) -> list[str]:
        """Write the labels of types that are not their own names, if there are any."""
        labels = {
            type_: self.type_labels[type_]
            for type_ in sorted(self._types & self.type_labels.keys())
            if self.type_labels[type_] != type_
        }
        if not labels:
            return []
        text = json.dumps(labels, ensure_ascii=False, indent=0) + "\n"
        (self.folder / TYPES).write_text(text, encoding="utf-8")
        return [TYPES]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            writer.close()


@dataclass(frozen=True)
class BuildReport:
    """What a build did with its input."""

    bad_lines: int
    """Lines, or records of other formats, that could not be used."""
    facts: Mapping[str, int]
    """How many facts were used, and why others were not."""
    misplaced_gold: int
    """Gold mentions that were left out because they cut through a token."""
    left_out: Mapping[str, int]
    """What else of the input is not in the corpus, by the reason."""
    examples: tuple[str, ...] = ()
    """The first thousand bad lines, each with file, line number and reason; known only after the
    build."""
    warnings: tuple[str, ...] = ()
    """What may not be as it was meant, such as topics without facts; known only after the build."""

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> Self:
        """Read what a corpus remembers of its build."""
        counts = manifest.get("counts", {})
        left_out = counts.get("left_out", {})
        linked = {
            "used": sum(split["facts"] for split in manifest["splits"].values()),
            "whose_object_has_no_form": left_out.get("relations without a form", 0),
        }
        return cls(
            counts.get("bad_lines", 0),
            counts.get("facts", linked),
            counts.get("misplaced_gold", 0),
            left_out,
        )


class Corpus:
    """A corpus on disk, opened for reading.

    >>> corpus = Corpus.open("rivers/")
    >>> for document in corpus.documents("train"):
    ...     print(document.title, len(document.tokens), len(document.mentions))
    Rhine (river) 13 5
    Danube 14 2
    >>> corpus.topic("Danube").relations[-1]
    Relation(type='mouth', object='Black_Sea', forms=('Black Sea',))
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest
        self._checked: set[str] = set()
        where = folder / MANIFEST
        try:
            self.options = LinkOptions.from_dict(manifest.get("options"), where=f"{where}, options")
            """How the documents were linked: a text for the same model must be linked like them."""
            self.report = BuildReport.from_manifest(manifest)
            """What the build did with its input."""
            _ = [self.statistics(split) for split in self.splits]
            are_counts = all(_are_counts(manifest["splits"][split]) for split in self.splits)
        except FormatError as error:
            raise FormatError(f"{error}; {_HINT}") from None
        except (AttributeError, KeyError, TypeError):
            are_counts = False
        if not are_counts:
            raise FormatError(f"{where}: the statistics of splits are damaged; {_HINT}")

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a corpus that was built or imported."""
        folder = Path(folder)
        return cls(folder, read_manifest(folder, format=FORMAT, version=VERSION, hint=_HINT))

    def __repr__(self) -> str:
        sizes = (f"{split}={self.statistics(split)['documents']}" for split in self.splits)
        return f"Corpus({str(self.folder)!r}, {', '.join(sizes)})"

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are there, in the usual order."""
        return tuple(split for split in SPLITS if split in self.manifest["splits"])

    @property
    def fingerprint(self) -> str:
        """Names the corpus by the content of its files; what else lies beside them does not matter.

        All files are read for it. What the manifest says of the files is left out, so that a
        corpus has the name that version 0.1, which kept no checksums, gave it.
        """
        names = (WORDS, *self._type_files, *(f"{split}.parquet" for split in SPLITS))
        files = sorted(path for name in names if (path := self.folder / name).is_file())
        digests = [self._manifest_fingerprint(), *(fingerprint(path) for path in files)]
        return hashlib.sha256(json.dumps(digests).encode()).hexdigest()

    def _manifest_fingerprint(self) -> dict[str, Any]:
        if "files" not in self.manifest:
            return fingerprint(self.folder / MANIFEST)
        content = {key: value for key, value in self.manifest.items() if key != "files"}
        text = (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
        digest = hashlib.sha256(text).hexdigest()
        return {"name": MANIFEST, "bytes": len(text), "sha256": digest}

    @cached_property
    def words(self) -> Vocabulary:
        """Every word of the training texts, with its count."""
        self._check(WORDS)
        return Vocabulary.read(self.folder / WORDS)

    @cached_property
    def type_labels(self) -> dict[str, str]:
        """What relation types are called, for those that are not their own names."""
        for name in self._type_files:
            self._check(name)
            labels = read_json(self.folder / name)
            if isinstance(labels, dict) and all(
                isinstance(label, str) and label for label in labels.values()
            ):
                return labels
            raise FormatError(f"{self.folder / name}: not names of relation types; {_HINT}")
        return {}

    @property
    def _type_files(self) -> tuple[str, ...]:
        """The file of type labels, in a corpus that has one."""
        listed = self.manifest.get("files", ())
        return (TYPES,) if any(each["name"] == TYPES for each in listed) else ()

    def distinct_words(self, splits: Iterable[str] | None = None) -> set[str]:
        """Find the distinct words of the texts of some splits, or of all."""
        words: set[str] = set()
        for split in self.splits if splits is None else splits:
            for batch in self.batches(split, ["words"]):
                words.update(batch.column("words").flatten().unique().to_pylist())
        return words

    def require(self, splits: Iterable[str]) -> None:
        """Refuse a corpus that lacks one of these splits, or has no documents in it."""
        for split in splits:
            if not self.statistics(split)["documents"]:
                raise InputError(f"{self.folder}: the split {split!r} has no documents")

    def statistics(self, split: str) -> dict[str, float]:
        """Give the figures of the paper's table of datasets for one split."""
        self._require(split)
        return figures(self.manifest["splits"][split])

    def path(self, split: str) -> Path:
        """Say where a split lies, for tools that read Parquet themselves."""
        self._require(split)
        return self.folder / f"{split}.parquet"

    def _checked_path(self, split: str) -> Path:
        """Say where a split lies, once it is known to be as it was written."""
        path = self.path(split)
        self._check(path.name)
        return path

    def _check(self, name: str) -> None:
        """Compare a file with the manifest before it is first read.

        It is read whole for that, however large it is: that takes a thirtieth of the time that
        making documents of it takes.
        """
        if name not in self._checked:
            try:
                check_files(self.folder, self.manifest, (name,))
            except FormatError as error:
                raise FormatError(f"{error}; build the corpus again") from None
            self._checked.add(name)

    def documents(self, split: str) -> Iterator[LinkedDocument]:
        """Read the documents of a split one after the other, in order."""
        path = self._checked_path(split)
        with _opened(path) as file:
            for batch in file.iter_batches(batch_size=64):
                yield from from_table(batch, self.type_labels)

    def batches(self, split: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns of a split, a batch of documents at a time."""
        path = self._checked_path(split)
        with _opened(path) as file:
            yield from file.iter_batches(batch_size=_DOCUMENTS_AT_ONCE, columns=list(columns))

    def document(self, article: str) -> LinkedDocument:
        """Find one document by its id."""
        found = self.first_where("id", article)
        if found is None:
            raise InputError(f"{self.folder} has no article {article!r}")
        return found

    def topic(self, id: str) -> Topic:  # noqa: A002
        """Find a topic that an article is about, with all that was known about it.

        It is found by its id; or by its id in other letter case or the title of its article, if
        only one topic has that.
        """
        found = self.first_where("topic", id)
        if found is None:
            titles = self._titles()
            named = {
                topic
                for topic, title in titles
                if id.casefold() in (topic.casefold(), title.casefold())
            }
            if len(named) != 1:
                known = [name for pair in titles for name in dict.fromkeys(pair)]
                raise InputError(f"{self.folder} has no topic {id!r}" + near_matches(id, known))
            found = self.first_where("topic", named.pop())
        assert found is not None
        return topic_of(found)

    def _titles(self) -> list[tuple[str, str]]:
        """List the topic and the title of every article."""
        return [
            pair
            for split in self.splits
            for batch in self.batches(split, ["topic", "title"])
            for pair in zip(
                batch.column("topic").to_pylist(), batch.column("title").to_pylist(), strict=True
            )
        ]

    def topics(self) -> Iterator[Topic]:
        """Give every topic that an article is about, once."""
        seen: set[str] = set()
        for split in self.splits:
            for document in self.documents(split):
                if document.topic not in seen:
                    seen.add(document.topic)
                    yield topic_of(document)

    def first_where(self, column: str, value: str) -> LinkedDocument | None:
        """Find the first document with this id, topic or title."""
        for split in self.splits:
            path = self._checked_path(split)
            with _opened(path):
                found = pq.read_table(path, filters=[(column, "=", value)])
                if len(found):
                    return next(from_table(found.slice(0, 1), self.type_labels))
        return None

    def _require(self, split: str) -> None:
        if split not in self.splits:
            known = ", ".join(self.splits) or "none"
            raise InputError(f"{self.folder} has no split {split!r}; it has: {known}")


def _are_counts(values: Mapping[str, Any]) -> bool:
    return all(type(value) is int and value >= 0 for value in values.values())


def _check_columns(file: pq.ParquetFile, path: Path) -> None:
    if not file.schema_arrow.equals(SCHEMA):
        raise FormatError(f"{path}: its columns are not those of a corpus")


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a split; name the file when it cannot be read, or is not what a corpus holds."""
    try:
        with reading(path), pq.ParquetFile(path) as file:
            _check_columns(file, path)
            yield file
    except pa.ArrowException as error:  # those that are of no other kind
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: cannot be read ({reason}); build the corpus again") from None
    except FormatError as error:
        raise FormatError(f"{error}; build the corpus again") from None
