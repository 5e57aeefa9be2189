"""A raw text and a topic in, a linked document out: as the model's corpus was linked."""

import unicodedata
from typing import IO

from lrlm.corpora import LinkedDocument, LinkOptions, Matcher, linkable_relations
from lrlm.errors import InputError
from lrlm.knowledge import Topic
from lrlm.text import Profile, tokenise

LONGEST = 1_000_000
"""Characters of a text that are read at once, unless more are allowed."""

_WHITE_SPACE = frozenset("\t\n\r\f\v\x85")
"""The control characters that a text may hold: they only part tokens."""


def link_text(
    text: str, topic: Topic, options: LinkOptions, *, longest: int = LONGEST, name: str = ""
) -> LinkedDocument:
    """Link a text with what is known about its topic; offsets are into exactly this text."""
    check_text(text, longest=longest)
    check_topic(topic)
    tokens = tokenise(text, reading_profile(options))
    relations = linkable_relations(topic, options)
    mentions = tuple(Matcher(relations).find(tokens.words))
    return LinkedDocument(
        name or topic.id, topic.id, topic.names[0], text, tokens, relations, mentions
    )


def read_text(source: IO[bytes], *, where: str, longest: int = LONGEST) -> str:
    """Read a text in UTF-8 as it is, line ends included; `where` names it in an error."""
    most = 4 * longest + 3  # bytes: of the longest text, and of a mark that some editors write
    raw = source.read(most + 1)
    if len(raw) > most:
        raise InputError(f"{where}: " + _too_long("too many", longest))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not UTF-8 at byte {error.start + 1}; save it as UTF-8, or convert it"
        ) from None
    check_text(text, longest=longest)
    return text


def reading_profile(options: LinkOptions) -> Profile:
    """Say how a raw text is cut for a model whose corpus may have come in tokens already."""
    return Profile.RAW if options.profile is Profile.SPACES else options.profile


def check_topic(topic: Topic) -> None:
    """Refuse what is no topic, such as the name of one."""
    if not isinstance(topic, Topic):
        raise InputError(
            f"a topic must be an lrlm.Topic, not {topic!r}; make one, or take one from a graph"
            " (lrlm.KnowledgeGraph.open(…).topic(…))"
        )


def check_text(text: str, *, longest: int = LONGEST) -> None:
    """Refuse what is no text, before any work is done."""
    if not isinstance(text, str):
        raise InputError(f"a text must be a string, not {type(text).__name__}")
    if not text.strip():
        raise InputError("the text is empty: there is nothing to read")
    if len(text) > longest:
        raise InputError(_too_long(f"{len(text):,}", longest))
    for place, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in _WHITE_SPACE:
            line = text.count("\n", 0, place) + 1
            what = "control character" if character < "\ud800" else "half of a surrogate pair,"
            raise InputError(
                f"the text has the {what} U+{ord(character):04X} at character"
                f" {place} (line {line}); remove it: it belongs to no word"
            )


def _too_long(characters: str, longest: int) -> str:
    return (
        f"the text has {characters} characters, more than the {longest:,} that are read at once;"
        " cut it into articles, or allow more with 'longest' (--longest)"
    )
