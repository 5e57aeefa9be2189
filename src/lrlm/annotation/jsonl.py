"""Annotate many texts given as lines of JSON.

    {"id": "1", "text": "Oslo lies in Norway.", "topic": "Q585"}

`topic` is an id that a collection knows, or a whole topic (see `Topic.from_json`). `id` may be left
out, and so may `topic`: it is then found among all topics of the collection.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lrlm.annotation.annotate import annotate
from lrlm.corpora import LONGEST
from lrlm.errors import FormatError, InputError, TopicLookupError
from lrlm.knowledge import Topic
from lrlm.plain_data import json_text
from lrlm.runs.run import Run
from lrlm.runs.topics import TopicLookup
from lrlm.text import LinkedDocument
from lrlm.text_files import BadLineError, BadLines, parse_lines
from lrlm.topics.finding import TopicRanker

MOST_KNOWN = 10_000
"""Topics that are kept; then all are forgotten."""


@dataclass(frozen=True)
class TextLine:
    """A text to annotate; its topic, or what the topic is called."""

    id: str
    """Blank where it has none."""
    text: str
    topic: Topic | str | None
    """None where it is to be found."""


def parse_line(line: str) -> TextLine:
    """Read one line; a `BadLineError` says why it cannot be used."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLineError(f"not JSON ({error})") from None
    if not isinstance(content, dict):
        raise BadLineError("not a JSON object")
    if "text" not in content:
        raise BadLineError("lacks the field 'text'")
    given, text, topic = content.get("id", ""), content["text"], content.get("topic")
    if not isinstance(given, str | int):
        raise BadLineError("'id' must be a text or a whole number")
    if isinstance(given, str) and not given.isprintable():
        raise BadLineError("'id' holds characters that cannot be printed")
    if not isinstance(text, str):
        raise BadLineError("'text' must be a text")
    if topic is None or isinstance(topic, str):
        return TextLine(str(given), text, topic)
    try:
        return TextLine(str(given), text, Topic.from_json(topic))
    except InputError as error:
        raise BadLineError(str(error)) from None


@dataclass
class LineLinker:
    """Turns lines into linked documents; topics are looked up once."""

    run: Run
    topics: TopicLookup | None = None
    longest: int = LONGEST
    letter_case: str | None = None
    name_rules: Sequence[str] | None = None
    """How names are looked for, where not as in the corpus of the run."""
    _known: dict[str, Topic] = field(default_factory=dict)
    _finder: TopicRanker | None = None

    def __call__(self, line: str) -> LinkedDocument:
        """Link the text of a line; a `BadLineError` says why it cannot be used."""
        given = parse_line(line)
        try:
            topic, probability = self._topic(given)
            document = self.run.link(
                given.text,
                topic,
                longest=self.longest,
                id=given.id or None,
                letter_case=self.letter_case,
                name_rules=self.name_rules,
            )
            return replace(document, topic_probability=probability)
        except FormatError:  # what is wrong is not the line
            raise
        except InputError as error:
            raise BadLineError(str(error)) from None

    def _topic(self, line: TextLine) -> tuple[Topic, float | None]:
        """Give the topic of a line and, where it had to be found, how probable it is."""
        if isinstance(line.topic, Topic):
            return line.topic, None
        if line.topic is not None:
            return self._find(line.topic), None
        if self._finder is None:
            if self.topics is None:
                raise TopicLookupError(
                    "a line has no topic, and neither a graph nor a corpus was named to find it in"
                )
            self._finder = TopicRanker(
                self.run,
                self.topics,
                longest=self.longest,
                letter_case=self.letter_case,
                name_rules=self.name_rules,
            )
        match = self._finder.find(line.text)
        return match.topic, match.probability

    def _find(self, name: str) -> Topic:
        if name not in self._known:
            if self.topics is None:
                raise TopicLookupError(
                    f"neither a graph nor a corpus was named to look the topic {name!r} up in; name"
                    " one, or write the whole topic into the line"
                )
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[name] = self.topics.topic(name)
        return self._known[name]


def rank_lines(
    lines: Iterable[bytes], finder: TopicRanker, bad_lines: BadLines, *, where: Path, limit: int
) -> Iterator[str]:
    """Say of a stream of lines what their texts are about; topics that they name do not count."""

    def ranked(line: str) -> str:
        given = parse_line(line)
        try:
            ranking = finder.rank(given.text, limit=limit)
        except InputError as error:
            raise BadLineError(str(error)) from None
        return json_text({"id": given.id, **ranking.to_dict()})

    return parse_lines(lines, where, ranked, bad_lines)


def annotate_lines(
    lines: Iterable[bytes],
    linker: LineLinker,
    bad_lines: BadLines,
    *,
    where: Path,
    threshold: float = 0.0,
    copy_odds: float | str | None = None,
) -> Iterator[str]:
    """Annotate a stream of lines, those that can be used; `where` is the file they come from."""
    documents = parse_lines(lines, where, linker, bad_lines)
    for annotation in annotate(linker.run, documents, copy_odds=copy_odds):
        yield annotation.to_json(threshold=threshold)
