"""What linking makes of an article: its words, its topic's relations, and where they may meet."""

from dataclasses import dataclass
from typing import NamedTuple

from lrlm.text.tokeniser import Tokens


class Mention(NamedTuple):
    """A candidate: words `[start, end)` may be a copy of one form of one relation's object."""

    start: int
    end: int
    relation: int
    """Index into the document's relations."""
    form: int
    """Index into that relation's forms."""


class GoldSpan(NamedTuple):
    """A mention that is known to be there, as articles give it: characters `[start, end)`."""

    start: int
    end: int
    type: str | None = None
    """The relation's type, if it is known."""
    object: str | None = None
    """What the characters name, if it is known."""


class GoldMention(NamedTuple):
    """A mention that is known to be there: words `[start, end)`, and what they name."""

    start: int
    end: int
    type: str | None
    object: str | None


@dataclass(frozen=True, slots=True)
class LinkableRelation:
    """A relation whose forms are cut into words as the article is; no two forms are alike."""

    type: str
    object: str
    forms: tuple[tuple[str, ...], ...]
    """`A(object)`, the canonical form first."""
    texts: tuple[str, ...]
    """Each form as it was written before it was cut into words."""
    label: str = ""
    """What people call the type; without a label, the type is its own name."""
    is_open: bool = False
    """Whether it stands for a fact that is not known, whose object is another one: its mentions
    are names that the text has, not its own form, which only says what such objects are like."""

    def __post_init__(self) -> None:
        """Call a type that has no label by itself."""
        if not self.label:
            object.__setattr__(self, "label", self.type)


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """An article about a topic, with every place where the topic's knowledge may have been used."""

    id: str
    topic: str
    title: str
    text: str
    tokens: Tokens
    """Its words, with their places in the text."""
    relations: tuple[LinkableRelation, ...]
    mentions: tuple[Mention, ...]
    """Sorted; spans may overlap, nest and coincide."""
    gold: tuple[GoldMention, ...] | None = None
    """The true mentions where they are known; all other words are plain words."""
    topic_probability: float | None = None
    """How probable it is that the text is about its topic, where that was found and not given."""
