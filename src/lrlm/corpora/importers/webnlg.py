"""Import WebNLG: short texts that tell triples of DBpedia.

An entry is a small tree of triples with several texts. Its topic is the root of the tree; the
topic's facts are all triples of the data that start at it, told in the text or not.

The enriched files also have references: the words of a text that refer to an entity, cut into
tokens, without saying where they are; and they may be more than a name, or none. Those that name
their entity are gold mentions.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element  # as a type only

from lrlm.corpora.importers.dbpedia_names import dbpedia_forms
from lrlm.corpora.importers.intake import (
    Intake,
    SplitPolicy,
    existing,
    split_by_topic,
    split_named,
)
from lrlm.corpora.importers.safe_files import elements
from lrlm.corpora.inputs import ReadSettings
from lrlm.corpora.linking import STOP_WORDS, LinkOptions
from lrlm.corpora.name_rules import EVERYDAY_RULES, LetterCase
from lrlm.corpora.staging import Staging
from lrlm.errors import FormatError, InputError
from lrlm.text import Profile
from lrlm.text_files import BadLineError

_NOT_GOOD = frozenset(("bad", "toFix"))
"""What annotators said of texts that do not tell the triples."""
_NO_NAMES = frozenset(("pronoun", "demonstrative"))
_LONGEST_NAME = 2000
"""Characters; what is longer is no name of DBpedia, and patterns take long to read it."""
_ARTICLE_BEFORE = re.compile(r"(?:the|an|a(?!\s+\w\b))\s+", re.IGNORECASE)
"""Before a single letter it is none: in "A T Johnson" it is an initial."""
_POSSESSIVE = re.compile(r"\s*['’]s?$")
_BEFORE = re.compile(r"[\s,;:\"“”]+|(?P<word>[a-z]\w*)(?=[\s,])")
_AFTER = re.compile(r"[\s,;:\"“”]+$|(?<=[\s,])(?P<word>[a-z]\w*)$")
_QUOTES = {"``": r"[\"“”]", "''": r"[\"“”]"}
"""How quotation marks are written in references, and in texts."""
_ABBREVIATION = re.compile(r"(?<!\w)(?:\w\.)+\w$")


class WebNlgTriple(NamedTuple):
    """A fact as the files write it, between bars."""

    subject: str
    type: str
    object: str


def triples_of(entry: Element) -> list[WebNlgTriple]:
    """Read the triples that an entry's texts tell."""
    triples = []
    for element in entry.iterfind("modifiedtripleset/mtriple"):
        parts = [part.strip() for part in (element.text or "").split(" | ")]
        if len(parts) != 3 or not all(parts) or max(map(len, parts)) > _LONGEST_NAME:
            raise BadLineError(f"not subject | relation | object: {(element.text or '')[:80]!r}")
        triples.append(WebNlgTriple(*parts))
    if not triples:
        raise BadLineError("an entry without triples")
    return triples


def root_of(triples: list[WebNlgTriple]) -> str:
    """Find the subject that no triple leads to; of several, or none, the one with most triples."""
    often = Counter(triple.subject for triple in triples)
    objects = {triple.object for triple in triples}
    roots = [subject for subject in often if subject not in objects] or list(often)
    return max(roots, key=lambda subject: often[subject])  # the first of equal ones


