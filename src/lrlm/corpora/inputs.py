"""What a corpus is built from: facts and names, and articles about them.

    triples    subject TAB relation type TAB object [TAB entity|literal]
    forms      entity TAB form; an entity's first form is its canonical one
    articles   JSON lines, see `articles`

A knowledge graph can take the place of triples and forms. Corpora in other formats are sources of
their own, see `importers`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from lrlm.artifacts import MANIFEST, fingerprint
from lrlm.corpora.articles import parse_article
from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.staging import Staging
from lrlm.errors import InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.sources.triples import parse_fact, parse_form
from lrlm.progress import Progress, silent
from lrlm.text_files import BadLines, read_records

_MANY_FILES = 20


@dataclass(frozen=True)
class ReadSettings:
    """How a source is read: how many articles, how many bad lines, and who follows the progress."""

    bad_lines: BadLines = field(default_factory=BadLines)
    limit: int | None = None
    """Take the first articles of each split."""
    progress: Progress = silent


class CorpusSource(Protocol):
    """Anything that a corpus can be built from: it fills a staging area with what it has."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read, in a fixed order."""
        ...

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Put everything into the staging area; give how much was left out, by the reason."""
        ...


class FactInputs:
    """Where facts and names are: in a knowledge graph, or in two tables."""

    def __init__(
        self,
        *,
        triples: Path | str | None = None,
        forms: Path | str | None = None,
        graph: KnowledgeGraph | Path | str | None = None,
    ) -> None:
        tables = [Path(path) for path in (triples, forms) if path is not None]
        if len(tables) != (0 if graph is not None else 2):
            raise InputError("a graph is needed: give either its folder, or triples and forms")
        for path in tables:
            if not path.is_file():
                raise InputError(f"{path}: there is no such file")
        self.tables = tables
        self.graph = KnowledgeGraph.open(graph) if isinstance(graph, str | Path) else graph

    @property
    def files(self) -> Sequence[Path]:
        """The files whose content says which knowledge this is."""
        return self.tables if self.graph is None else [self.graph.folder / MANIFEST]

    def fill(self, staging: Staging, bad_lines: BadLines) -> None:
        """Read the tables into a staging area, or tell it where the graph is."""
        if self.graph is not None:
            staging.take_topics_from(self.graph)
            return
        triples, forms = self.tables
        for fact in read_records(triples, parse_fact, bad_lines):
            staging.add_fact(*fact)
        for form in read_records(forms, parse_form, bad_lines):
            staging.add_form(*form)


@dataclass(frozen=True)
class BuildInputs:
    """The files a corpus is built from: triples and forms, or a graph; and at least one split."""

    triples: Path | None = None
    forms: Path | None = None
    articles: Mapping[str, Path] = field(default_factory=dict)
    """A file for each split: train, valid, test."""
    graph: KnowledgeGraph | Path | None = None
    """A knowledge graph or its folder, in place of triples and forms."""

    def __post_init__(self) -> None:
        if not self.articles:
            raise InputError("there are no articles: give at least one of train, valid, test")
        for split in self.articles:
            if split not in SPLITS:
                raise InputError(f"there is no split {split!r}; there are: {', '.join(SPLITS)}")
        for path in self.files:
            if not path.is_file():
                raise InputError(f"{path}: there is no such file")

    @cached_property
    def facts(self) -> FactInputs:
        """Where facts and names are."""
        return FactInputs(triples=self.triples, forms=self.forms, graph=self.graph)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, in a fixed order."""
        return (
            *self.facts.files,
            *(self.articles[split] for split in SPLITS if split in self.articles),
        )

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Read the files line by line into a staging area."""
        settings.progress("reading the graph", 0, 0)
        self.facts.fill(staging, settings.bad_lines)
        read = 0
        for split in SPLITS:
            if split not in self.articles:
                continue
            for article in read_records(
                self.articles[split], parse_article, settings.bad_lines, limit=settings.limit
            ):
                staging.add_article(split, article)
                read += 1
                if read % 1000 == 0:
                    settings.progress("reading articles", read, 0)
        return {}


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
