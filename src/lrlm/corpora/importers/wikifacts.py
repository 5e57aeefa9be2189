"""Import WikiFacts: film actors with facts of Freebase, and texts whose mentions are tagged.

The tar (or its unpacked folder) has for each topic the files `NUMBER.FREEBASEID.EXTENSION`:

    sm    the summary, in which `@@words_of_it/f/ns/ID@@` is a mention of a fact's object,
          and `@@words_of_it/a/ns/ID@@` a link to another page (an anchor)
    fb    facts: `/ns/subject /ns/relation /ns/object`; a compound value is `[id relation object]`
    en    names: `/ns/ID name`
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lrlm.corpora.importers.intake import ANCHOR, Intake, existing, split_by_topic
from lrlm.corpora.importers.safe_files import BoundedStream, files_in
from lrlm.corpora.inputs import ReadSettings
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.staging import Staging
from lrlm.text import Profile
from lrlm.text_files import BadLineError

_FILE = re.compile(r"(\d+)\.([a-z]\.\w+|\w+)\.(sm|fb|en)")
_MENTION = re.compile(r"@@(?P<words>[^@\n]+?)/(?P<kind>[fa])/ns/(?P<id>[^\s@/]+)@@")
_PART = re.compile(r'\[[^\]]*\]|"(?:[^"\\]|\\.)*"\S*|\S+')
_FIELD = re.compile(r'"(?:[^"\\]|\\.)*"\S*|\S+')
_LITERAL = re.compile(r'"(.*)"(?:@\S+|\^\^\S+)?')
_LARGEST_TEXT = 64 << 20
"""Bytes of one file; a larger one is not an article."""


class TaggedMention(NamedTuple):
    """A tagged mention: characters `[start, end)` of the plain text."""

    start: int
    end: int
    object: str
    is_anchor: bool


def plain_text(tagged: str) -> tuple[str, list[TaggedMention]]:
    """Take the tags out of a text; give where the mentions are in what remains."""
    pieces: list[str] = []
    mentions: list[TaggedMention] = []
    length = place = 0
    for match in _MENTION.finditer(tagged):
        words = match["words"].replace("_", " ").strip()
        pieces += [tagged[place : match.start()], words]
        start = length + match.start() - place
        length = start + len(words)
        place = match.end()
        if words:
            mentions.append(TaggedMention(start, length, match["id"], match["kind"] == "a"))
    pieces.append(tagged[place:])
    return "".join(pieces), mentions


def parse_facts(line: str) -> Iterator[tuple[str, str, str, bool]]:
    """Read a line of facts: subject, relation, object, and whether the object is a literal.

    A compound value as the subject gives no fact; as the object it gives one for each of its
    fields, with the field's type and value.
    """
    parts = [match[0] for match in islice(_PART.finditer(line), 4)]
    if len(parts) != 3:
        found = "more than 3" if len(parts) > 3 else len(parts)
        raise BadLineError(f"expected subject, relation and object, found {found} parts")
    subject, relation, object_ = parts
    if subject.startswith("["):
        return
    if not object_.startswith("["):
        yield _id(subject), _id(relation), *_object(object_)
        return
    _, *fields = _FIELD.findall(object_[1:-1]) or [""]
    if not fields or len(fields) % 2:
        raise BadLineError("a compound value must hold an id, a relation and an object")
    for field, value in zip(fields[::2], fields[1::2], strict=True):
        yield _id(subject), _id(field), *_object(value)


def _id(part: str) -> str:
    return part.removeprefix("/ns/")


def _object(part: str) -> tuple[str, bool]:
    literal = _LITERAL.fullmatch(part)
    return (literal[1], True) if literal else (_id(part), False)


class WikiFacts:
    """The original archive or its folder; `anchors` makes links to other pages relations."""

    def __init__(self, path: Path | str, *, anchors: bool = False) -> None:
        self.path = existing(path)
        self.anchors = anchors

    @property
    def profile(self) -> Profile | None:
        """The texts tell how they are tokenised."""
        return None

    @property
    def link_options(self) -> LinkOptions:
        """As they are given: the corpus stays what others measure on."""
        return LinkOptions()

    @property
    def command(self) -> str:
        """The command that imports this, for the manifest."""
        return "lrlm corpus import wikifacts" + " --anchors" * self.anchors

    @property
    def files(self) -> list[Path]:
        """The archive, or the files of the folder that are read."""
        if self.path.is_file():
            return [self.path]
        return [path for path in sorted(self.path.rglob("*")) if _FILE.fullmatch(path.name)]

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Read the files in their order; topics are divided 80/10/10 by their id."""
        intake = Intake(staging, settings, self.path)
        names = _Names()
        for name, stream in files_in(self.path):
            match = _FILE.fullmatch(name.name)
            if match is None:
                continue
            number, topic, extension = match.groups()
            if stream.size > _LARGEST_TEXT:
                intake.add_bad(str(name), "too large to be an article")
                continue
            lines = _decode(stream, str(name), intake)
            if extension == "sm":
                self._add_article(f"{number}.{topic}", topic, lines, names, intake)
            elif extension == "fb":
                _add_facts(str(name), lines, intake)
            else:
                names.read(lines)
        for entity, form in names.forms():
            intake.add_name(entity, form)
        return intake.finish()

    def _add_article(
        self, id_: str, topic: str, tagged: str, names: "_Names", intake: Intake
    ) -> None:
        text, mentions = plain_text(tagged.strip())
        if not text.strip():
            intake.left_out["articles without text"] += 1
            return
        gold = []
        for start, end, object_, is_anchor in mentions:
            names.seen(object_, text[start:end])
            if is_anchor and not self.anchors:
                intake.left_out["anchors"] += 1
                continue
            if is_anchor:
                intake.add_fact(topic, ANCHOR, object_)
            gold.append({"start": start, "end": end, "object": object_})
        # The files have no titles: a topic is called as its own mentions call it.
        title = names.of(topic) or next(
            (text[start:end] for start, end, object_, _ in mentions if object_ == topic), topic
        )
        record = {"id": id_, "topic": topic, "title": title, "text": text, "gold": gold}
        try:
            intake.add_article(split_by_topic(topic), record)
        except BadLineError as error:
            intake.add_bad(f"{id_}.sm", str(error))


class _Names:
    """One form for each entity: its name where the files give it, else its first mention."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._mentioned: dict[str, str] = {}

    def read(self, lines: str) -> None:
        for line in lines.splitlines():
            entity, _, name = line.strip().partition("\t" if "\t" in line else " ")
            if entity.startswith("/ns/") and (name := name.replace("_", " ").strip(' "\t')):
                self._given.setdefault(_id(entity), name)

    def seen(self, entity: str, words: str) -> None:
        self._mentioned.setdefault(entity, words)

    def of(self, entity: str) -> str | None:
        return self._given.get(entity) or self._mentioned.get(entity)

    def forms(self) -> Iterator[tuple[str, str]]:
        yield from sorted((self._mentioned | self._given).items())


def _add_facts(name: str, lines: str, intake: Intake) -> None:
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            for subject, relation, object_, literal in parse_facts(line):
                intake.add_fact(subject, relation, object_, literal=literal)
        except BadLineError as error:
            intake.add_bad(name, str(error), line=number)


def _decode(stream: BoundedStream, name: str, intake: Intake) -> str:
    content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        intake.add_bad(name, f"not UTF-8 at byte {error.start + 1}")
        return content.decode("utf-8-sig", errors="replace")