class WebNlg:
    """WebNLG's XML, official or enriched: a folder or one file, and how it is split."""

    def __init__(self, path: Path | str, *, split: SplitPolicy = SplitPolicy.TOPIC) -> None:
        self.path = existing(path)
        self.split = split

    @property
    def profile(self) -> Profile:
        """The texts are as people typed them."""
        return Profile.RAW

    @property
    def link_options(self) -> LinkOptions:
        """In all ways in which people write: DBpedia has one name for each thing."""
        return LinkOptions(letter_case=LetterCase.FORGIVING, name_rules=EVERYDAY_RULES)

    @property
    def command(self) -> str:
        """The command that imports this, for the manifest."""
        return f"lrlm corpus import webnlg --split {self.split.value}"

    @property
    def files(self) -> list[Path]:
        """All XML files, in the order of their names."""
        files = [self.path] if self.path.is_file() else sorted(self.path.rglob("*.xml"))
        if not files:
            raise FormatError(f"{self.path} holds no .xml file")
        return files

    def fill(self, staging: Staging, settings: ReadSettings) -> Mapping[str, int]:
        """Read the files twice: first all facts, then the texts."""
        intake = Intake(staging, settings, self.path)
        graphs: dict[str, set[WebNlgTriple]] = {}
        topics: dict[str, set[str]] = {}
        for path, entry in self._entries():
            try:
                triples = triples_of(entry)
            except BadLineError as error:
                intake.add_bad(f"{self._name(path)}/{entry.get('eid')}", str(error))
                continue
            topic = root_of(triples)
            graphs.setdefault(self._graph(path), set()).update(triples)
            topics.setdefault(self._graph(path), set()).add(topic)
        stars = self._add_graph(graphs, topics, intake)
        for path, entry in self._entries():
            self._add_texts(path, entry, stars, intake)
        return intake.finish()

    def _entries(self) -> Iterator[tuple[Path, Element]]:
        for path in self.files:
            for entry in elements(path, "entry"):
                yield path, entry

    def _name(self, path: Path) -> str:
        if self.path.is_file():
            return path.stem
        return path.relative_to(self.path).with_suffix("").as_posix()

    def _graph(self, path: Path) -> str:
        """Name the graph a file belongs to: of its split, or of all where topics are split anew."""
        return "all" if self.split is SplitPolicy.TOPIC else self._official_split(path)

    def _official_split(self, path: Path) -> str:
        names = (path.name,) if self.path.is_file() else path.relative_to(self.path).parts
        split = next((split for name in names if (split := split_named(name))), None)
        if split is None:
            raise InputError(
                f"{path}: of train, dev and test, no folder or file name says which it is;"
                " split the topics anew instead"
            )
        return split

    def _split(self, path: Path, topic: str) -> str:
        if self.split is SplitPolicy.TOPIC:
            return split_by_topic(topic)
        return self._official_split(path)

    @staticmethod
    def _add_graph(
        graphs: Mapping[str, set[WebNlgTriple]], topics: Mapping[str, set[str]], intake: Intake
    ) -> dict[str, set[str]]:
        """Take in the facts of all topics; give the objects of each topic.

        A topic that is in two official splits is kept in the later one, and so are its facts.
        """
        order = ("train", "valid", "test", "all")
        home = {topic: name for name in order for topic in topics.get(name, ())}
        stars: dict[str, set[str]] = {topic: {topic} for topic in home}
        for name in order:
            for triple in sorted(graphs.get(name, ())):
                if home.get(triple.subject) == name:
                    intake.add_fact(*triple)
                    stars[triple.subject].add(triple.object)
        for entity in sorted(set().union(*stars.values())):
            for form in dbpedia_forms(entity):
                intake.add_name(entity, form)
        return stars

    def _add_texts(
        self, path: Path, entry: Element, stars: Mapping[str, set[str]], intake: Intake
    ) -> None:
        try:
            topic = root_of(triples_of(entry))
        except BadLineError:
            return  # counted when the facts were read
        split = self._split(path, topic)
        title = dbpedia_forms(topic)
        for number, lex in enumerate(entry.iterfind("lex"), start=1):
            if lex.get("lang", "en") != "en":
                intake.left_out["texts in another language"] += 1
                continue
            if lex.get("comment") in _NOT_GOOD:
                intake.left_out["texts that their annotators called bad"] += 1
                continue
            child = lex.find("text")
            text = ((child.text if child is not None else lex.text) or "").strip()
            if not text:
                intake.left_out["texts that are blank"] += 1
                continue
            id_ = f"{self._name(path)}/{entry.get('eid', '')}/{lex.get('lid', number)}"
            record: dict[str, Any] = {"id": id_, "topic": topic, "text": text}
            record["title"] = title[0] if title else topic
            if lex.find("references") is not None:
                record["gold"] = _gold(lex, text, stars[topic], intake)
            try:
                intake.add_article(split, record)
            except BadLineError as error:
                intake.add_bad(id_, str(error))


