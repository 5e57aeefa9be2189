"""What a graph says of a text: its findings, each supported, contradicted or new.

Findings count characters, half-open `[start, end)`, of exactly the text that was given.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from lrlm.annotation.annotation import Fact
from lrlm.look import clipped
from lrlm.plain_data import json_text

FORMAT = "lrlm check"
VERSION = 1

_SHOWN = 5


class GraphVerdict(StrEnum):
    """What the graph says of a statement."""

    SUPPORTED = "supported"
    """The graph has this fact."""
    CONTRADICTED = "contradicted"
    """The graph has another object, of a type that has one."""
    NEW = "new"
    """The graph does not know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of a text, and what the graph says of it.

    >>> finding = checked.findings[0]
    >>> finding.text, str(finding.verdict), finding.fact.type, finding.probability > 0.9
    ('Trondheim', 'contradicted', 'capital', True)
    """

    start: int
    end: int
    text: str
    """The name of the object, as it stands there."""
    verdict: GraphVerdict
    probability: float
    """That the text states this fact here, given the whole text; of a fact that is not known, how
    often such findings are right, if that was fitted for the run."""
    topic: str
    fact: Fact
    """What the text states: type, object and name. An object that the graph does not know is
    called by its name."""
    instead: tuple[Fact, ...] = ()
    """What the graph says, where it contradicts."""

    @property
    def triple(self) -> tuple[str, str, str]:
        """The fact that the text states, as the ids of topic, type and object."""
        return self.topic, self.fact.type, self.fact.object

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values."""
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "verdict": self.verdict.value,
            "probability": self.probability,
            "type": self.fact.type,
            "object": self.fact.object,
            "triple": list(self.triple),
            **(
                {"instead": [{"object": each.object, "name": each.form} for each in self.instead]}
                if self.instead
                else {}
            ),
        }


class Conflict(NamedTuple):
    """Facts of the graph itself that cannot all be true: several objects where topics have one."""

    type: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text about a topic, and what the graph says of its statements.

    >>> model = lrlm.load()
    >>> norway = model.topic("Norway")
    >>> checked = model.check("Norway is a country. Its capital is Trondheim.", norway)
    >>> for finding in checked.findings:
    ...     print(finding.verdict, finding.triple, [fact.form for fact in finding.instead])
    contradicted ('Norway', 'capital', 'Trondheim') ['Oslo']
    """

    id: str
    """Of the document; where it has none, that of its topic."""
    topic: str
    title: str
    """The name of the topic."""
    text: str
    findings: tuple[Finding, ...]
    """In the order of the text; no two of them overlap."""
    conflicts: tuple[Conflict, ...] = ()
    """Where the graph contradicts itself."""

    def __repr__(self) -> str:
        names = [f"{each.text} ({each.fact.label}: {each.verdict})" for each in self.findings]
        shown = [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]
        return f"CheckedText({clipped(self.text)!r}, topic={self.topic!r}, findings={shown})"

    def of(self, verdict: str) -> tuple[Finding, ...]:
        """Give the findings with one verdict: supported, contradicted or new."""
        return tuple(each for each in self.findings if each.verdict == GraphVerdict(verdict))

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values; docs/check.md describes every field."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "topic": self.topic,
            "title": self.title,
            "text": self.text,
            "findings": [finding.to_dict() for finding in self.findings],
            "conflicts": [
                {"type": each.type, "objects": [fact.object for fact in each.facts]}
                for each in self.conflicts
            ],
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON."""
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """Show the text with its findings marked, in a notebook."""
        from lrlm.checking.html import html_fragment

        return html_fragment(self)
