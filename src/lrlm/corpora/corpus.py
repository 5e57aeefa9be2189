"""The corpus on disk: linked documents in and out as Parquet, one file a split, with a manifest.

    manifest.json      what made it, from which inputs, its options and statistics
    words.json         every word of the training texts with its count
    train.parquet      one row a document; the columns are those of `SCHEMA`
    valid.parquet
    test.parquet

A row holds the whole document, its topic's relations included, so documents can be read in any
order, by any number of processes, and by any tool that reads Parquet.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from lrlm.artifacts import MANIFEST, read_manifest, write_manifest
from lrlm.corpora.linking import LetterCase, LinkOptions
from lrlm.corpora.statistics import SplitStatistics, figures
from lrlm.errors import FormatError, InputError
from lrlm.text import Profile, Tokens, Vocabulary
from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument, Mention

FORMAT = "lrlm corpus"
VERSION = 1
SPLITS = ("train", "valid", "test")
WORDS = "words.json"

_DOCUMENTS_AT_ONCE = 256

_RELATION = pa.struct(
    [
        ("type", pa.string()),
        ("object", pa.string()),
        ("forms", pa.list_(pa.list_(pa.string()))),
        ("texts", pa.list_(pa.string())),
    ]
)
_MENTION = pa.struct([(name, pa.int32()) for name in Mention._fields])
_GOLD = pa.struct(
    [("start", pa.int32()), ("end", pa.int32()), ("type", pa.string()), ("object", pa.string())]
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("topic", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("words", pa.list_(pa.string())),
        ("starts", pa.list_(pa.int32())),
        ("ends", pa.list_(pa.int32())),
        ("relations", pa.list_(_RELATION)),
        ("mentions", pa.list_(_MENTION)),
        ("gold", pa.list_(_GOLD)),
    ]
)


def to_table(documents: Iterable[LinkedDocument]) -> pa.Table:
    """Lay documents out in the corpus's columns."""
    rows = [
        {
            "id": document.id,
            "topic": document.topic,
            "title": document.title,
            "text": document.text,
            "words": document.tokens.words,
            "starts": document.tokens.starts,
            "ends": document.tokens.ends,
            "relations": [
                {
                    "type": relation.type,
                    "object": relation.object,
                    "forms": relation.forms,
                    "texts": relation.texts,
                }
                for relation in document.relations
            ],
            "mentions": [mention._asdict() for mention in document.mentions],
            "gold": None if document.gold is None else [gold._asdict() for gold in document.gold],
        }
        for document in documents
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def from_table(table: pa.Table | pa.RecordBatch) -> Iterator[LinkedDocument]:
    """Read documents back from the corpus's columns."""
    for row in table.to_pylist():
        yield LinkedDocument(
            id=row["id"],
            topic=row["topic"],
            title=row["title"],
            text=row["text"],
            tokens=Tokens(row["words"], row["starts"], row["ends"]),
            relations=tuple(
                LinkableRelation(
                    relation["type"],
                    relation["object"],
                    tuple(tuple(form) for form in relation["forms"]),
                    tuple(relation["texts"]),
                )
                for relation in row["relations"]
            ),
            mentions=tuple(Mention(**mention) for mention in row["mentions"]),
            gold=(
                None if row["gold"] is None else tuple(GoldMention(**gold) for gold in row["gold"])
            ),
        )


class CorpusWriter:
    """Writes documents into a folder, split by split, counting as it goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.statistics: dict[str, SplitStatistics] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}

    def add(self, split: str, table: pa.Table, statistics: SplitStatistics) -> None:
        """Append documents, given as columns together with their statistics, to a split."""
        if split not in self._writers:
            self._writers[split] = pq.ParquetWriter(
                self.folder / f"{split}.parquet", SCHEMA, compression="zstd"
            )
            self.statistics[split] = SplitStatistics()
        self._writers[split].write_table(table)
        self.statistics[split] += statistics

    def close(self, *, made_by: str, options: LinkOptions, **content: Any) -> None:
        """Finish the files and write the manifest; without it the folder is no corpus."""
        for writer in self._writers.values():
            writer.close()
        train = self.statistics.get("train", SplitStatistics())
        words = Vocabulary.from_counts(train.word_counts, documents=train.documents)
        (self.folder / WORDS).write_text(words.to_json(), encoding="utf-8")
        write_manifest(
            self.folder,
            format=FORMAT,
            version=VERSION,
            made_by=made_by,
            options={
                "profile": options.profile.value,
                "letter_case": options.letter_case.value,
                "stop_words": options.stop_words,
            },
            **content,
            splits={
                split: self.statistics[split].to_dict()
                for split in SPLITS
                if split in self.statistics
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            writer.close()


class Corpus:
    """A corpus folder, opened for reading."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        hint = "make one with 'lrlm corpus build' or 'lrlm corpus miniworld'"
        self.manifest = read_manifest(self.folder, format=FORMAT, version=VERSION, hint=hint)
        try:
            _ = self.options, [self.statistics(split) for split in self.splits]
        except (KeyError, TypeError, ValueError):
            raise FormatError(
                f"{self.folder / MANIFEST} does not say what a corpus says; {hint}"
            ) from None

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are there, in the usual order."""
        return tuple(split for split in SPLITS if split in self.manifest["splits"])

    @property
    def options(self) -> LinkOptions:
        """How the documents were linked: another text must be linked in the same way."""
        options = self.manifest["options"]
        return LinkOptions(
            Profile(options["profile"]), LetterCase(options["letter_case"]), options["stop_words"]
        )

    @cached_property
    def words(self) -> Vocabulary:
        """Every word of the training texts, with its count."""
        return Vocabulary.read(self.folder / WORDS)

    def statistics(self, split: str) -> dict[str, float]:
        """Give the figures of the paper's table of datasets for one split."""
        self._require(split)
        return figures(self.manifest["splits"][split])

    def path(self, split: str) -> Path:
        """Where a split lies, for tools that read Parquet themselves."""
        self._require(split)
        return self.folder / f"{split}.parquet"

    def documents(self, split: str) -> Iterator[LinkedDocument]:
        """Read the documents of a split one after the other, in order."""
        path = self.path(split)
        with _readable(path), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=64):
                yield from from_table(batch)

    def batches(self, split: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns of a split, a batch of documents at a time."""
        path = self.path(split)
        with _readable(path), pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=_DOCUMENTS_AT_ONCE, columns=list(columns))

    def document(self, article: str) -> LinkedDocument:
        """Find one document by its id."""
        found = self.first_where("id", article)
        if found is None:
            raise InputError(f"{self.folder} has no article {article!r}")
        return found

    def first_where(self, column: str, value: str) -> LinkedDocument | None:
        """Find the first document with this id, topic or title."""
        for split in self.splits:
            with _readable(self.path(split)):
                found = pq.read_table(self.path(split), filters=[(column, "=", value)])
            if len(found):
                return next(from_table(found.slice(0, 1)))
        return None

    def _require(self, split: str) -> None:
        if split not in self.splits:
            known = ", ".join(self.splits) or "none"
            raise InputError(f"{self.folder} has no split {split!r}; it has: {known}")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name the file when it cannot be read, or is not what a corpus holds."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: cannot be read ({reason}); build the corpus again") from None
