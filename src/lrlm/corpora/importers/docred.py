"""Import DocRED or Re-DocRED: Wikipedia introductions with entities and relations.

A document's topic is the entity that its title names. The topic's facts are the relations that
start at it, the forms of an object are the names that it has in the documents, and the gold
mentions are where the topic and its objects are mentioned.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.importers.intake import (
    Intake,
    SplitPolicy,
    existing,
    split_by_topic,
    split_named,
)
from lrlm.corpora.inputs import ReadSettings
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.text import Profile
from lrlm.text_files import BadLineError, open_by_content

NAMES = "pid2name.json"
_DATES = {
    "P569": "date of birth", "P570": "date of death", "P571": "inception",
    "P576": "dissolved, abolished or demolished", "P577": "publication date",
    "P580": "start time", "P582": "end time", "P585": "point in time",
}  # fmt: skip
"""Relations that documents use and `pid2name.json` does not name."""
_LARGEST_FILE = 1 << 30
_IN_BRACKETS = re.compile(r"\([^()]*\)")


class DocRedMention(NamedTuple):
    """Where an entity is mentioned: tokens `[start, end)` of the document."""

    start: int
    end: int


class DocRedEntity(NamedTuple):
    """An entity of one document; it has no id but its first name."""

    id: str
    names: tuple[str, ...]
    """In the order in which they occur."""
    mentions: tuple[DocRedMention, ...]


class DocRedDocument(NamedTuple):
    """A document as the files give it, checked."""

    title: str
    words: list[str]
    entities: list[DocRedEntity]
    relations: list[tuple[int, str, int]]
    """Head, type and tail."""


def parse_document(record: Any) -> DocRedDocument:
    """Check a document and number its tokens from its beginning to its end."""
    match record:
        case {"title": str(title), "sents": list(sentences), "vertexSet": list(vertices)}:
            labels = record.get("labels") or []
        case _:
            raise BadLineError("a document must have title, sents and vertexSet")
    is_text = all(
        isinstance(sentence, list) and all(isinstance(word, str) for word in sentence)
        for sentence in sentences
    )
    if not is_text or not title.strip():
        raise BadLineError("the sentences must be lists of words, and the title not blank")
    # Some tokens are only white space: they are dropped, and the tokens counted anew.
    kept = [[bool(word.strip()) for word in sentence] for sentence in sentences]
    words = ["".join(word.split()) for sentence in sentences for word in sentence if word.strip()]
    offsets = list(accumulate((sum(sentence) for sentence in kept), initial=0))
    entities = [_entity(mentions, kept, offsets, words) for mentions in vertices]
    relations = []
    for label in labels:
        match label:
            case {"h": int(head), "r": str(type_), "t": int(tail)} if 0 <= head < len(
                entities
            ) and 0 <= tail < len(entities):
                relations.append((head, type_, tail))
            case _:
                raise BadLineError("a label must have h, r and t, and h and t be entities")
    return DocRedDocument(title, words, entities, relations)


def _entity(
    mentions: Any, kept: list[list[bool]], offsets: list[int], words: list[str]
) -> DocRedEntity:
    found: set[DocRedMention] = set()
    for mention in mentions if isinstance(mentions, list) else ():
        match mention:
            case {"name": str(), "sent_id": int(sentence), "pos": [int(start), int(end)]} if (
                0 <= sentence < len(kept) and 0 <= start < end <= len(kept[sentence])
            ):
                first = offsets[sentence] + sum(kept[sentence][:start])
                last = offsets[sentence] + sum(kept[sentence][:end])
                if first < last:
                    found.add(DocRedMention(first, last))
            case _:
                raise BadLineError("a mention must have name, sent_id and pos within the sentence")
    if not found:
        raise BadLineError("an entity without mentions")
    ordered = tuple(sorted(found))
    names = tuple(dict.fromkeys(" ".join(words[first:last]) for first, last in ordered))
    return DocRedEntity(names[0], names, ordered)


def topic_of(document: DocRedDocument) -> int | None:
    """Find the entity that the title names, None if there is none.

    A name may be the title itself, the title up to its first comma ("Westmere, New York"), or
    hold the words of the title in their order ("Ross Patterson Alger"); what stands in brackets
    in a title does not count. Of several such entities the one mentioned first is taken.
    """
    title = _IN_BRACKETS.sub(" ", document.title)
    whole, before_comma = _fold(title), _fold(title.split(",")[0])
    for fits in (
        lambda name: name in (whole, _fold(document.title)),
        lambda name: name == before_comma,
        lambda name: len(whole) > 1 and _is_within(whole, name),
    ):
        fitting = [
            number
            for number, entity in enumerate(document.entities)
            if any(fits(_fold(name)) for name in entity.names)
        ]
        if fitting:
            return min(fitting, key=lambda number: document.entities[number].mentions[0])
    return None


def _fold(text: str) -> tuple[str, ...]:
    """Give the words of a name without accents, case and punctuation."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(letter)
    )
    return tuple(re.findall(r"[^\W_]+", plain.casefold()))


