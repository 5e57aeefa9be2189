"""WebNLG's XML in, the official or the enriched one; a corpus of short texts out.

An entry is a small tree of triples with several texts. Its topic is the root of the tree; the
topic's facts are all triples of the data that start at it, told in the text or not. The enriched
files also say which words of a text refer to which entity: those that name it are gold mentions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element  # as a type only

from lrlm.corpora.importers.dbpedia_names import dbpedia_forms
from lrlm.corpora.importers.intake import Intake, SplitPolicy, split_by_topic, split_named
from lrlm.corpora.importers.safe_xml import elements
from lrlm.corpora.importers.webnlg_references import name_within, place_references
from lrlm.corpora.joining import Join
from lrlm.corpora.source import Reading
from lrlm.errors import FormatError, InputError
from lrlm.text import Profile
from lrlm.text_files import BadLineError

_NOT_GOOD = frozenset(("bad", "toFix"))
"""What annotators said of texts that do not tell the triples."""
_NO_NAMES = frozenset(("pronoun", "demonstrative"))


class Triple(NamedTuple):
    """A fact as the files write it, between bars."""

    subject: str
    type: str
    object: str


def triples_of(entry: Element) -> list[Triple]:
    """Read the triples that an entry's texts tell."""
    triples = []
    for element in entry.iterfind("modifiedtripleset/mtriple"):
        parts = [part.strip() for part in (element.text or "").split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise BadLineError(f"not subject | relation | object: {(element.text or '')[:80]!r}")
        triples.append(Triple(*parts))
    if not triples:
        raise BadLineError("an entry without triples")
    return triples


def root_of(triples: list[Triple]) -> str:
    """Find the subject that no triple leads to; of several, or none, the one with most triples."""
    often = Counter(triple.subject for triple in triples)
    objects = {triple.object for triple in triples}
    roots = [subject for subject in often if subject not in objects] or list(often)
    return max(roots, key=lambda subject: often[subject])  # the first of equal ones


@dataclass(frozen=True)
class WebNlg:
    """A folder of WebNLG files, and how they are split."""

    path: Path
    split: SplitPolicy = SplitPolicy.TOPIC

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise InputError(f"{self.path}: there is no such file or folder")

    @property
    def profile(self) -> Profile:
        """The texts are as people typed them."""
        return Profile.RAW

    @property
    def command(self) -> str:
        """How this is imported."""
        return f"lrlm corpus import webnlg --split {self.split.value}"

    @property
    def files(self) -> list[Path]:
        """All XML files, in the order of their names."""
        files = [self.path] if self.path.is_file() else sorted(self.path.rglob("*.xml"))
        if not files:
            raise FormatError(f"{self.path} holds no .xml file")
        return files

    def fill(self, join: Join, reading: Reading) -> Mapping[str, int]:
        """Read the files twice: first all facts, then the texts."""
        intake = Intake(join, reading, self.path)
        graphs: dict[str, set[Triple]] = {}
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
                " use --split topic"
            )
        return split

    def _split(self, path: Path, topic: str) -> str:
        if self.split is SplitPolicy.TOPIC:
            return split_by_topic(topic)
        return self._official_split(path)

    @staticmethod
    def _add_graph(
        graphs: Mapping[str, set[Triple]], topics: Mapping[str, set[str]], intake: Intake
    ) -> dict[str, set[str]]:
        """Put the facts of all topics into the join; give the objects of each topic.

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
        forms = dbpedia_forms(reference.entity)
        name = name_within(text, reference.start, reference.end, forms)
        if name is None or element.get("type") in _NO_NAMES:
            intake.left_out["references that are no names"] += 1
        elif reference.entity not in star:
            intake.left_out["references to what is not in the topic's facts"] += 1
        else:
            gold.append({"start": name[0], "end": name[1], "object": reference.entity})
    return gold
