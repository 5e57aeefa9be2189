"""What a corpus is built from: facts, names and articles in, a filled join out."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lrlm.artifacts import fingerprint
from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.facts import FactFiles
from lrlm.corpora.inputs import parse_article
from lrlm.corpora.joining import Join
from lrlm.errors import InputError
from lrlm.text_files import BadLines, read_records

_MANY_FILES = 20

Progress = Callable[[str, int], None]
"""Told what is being done and how many articles it has been done for."""


@dataclass(frozen=True)
class Reading:
    """How a source is read: how much of it, what may be bad in it, who is told how far it is."""

    bad_lines: BadLines = field(default_factory=BadLines)
    limit: int | None = None
    """Take the first articles of each split."""
    progress: Progress = lambda _doing, _articles: None


class Source(Protocol):
    """What a corpus is built from: anything that can fill a join with facts, forms and articles."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read, in a fixed order."""
        ...

    def fill(self, join: Join, reading: Reading) -> Mapping[str, int]:
        """Put everything into the join; give how much was left out, by the reason."""
        ...


@dataclass(frozen=True)
class BuildInputs:
    """The files a corpus is built from: triples and forms, or a graph; and at least one split."""

    triples: Path | None = None
    forms: Path | None = None
    articles: Mapping[str, Path] = field(default_factory=dict)
    """A file for each split: train, valid, test."""
    graph: Path | None = None
    """The folder of a graph that `lrlm kg build` has made, in place of triples and forms."""

    def __post_init__(self) -> None:
        if not self.articles:
            raise InputError("there are no articles: give at least one of train, valid, test")
        for split in self.articles:
            if split not in SPLITS:
                raise InputError(f"there is no split {split!r}; there are: {', '.join(SPLITS)}")
        for path in self.files:
            if not path.is_file():
                raise InputError(f"{path}: there is no such file")

    @property
    def facts(self) -> FactFiles:
        """Where facts and names are."""
        return FactFiles(self.triples, self.forms, self.graph)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, in a fixed order."""
        return (
            *self.facts.files,
            *(self.articles[split] for split in SPLITS if split in self.articles),
        )

    def fill(self, join: Join, reading: Reading) -> Mapping[str, int]:
        """Read the files line by line into the join."""
        reading.progress("reading the graph", 0)
        facts = self.facts.read(join, reading.bad_lines)
        read = 0
        for split in SPLITS:
            if split not in self.articles:
                continue
            articles = read_records(
                self.articles[split], parse_article, reading.bad_lines, limit=reading.limit
            )
            for article in articles:
                join.add_articles(split, [article])
                facts.add(article.topic)
                read += 1
                if read % 1000 == 0:
                    reading.progress("reading articles", read)
        return facts.left_out


def fingerprints(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Name the files of a source by their content; very many of them as one."""
    each = [fingerprint(path) for path in files]
    if len(each) <= _MANY_FILES:
        return each
    text = json.dumps(each, ensure_ascii=False, sort_keys=True)
    return [
        {
            "files": len(each),
            "bytes": sum(file["bytes"] for file in each),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
    ]
