"""Import DocRED or Re-DocRED: Wikipedia introductions with entities and relations.

A document's topic is the entity that its title names. The topic's facts are the relations that
start at it, the forms of an object are the names that it has in the documents, and the gold
mentions are where the topic and its objects are mentioned.
"""

import codecs
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
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
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.text import Profile
from lrlm.text_files import BadLineError, MeteredStream, open_by_content, reading

NAMES = "pid2name.json"
_DATES = {
    "P569": "date of birth", "P570": "date of death", "P571": "inception",
    "P576": "dissolved, abolished or demolished", "P577": "publication date",
    "P580": "start time", "P582": "end time", "P585": "point in time",
}  # fmt: skip
"""Relations that documents use and `pid2name.json` does not name."""
_LARGEST_NAMES = 16 << 20
"""Bytes of the file that names relations."""
_LARGEST_DOCUMENT = 4 << 20
"""Characters; JSON takes twenty times its size in memory."""
_BLOCK = 1 << 16
_SPACE = re.compile(r"[ \t\n\r]*")
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
    kept = [
        list(accumulate((bool(word.strip()) for word in sentence), initial=0))
        for sentence in sentences
    ]
    words = ["".join(word.split()) for sentence in sentences for word in sentence if word.strip()]
    offsets = list(accumulate((sentence[-1] for sentence in kept), initial=0))
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
    mentions: Any, kept: list[list[int]], offsets: list[int], words: list[str]
) -> DocRedEntity:
    """Check an entity; `kept` counts for each sentence the words before each of its tokens."""
    found: set[DocRedMention] = set()
    for mention in mentions if isinstance(mentions, list) else ():
        match mention:
            case {"name": str(), "sent_id": int(sentence), "pos": [int(start), int(end)]} if (
                0 <= sentence < len(kept) and 0 <= start < end < len(kept[sentence])
            ):
                first = offsets[sentence] + kept[sentence][start]
                last = offsets[sentence] + kept[sentence][end]
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
    with_brackets = _fold(document.title)
    folded = [[_fold(name) for name in entity.names] for entity in document.entities]
    for fits in (
        lambda name: name in (whole, with_brackets),
        lambda name: name == before_comma,
        lambda name: len(whole) > 1 and _is_within(whole, name),
    ):
        fitting = [number for number, names in enumerate(folded) if any(map(fits, names))]
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
    def link_options(self) -> LinkOptions:
        """As they are given: names are those of the documents."""
        return LinkOptions()

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
            for number, record in enumerate(_documents_in(path), start=1):
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
    with reading(path, "JSON"), open_by_content(path) as stream:
        content = stream.read(_LARGEST_NAMES + 1)
        if len(content) > _LARGEST_NAMES:
            raise FormatError(f"{path} is larger than {_LARGEST_NAMES >> 20} MiB; is it DocRED?")
        return json.loads(content)


def _documents_in(path: Path) -> Iterator[Any]:
    """Read a list of documents, holding no more than one of them in memory."""
    with reading(path, "JSON"), open_by_content(path) as stream:
        yield from _JsonList(MeteredStream(stream, path), path).items()


class _JsonList:
    """A list in JSON that is read item by item, in whatever encoding JSON may be written."""

    def __init__(self, stream: MeteredStream, path: Path) -> None:
        self._stream, self._path = stream, path
        beginning = stream.read(_BLOCK)
        encoding = json.detect_encoding(beginning)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._text, self._at = self._decoder.decode(beginning), 0

    def items(self) -> Iterator[Any]:
        """Give the items in order."""
        if self._next_character() not in ("[", ""):
            raise FormatError(f"{self._path}: expected a list of documents")
        self._take("[")
        if self._next_character() != "]":
            yield self._value()
            while self._next_character() == ",":
                self._at += 1
                yield self._value()
        self._take("]")
        if self._next_character():
            raise FormatError(f"{self._path}: not JSON (something follows the list)")

    def _take(self, character: str) -> None:
        if (found := self._next_character()) != character:
            what = f"there is {found!r}" if found else "it ends"
            raise FormatError(f"{self._path}: not JSON, or truncated ({what} before {character!r})")
        self._at += 1

    def _value(self) -> Any:
        self._next_character()
        size = _BLOCK
        while True:
            problem: json.JSONDecodeError | None = None
            try:
                value, end = json.JSONDecoder().raw_decode(self._text, self._at)
                if end < len(self._text):  # else a number could go on
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                problem = error
            left = _LARGEST_DOCUMENT - (len(self._text) - self._at)
            if left < 0:
                raise FormatError(
                    f"{self._path}: not JSON, or one document of more than"
                    f" {_LARGEST_DOCUMENT >> 20} MiB ({problem})"
                )
            if not self._read_on(min(size, left + 1)):
                raise FormatError(f"{self._path}: not JSON, or truncated ({problem})")
            size *= 2

    def _next_character(self) -> str:
        """Go to the next character that is no space; give it, or nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_on(_BLOCK):
                return ""

    def _read_on(self, size: int) -> bool:
        block = self._stream.read(size)
        self._text = self._text[self._at :] + self._decoder.decode(block, final=not block)
        self._at = 0
        return bool(block)