def _gold(lex: Element, text: str, star: set[str], intake: Intake) -> list[dict[str, Any]]:
    """Keep the references that name the topic or the object of one of its facts."""
    listed = list(lex.iterfind("references/reference"))
    placed = place_references(text, [(each.get("entity", ""), each.text or "") for each in listed])
    gold = []
    for element, reference in zip(listed, placed, strict=True):
        if reference is None:
            intake.left_out["references that are not in the text"] += 1
            continue
        name = None
        if max(reference.end - reference.start, len(reference.entity)) <= _LONGEST_NAME:
            forms = dbpedia_forms(reference.entity)
            name = name_within(text, reference.start, reference.end, forms)
        if name is None or element.get("type") in _NO_NAMES:
            intake.left_out["references that are no names"] += 1
        elif reference.entity not in star:
            intake.left_out["references to what is not in the topic's facts"] += 1
        else:
            gold.append({"start": name[0], "end": name[1], "object": reference.entity})
    return gold


class PlacedReference(NamedTuple):
    """Words of a text that refer to an entity: the characters `[start, end)`."""

    start: int
    end: int
    entity: str


def place_references(text: str, references: list[tuple[str, str]]) -> list[PlacedReference | None]:
    """Find mentions in the order in which they are listed, as (entity, words); None if not there.

    The words are given as tokens, so that spaces between them may be missing in the text, and the
    last full stop of an abbreviation may be missing in the reference.
    """
    placed: list[PlacedReference | None] = []
    place = 0
    for entity, words in references:
        pattern = r"\s*".join(_QUOTES.get(word, re.escape(word)) for word in words.split())
        before = r"(?<!\w)" if words[:1].isalnum() else ""
        after = r"(?!\w)" if words[-1:].isalnum() else ""
        found = re.compile(before + pattern + after).search(text, place) if pattern else None
        if found is None:
            placed.append(None)
            continue
        place = found.end()
        if text.startswith(".", place) and _ABBREVIATION.search(found[0]):
            place += 1
        placed.append(PlacedReference(found.start(), place, entity))
    return placed


def name_within(
    text: str, start: int, end: int, forms: Sequence[str] = ()
) -> tuple[int, int] | None:
    """Leave "the" and "'s" out of a mention; None if it is no name, as "it" and "the city".

    Both are part of a name where a form of the entity has them. Words before and after a name that
    begin with a small letter and are in no form are no part of it: "architect John Madin" names
    John Madin. A name has a capital letter or a digit, or else all words of one of the forms:
    "olive oil" names Olive oil, but "the airport" does not name Aarhus Airport.
    """
    known = {stem for form in forms for word in _words(form) for stem in _stems(word)}
    beginnings = tuple(" ".join(form.casefold().split()[:2]) for form in forms)
    while match := _ARTICLE_BEFORE.match(text, start, end) or _BEFORE.match(text, start, end):
        if match.re is _ARTICLE_BEFORE:
            is_part = text[start:end].casefold().startswith(beginnings)
        else:
            is_part = not known.isdisjoint(_stems(match["word"] or ""))
        if is_part:
            break
        start = match.end()
    while match := _POSSESSIVE.search(text[start:end]) or _AFTER.search(text[start:end]):
        if match.re is _POSSESSIVE:
            is_part = text[start:end] in forms
        else:
            is_part = not known.isdisjoint(_stems(match["word"] or ""))
        if is_part:
            break
        end = start + match.start()
    return (start, end) if _is_name(text[start:end], forms) else None


def _is_name(mention: str, forms: Sequence[str]) -> bool:
    words = _content_words(mention)
    if any(word != word.lower() or word.isdigit() for word in words):
        return True
    said = {stem for word in words for stem in _stems(word)}
    return any(
        all(not said.isdisjoint(_stems(word)) for word in content)
        for form in forms
        if (content := _content_words(form))
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _content_words(text: str) -> list[str]:
    return [word for word in _words(text) if word.casefold() not in STOP_WORDS]


def _stems(word: str) -> set[str]:
    """Give a word in small letters, with its ending and without, since it may be a plural."""
    small = word.casefold()
    return {small, small.removesuffix("s"), small.removesuffix("es")} - {""}
