"""Import WikiText-103 with a knowledge graph: the paper's WikiText-S and WikiText-F.

An article opens with the line ` = Title = ` between two blank ones; sections open with ` = = Name
= = ` and more signs. Both releases are read: `.raw`, and `.tokens`, where rare words are `<unk>`,
those of the titles among them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.importers.intake import Intake, existing
from lrlm.corpora.inputs import FactInputs, ReadSettings
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.sources.triples import parse_form
from lrlm.text import UNKNOWN, Profile, split_words
from lrlm.text_files import BadLineError, BadLines, raw_lines, read_records

_FILE = re.compile(r"wiki\.(train|valid|test)\.(?:tokens|raw)(?:\.\w+)?")
_TITLE = re.compile(r" ?= (?!= )(.+)(?<! =) = ?")
_SECTION = re.compile(r" ?= = .+ = = ?")
_WIKIDATA_ID = re.compile(r"Q[1-9]\d*")

_Words = tuple[str, ...]


class WikiTextForm(StrEnum):
    """How much of an article is taken."""

    S = "S"
    """WikiText-S: the text before the first section."""
    F = "F"
    """WikiText-F: all of it, section headings included."""


class WikiTextArticle(NamedTuple):
    """An article as it stands in the file."""

    title: str
    lines: list[str]
    line: int
    """Where it begins."""


def split_articles(lines: Iterator[str]) -> Iterator[WikiTextArticle]:
    """Cut a file into its articles; what stands before the first title belongs to none."""
    article: WikiTextArticle | None = None
    before, held = "", ""  # a title is known as one when the line after it is blank
    for number, line in enumerate(_and_a_blank(lines), start=0):
        if held:
            match = None if before.strip() or line.strip() else _TITLE.fullmatch(held.rstrip("\n"))
            if match:
                if article is not None:
                    yield article
                article = WikiTextArticle(match[1].strip(), [], number)
            elif article is not None and held.strip():
                article.lines.append(held.strip())
        before, held = held, line
    if article is not None:
        yield article


def _and_a_blank(lines: Iterator[str]) -> Iterator[str]:
    yield from lines
    yield " "


def text_of(article: WikiTextArticle, form: WikiTextForm) -> str:
    """Give an article's paragraphs, a line each."""
    lines = article.lines
    if form is WikiTextForm.S:
        first = next((n for n, line in enumerate(lines) if _SECTION.fullmatch(line)), len(lines))
        lines = lines[:first]
    return "\n".join(lines)


class TitleTable:
    """Finds the ids of articles by their titles, also where words of a title are `<unk>`."""

    def __init__(self, titles: list[tuple[str, str]]) -> None:
        self._titles = titles
        self._words = [split_words(title, Profile.WIKITEXT) for title, _ in titles]
        self._places: dict[str, int] = {}
        self._by_length: dict[int, list[int]] = {}
        for place, words in enumerate(self._words):
            self._places.setdefault(_squeezed(words), place)
            self._by_length.setdefault(len(words), []).append(place)

    @classmethod
    def read(cls, path: Path, bad_lines: BadLines) -> "TitleTable":
        """Read lines `title TAB id`; of a Wikidata id, either column may hold it."""
        return cls(list(read_records(path, _title_and_id, bad_lines)))

    def find_all(self, titles: Sequence[str]) -> list[tuple[str, str] | None]:
        """Give for each article of a file, in order, its full title and id; None if not certain.

        A title with `<unk>` is certain if one line of the table fits it. Where several do, or
        nothing is left of a title, the order decides: between two titles that are certain the
        table must have as many lines as the file has articles, and all must fit.
        """
        words = [split_words(title, Profile.WIKITEXT) for title in titles]
        places = [self._certain_place(each) for each in words]
        anchors = [(n, place) for n, place in enumerate(places) if place is not None]
        anchors = [(-1, -1), *anchors, (len(titles), len(self._titles))]
        for (before, first), (after, last) in pairwise(anchors):
            between = range(before + 1, after)
            if after - before == last - first and all(
                _fits(words[n], self._words[n - before + first]) for n in between
            ):
                places[before + 1 : after] = [n - before + first for n in between]
        return [None if place is None else self._titles[place] for place in places]

    def _certain_place(self, words: _Words) -> int | None:
        place = self._places.get(_squeezed(words))
        if place is not None or not set(words) - {UNKNOWN}:
            return place
        fitting = (
            place
            for place in self._by_length.get(len(words), ())
            if _fits(words, self._words[place])
        )
        place = next(fitting, None)
        return place if next(fitting, None) is None else None


