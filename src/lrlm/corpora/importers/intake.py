"""What all importers share: taking in facts, names and articles, and splitting by topic."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from lrlm.characters import clean_name
from lrlm.corpora.articles import article_from, check_characters
from lrlm.corpora.build import build_from
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.inputs import CorpusSource, ReadSettings
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import TITLE
from lrlm.knowledge.doubts import MAX_UNKNOWN
from lrlm.progress import Progress, silent
from lrlm.text import Profile
from lrlm.text_files import BadLineError

SPLIT_SEED = 1
"""The split by topic must be the same on every machine and for ever."""

ANCHOR = "@anchor"
"""The type of the relation from a topic to what its article links to."""

_SHARES = {"train": 0.8, "valid": 0.1, "test": 0.1}
_SPLIT_NAMES = {"train": "train", "dev": "valid", "val": "valid", "valid": "valid", "test": "test"}


class SplitPolicy(StrEnum):
    """Which articles are for training, and which are kept apart from it."""

    TOPIC = "topic"
    """All articles of a topic on one side: 80, 10 and 10 % of the topics, the same every time."""
    OFFICIAL = "official"
    """As the files say; training articles about a topic of valid or test are left out."""


class ImportSource(CorpusSource, Protocol):
    """A source that also knows how its text is to be read."""

    @property
    def profile(self) -> Profile | None:
        """How the text is cut into tokens; None where the text has to tell."""
        ...

    @property
    def link_options(self) -> LinkOptions:
        """How names are looked for in the text, unless it is said otherwise."""
        ...

    @property
    def command(self) -> str:
        """The command that reads this source in this way, for the manifest."""
        ...


def import_corpus(
    out: Path | str,
    source: ImportSource,
    *,
    options: LinkOptions | None = None,
    limit: int | None = None,
    max_bad: float = 0.001,
    max_unknown: float = MAX_UNKNOWN,
    workers: int = 1,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Link the articles of a source with its facts and write them as a corpus.

    Names are looked for as the source has it, unless `options` say otherwise. Topics that are in
    two splits stay in the later one of train, valid and test alone. More than the share
    `max_unknown` of articles without facts about their topic are refused.

    >>> from lrlm.corpora.importers import WebNlg
    >>> corpus = import_corpus("webnlg/", WebNlg("data/webnlg/"))
    >>> corpus.options.profile
    <Profile.RAW: 'raw'>
    """
    return build_from(
        out,
        source,
        profile=source.profile,
        options=options or source.link_options,
        limit=limit,
        max_bad=max_bad,
        max_unknown=max_unknown,
        workers=workers,
        overwrite=overwrite,
        drop_shared_topics=True,
        made_by=source.command,
        progress=progress,
    )


def existing(path: Path | str) -> Path:
    """Take the path of a file or a folder that must be there."""
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file or folder")
    return Path(path)


def split_by_topic(topic: str, *, seed: int = SPLIT_SEED) -> str:
    """Put a topic into train, valid or test by its name alone, whatever else is in the data."""
    digest = hashlib.sha256(f"{seed}\n{topic}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    for split, size in _SHARES.items():
        if share < size:
            return split
        share -= size
    return "test"


def split_named(name: str) -> str | None:
    """Recognise a split in the name of a file or folder: `dev_revised.json` is valid."""
    for beginning, split in _SPLIT_NAMES.items():
        if name.lower().startswith(beginning):
            return split
    return None


class Intake:
    """Puts what an importer reads into a staging area, and counts what cannot be used."""

    def __init__(self, staging: Staging, settings: ReadSettings, path: Path) -> None:
        self._staging = staging
        self._settings = settings
        self._path = path
        self._taken: Counter[str] = Counter()
        self._names: set[tuple[str, str]] = set()
        self._bad = self._good = 0
        self.left_out: Counter[str] = Counter()
        """How much of the input is not in the corpus, by the reason."""

    def is_full(self, split: str) -> bool:
        """Whether a split has as many articles as are wanted."""
        return self._settings.limit is not None and self._taken[split] >= self._settings.limit

    def add_fact(self, subject: str, type_: str, object_: str, *, literal: bool = False) -> None:
        """Take in a fact; the forms of an object that is no literal are given by `add_name`."""
        for field, value in (("subject", subject), ("relation", type_), ("object", object_)):
            _check_text(field, value)
        name = clean_name(type_)
        if name == TITLE:
            raise BadLineError(f"the relation type {TITLE!r} is reserved")
        self._staging.add_fact(subject, name, object_, literal)
        self._good += 1

    def add_name(self, entity: str, name: str) -> None:
        """Take in a form of an entity; the first one is canonical, blank ones are no names."""
        form = clean_name(name)
        if form and (entity, form) not in self._names:
            _check_text("name", name)
            self._names.add((entity, form))
            self._staging.add_form(entity, form)

    def add_article(self, split: str, record: Mapping[str, Any]) -> None:
        """Take in an article with the fields of an articles file, unless there are enough."""
        if self.is_full(split):
            return
        article = article_from(record)
        self._staging.add_article(split, article)
        self._taken[split] += 1
        self._good += 1
        if (count := self._taken.total()) % 500 == 0:
            self._settings.progress("reading articles", count, 0)

    def add_bad(self, where: str, reason: str, *, line: int = 1) -> None:
        """Count a record that cannot be used."""
        self._bad += 1
        self._settings.bad_lines.add(self._path, line, f"{where}: {reason}" if where else reason)

    def finish(self) -> Mapping[str, int]:
        """Stop if too many records were bad, or none was good; give what was left out."""
        used = self._taken.total()
        self._settings.bad_lines.check(self._path, self._bad, self._good + self._bad)
        if not used:
            reasons = "; ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
            raise FormatError(
                f"{self._path} has no article that can be used"
                + (f": left out were {reasons}" if reasons else "; is this the right file?")
            )
        return dict(sorted(self.left_out.items()))


def _check_text(field: str, value: str) -> None:
    check_characters(field, value)
    if not clean_name(value):
        raise BadLineError(f"the {field} is empty")
