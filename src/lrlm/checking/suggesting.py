"""Gather the new facts that many texts state, with their evidence, for a person to accept."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from lrlm.checking.findings import CheckedText, GraphVerdict
from lrlm.knowledge.schema import NameKind, kind_of_name
from lrlm.plain_data import json_text

FORMAT, VERSION = "lrlm suggestion", 1

MOST_EVIDENCE = 20
"""Places that are told of each fact, the most probable ones; all count."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


class Evidence(NamedTuple):
    """A place in a text that states a fact."""

    document: str
    start: int
    end: int
    probability: float
    sentence: str
    """The text around it."""


@dataclass(frozen=True)
class Suggestion:
    """A fact that texts state and the graph does not have."""

    topic: str
    type: str
    object: str
    """An entity that is known by this name, or the name itself."""
    name: str
    probability: float
    """That at least one of the texts states it, if they are independent of each other."""
    texts: int
    """How many texts state it."""
    evidence: tuple[Evidence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "triple": [self.topic, self.type, self.object],
            "name": self.name,
            "probability": self.probability,
            "texts": self.texts,
            "evidence": [each._asdict() for each in self.evidence],
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON."""
        return json_text(self.to_dict())

    def to_ntriples(self) -> str:
        """Write the fact as a line of N-Triples; ids that are no addresses become URNs."""
        is_value = kind_of_name(self.object) not in (NameKind.NAME, NameKind.WORDS)
        object_ = _literal(self.object) if is_value else _address(self.object)
        return f"{_address(self.topic)} {_address(self.type)} {object_} ."


def suggestions(checked: Iterable[CheckedText]) -> list[Suggestion]:
    """Put the new facts of texts together, the most probable first.

    Within a text, the most probable place counts; texts count as independent of each other.
    """
    found: dict[tuple[str, str, str], dict[int, list[Evidence]]] = {}
    names: dict[tuple[str, str, str], str] = {}
    for number, text in enumerate(checked):
        for finding in text.findings:
            if finding.verdict is GraphVerdict.NEW:
                names.setdefault(finding.triple, finding.text)
                place = Evidence(
                    text.id,
                    finding.start,
                    finding.end,
                    finding.probability,
                    _around(text.text, finding.start, finding.end),
                )
                found.setdefault(finding.triple, {}).setdefault(number, []).append(place)
    gathered = [
        _suggestion(triple, names[triple], list(texts.values())) for triple, texts in found.items()
    ]
    return sorted(gathered, key=lambda each: (-each.probability, each.topic, each.type, each.name))


def _suggestion(triple: tuple[str, str, str], name: str, texts: list[list[Evidence]]) -> Suggestion:
    against = math.prod(1.0 - max(each.probability for each in places) for places in texts)
    evidence = sorted((each for places in texts for each in places), key=lambda e: -e.probability)
    return Suggestion(*triple, name, 1.0 - against, len(texts), tuple(evidence[:MOST_EVIDENCE]))


def _around(text: str, start: int, end: int) -> str:
    """Give the sentence of a place, or as much of it as can be shown."""
    first = max(text.rfind(mark, max(start - 200, 0), start) for mark in (". ", "! ", "? ", "\n"))
    begin = max(start - 200, 0) if first < 0 else first + 1
    ends = [text.find(mark, end, end + 200) for mark in (".", "!", "?", "\n")]
    stop = min((each for each in ends if each >= 0), default=min(end + 200, len(text)))
    return " ".join(text[begin : stop + 1].split())


def _address(id_: str) -> str:
    if _ADDRESS.fullmatch(id_):
        return f"<{id_}>"
    return f"<urn:lrlm:{quote(id_, safe='')}>"


def _literal(value: str) -> str:
    escaped = "".join(_escapes(value))
    return f'"{escaped}"'


def _escapes(value: str) -> Iterator[str]:
    marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    for character in value:
        yield marks.get(character, character)