def _squeezed(words: _Words) -> str:
    """Write a title so that it does not matter how it was cut into words."""
    return "".join(word[1] if word in ("@-@", "@,@", "@.@") else word for word in words)


def _fits(words: _Words, full: _Words) -> bool:
    return len(words) == len(full) and all(
        word in (UNKNOWN, other) for word, other in zip(words, full, strict=True)
    )


def _title_and_id(line: str) -> tuple[str, str]:
    first, second = parse_form(line)
    if _WIKIDATA_ID.fullmatch(first) and not _WIKIDATA_ID.fullmatch(second):
        return second, first
    return first, second


class WikiText:
    """WikiText's files, the ids of its articles, and a graph: its folder, or triples and forms.

    `path` is the folder with `wiki.{train,valid,test}.{raw,tokens}`, or one of these files; `ids`
    a table of titles with ids, by a tab.
    """

    def __init__(
        self,
        path: Path | str,
        ids: Path | str,
        *,
        form: WikiTextForm = WikiTextForm.S,
        graph: KnowledgeGraph | Path | str | None = None,
        triples: Path | str | None = None,
        forms: Path | str | None = None,
    ) -> None:
        self.path = existing(path)
        self.ids = existing(ids)
        self.form = form
        self.facts = FactInputs(triples=triples, forms=forms, graph=graph)

    @property
    def profile(self) -> Profile:
        """WikiText has conventions of its own."""
        return Profile.WIKITEXT

    @property
    def link_options(self) -> LinkOptions:
        """As they are given: the corpus stays what others measure on."""
        return LinkOptions()

    @property
    def command(self) -> str:
        """The command that imports this, for the manifest."""
        return f"lrlm corpus import wikitext --form {self.form.value}"

    @property
    def articles(self) -> dict[str, Path]:
        """The file of each split that is there."""
        candidates = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        found: dict[str, Path] = {}
        for file in candidates:
            if match := _FILE.fullmatch(file.name):
                if match[1] in found:
                    raise InputError(
                        f"{self.path} holds {found[match[1]].name} and {file.name}; give a folder"
                        " with one of raw and tokens"
                    )
                found[match[1]] = file
        if not found and self.path.is_file():
            found["train"] = self.path
        if not found:
            raise FormatError(f"{self.path} holds no wiki.train.raw, wiki.valid.tokens or the like")
        return {split: found[split] for split in SPLITS if split in found}

    @property
    def files(self) -> list[Path]:
        """All files, in a fixed order."""
        return [*self.articles.values(), self.ids, *self.facts.files]

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Read the graph, then the articles; articles without an id are left out."""
        intake = Intake(staging, settings, self.path)
        settings.progress("reading the graph", 0, 0)
        self.facts.fill(staging, settings.bad_lines)
        table = TitleTable.read(self.ids, settings.bad_lines)
        for split, path in self.articles.items():
            titles = [each.title for each in split_articles(_text_lines(path, None))]
            found = table.find_all(titles)
            articles = split_articles(_text_lines(path, intake))
            for article, name in zip(articles, found, strict=True):
                if intake.is_full(split):
                    break
                self._add(split, article, name, intake)
        return intake.finish()

    def _add(
        self,
        split: str,
        article: WikiTextArticle,
        found: tuple[str, str] | None,
        intake: Intake,
    ) -> None:
        if found is None:
            intake.left_out["articles whose title has no id"] += 1
            return
        title, id_ = found
        text = text_of(article, self.form)
        if not text:
            intake.left_out["articles without text"] += 1
            return
        try:
            record = {"id": f"{split}-{article.line}", "topic": id_, "title": title, "text": text}
            intake.add_article(split, record)
        except BadLineError as error:
            intake.add_bad(split, str(error), line=article.line)


def _text_lines(path: Path, intake: Intake | None) -> Iterator[str]:
    for number, line in enumerate(raw_lines(path), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            if intake is not None:
                intake.add_bad("", f"not UTF-8 at byte {error.start + 1} of the line", line=number)
            yield line.decode("utf-8", errors="replace")