def _is_within(words: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    rest = iter(longer)
    return all(word in rest for word in words)


class DocRed:
    """DocRED's files: a folder with `train*.json`, `dev*.json`, `test*.json`, or one of them.

    `names` says what relations are called; `pid2name.json` beside the documents if it is None.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        names: Path | str | None = None,
        split: SplitPolicy = SplitPolicy.OFFICIAL,
    ) -> None:
        self.path = existing(path)
        self.names = None if names is None else existing(names)
        self.split = split

    @property
    def profile(self) -> Profile:
        """The tokens are given."""
        return Profile.SPACES

    @property
    def command(self) -> str:
        """The command that imports this, for the manifest."""
        return f"lrlm corpus import docred --split {self.split.value}"

    @property
    def documents(self) -> dict[str, Path]:
        """The file of each official split."""
        if self.path.is_file():
            return {split_named(self.path.name) or "train": self.path}
        found: dict[str, Path] = {}
        for path in sorted(self.path.glob("*.json*")):
            split = split_named(path.name)
            if split in found:
                raise InputError(f"{found[split].name} or {path.name}? Give a folder with one")
            if split is not None:
                found[split] = path
        if not found:
            raise FormatError(f"{self.path} holds no train*.json, dev*.json or test*.json")
        return {split: found[split] for split in SPLITS if split in found}

    @property
    def files(self) -> list[Path]:
        """All files, in a fixed order."""
        names = self._names_file
        return [*self.documents.values(), *([names] if names is not None else [])]

    @property
    def _names_file(self) -> Path | None:
        folder = self.path if self.path.is_dir() else self.path.parent
        beside = folder / NAMES
        return self.names or (beside if beside.is_file() else None)

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Read the documents of all splits."""
        intake = Intake(staging, settings, self.path)
        names = _relation_names(self._names_file)
        for official, path in self.documents.items():
            records = _read_json(path)
            if not isinstance(records, list):
                raise FormatError(f"{path}: expected a list of documents")
            for number, record in enumerate(records, start=1):
                try:
                    self._add(f"{official}-{number}", parse_document(record), names, intake)
                except BadLineError as error:
                    intake.add_bad(f"{path.name}, document {number}", str(error))
        return intake.finish()

    def _add(
        self, id_: str, document: DocRedDocument, relation_names: Mapping[str, str], intake: Intake
    ) -> None:
        number = topic_of(document)
        if number is None:
            intake.left_out["documents whose title names none of their entities"] += 1
            return
        topic = document.title
        split = id_.partition("-")[0]
        if self.split is SplitPolicy.TOPIC:
            split = split_by_topic(topic)
        objects = {number: topic}
        facts = []
        for head, type_, tail in document.relations:
            if head == number and tail != number:
                objects[tail] = document.entities[tail].id
                facts.append((relation_names.get(type_, type_), objects[tail]))
        starts = [0, *accumulate(len(word) + 1 for word in document.words)]
        gold = [
            {"start": starts[mention.start], "end": starts[mention.end] - 1, "object": object_}
            for each, object_ in objects.items()
            for mention in document.entities[each].mentions
        ]
        text = " ".join(document.words)
        intake.add_article(
            split, {"id": id_, "topic": topic, "title": topic, "text": text, "gold": gold}
        )
        for type_, object_ in facts:
            intake.add_fact(topic, type_, object_)
        for each, object_ in objects.items():
            for name in document.entities[each].names:
                intake.add_name(object_, name)


def _relation_names(path: Path | None) -> dict[str, str]:
    """Read what the relation types are called; a name that two types have is told apart."""
    if path is None:
        return {}
    content = _read_json(path)
    names = dict(_DATES)
    for id_, each in content.items() if isinstance(content, dict) else ((None, None),):
        name = each[0] if isinstance(each, list) and each else each
        if not isinstance(id_, str) or not isinstance(name, str) or not name.strip():
            raise FormatError(f"{path}: expected an object with the names of relations")
        names[id_] = name
    often = Counter(names.values())
    return {id_: name if often[name] == 1 else f"{name} ({id_})" for id_, name in names.items()}


def _read_json(path: Path) -> Any:
    try:
        with open_by_content(path) as stream:
            content = stream.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise FormatError(f"{path} is larger than {_LARGEST_FILE >> 30} GiB; is it DocRED?")
        return json.loads(content)
    except (ValueError, RecursionError, EOFError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path}: not JSON, or truncated ({error})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
