"""What a corpus is built from: facts and names, and articles about them.

    triples    a table: subject, relation type, object [, entity|literal]
    forms      a table: entity, form; an entity's first form is its canonical one
    articles   JSON lines or Parquet, see `articles`

How tables may be written is told in `lrlm.knowledge.sources.tables`.

A knowledge graph can take the place of triples and forms. Corpora in other formats are sources of
their own, see `importers`.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lrlm.artifacts import MANIFEST, fingerprint
from lrlm.corpora.articles import parse_article
from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.sources.tables import PLAIN, TableKind, TableLayout, layout_of
from lrlm.knowledge.sources.triples import parse_fact, parse_form
from lrlm.progress import Progress, silent
from lrlm.text_files import BadLines, parse_lines, raw_lines

_MANY_FILES = 20

Row = TypeVar("Row")


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
        of_triples, of_forms = _layout(triples, TableKind.TRIPLES), _layout(forms, TableKind.FORMS)
        for fact in _rows(triples, parse_fact, of_triples, bad_lines):
            staging.add_fact(*fact)
        for form in _rows(forms, parse_form, of_forms, bad_lines):
            staging.add_form(*form)


def _layout(path: Path, kind: TableKind) -> TableLayout:
    """Recognise a table that should be of a kind; one of another kind is refused.

    What is no table at all is read as one, so that its bad lines are told.
    """
    layout = layout_of(path) or PLAIN[kind]
    if layout.kind is kind:
        return layout
    what = {
        TableKind.TRIPLES: "triples (subject, relation, object)",
        TableKind.FORMS: "forms (entity, form)",
        TableKind.WIDE: "a wide table, a row for each entity; make a graph of it, 'lrlm kg build'",
    }
    raise FormatError(
        f"{path}: expected {what[kind]}, but this looks like {what[layout.kind]}"
        + ("; are the two files swapped?" if layout.kind is not TableKind.WIDE else "")
    )


def _rows(
    path: Path,
    parse: Callable[[str, TableLayout], Row],
    layout: TableLayout,
    bad_lines: BadLines,
) -> Iterator[Row]:
    """Read the rows of a table; its header is as if it were blank."""
    lines = (b"" if layout.is_header(line) else line for line in raw_lines(path))
    return parse_lines(lines, path, lambda line: parse(line, layout), bad_lines)


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
            path, lines = self.articles[split], _CountedLines(self.articles[split])
            for article in parse_lines(
                lines, path, parse_article, settings.bad_lines, limit=settings.limit
            ):
                staging.add_article(split, article, origin=(path, lines.number))
                read += 1
                if read % 1000 == 0:
                    settings.progress("reading articles", read, 0)
        return {}


class _CountedLines:
    """The lines of a file, and which of them is being read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.number = 0

    def __iter__(self) -> Iterator[bytes]:
        for self.number, line in enumerate(raw_lines(self._path), start=1):  # noqa: B020
            yield line


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
