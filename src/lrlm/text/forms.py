"""How a name of an object is written: its words, and the text that people read."""

from functools import lru_cache
from typing import NamedTuple

from lrlm.text.document import LinkableRelation
from lrlm.text.joining import BETWEEN, copied_tokens
from lrlm.text.tokeniser import Profile, split_words


class SurfaceForm(NamedTuple):
    """A name of an object: cut into words as articles are, and as it is written."""

    words: tuple[str, ...]
    text: str


def surface_forms(relation: LinkableRelation) -> list[SurfaceForm]:
    """List the forms of a relation's object, in words and as they are written."""
    return [
        SurfaceForm(words, form_text(words, text))
        for words, text in zip(relation.forms, relation.texts, strict=True)
    ]


@lru_cache(maxsize=1 << 16)
def form_text(words: tuple[str, ...], given: str) -> str:
    """Write a form as it was given, or a variant of it with the spaces of what was given.

    >>> form_text(("+", "47"), "+47")
    '+47'
    >>> form_text(("ROCK", "'", "N", "'", "ROLL"), "Rock 'n' Roll")
    "ROCK 'N' ROLL"
    """
    writings = [BETWEEN.get(word, word) for word in words]
    letters = "".join(writings)
    if letters == "".join(given.split()) or "".join(words) == "".join(given.split()):
        return given
    for profile in (Profile.RAW, Profile.WIKITEXT):
        tokens = copied_tokens(split_words(given, profile), given)
        if tokens is not None and len(tokens) == len(words):
            parts = zip(tokens, writings, strict=True)
            return "".join(token.gap + writing for token, writing in parts)
    rest = iter(letters)
    return "".join(each if each.isspace() else next(rest, "") for each in given) + "".join(rest)
