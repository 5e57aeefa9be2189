"""How a name of an object is written: its words, and the text that people read."""

from functools import lru_cache
from typing import NamedTuple

from lrlm.text.document import LinkableRelation
from lrlm.text.joining import BETWEEN, Joiner, copied_tokens
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
    letters, given_letters = "".join(writings), "".join(given.split())
    if given_letters in (letters, "".join(words)) and not _is_cut_otherwise(words, given):
        return given
    for profile in (Profile.RAW, Profile.WIKITEXT):
        tokens = copied_tokens(split_words(given, profile), given)
        if tokens is not None and len(tokens) == len(words):
            parts = zip(tokens, writings, strict=True)
            written = "".join(token.gap + writing for token, writing in parts)
            if _is_cut_into(words, written):
                return written
    if len(letters) == len(given_letters):
        rest = iter(letters)
        written = "".join(each if each.isspace() else next(rest) for each in given)
        if _is_cut_into(words, written):
            return written
    return _joined(words)


def _is_cut_into(words: tuple[str, ...], text: str) -> bool:
    return any(split_words(text, profile) == words for profile in Profile)


def _is_cut_otherwise(words: tuple[str, ...], given: str) -> bool:
    """Say whether a name with the letters of a given one has other spaces: "18g", not "18 g"."""
    return not _is_cut_into(words, given) and split_words(_joined(words), Profile.RAW) == words


def _joined(words: tuple[str, ...]) -> str:
    """Put the words of a name together as those of a text."""
    is_marked = not BETWEEN.keys().isdisjoint(words)
    joiner = Joiner(Profile.WIKITEXT if is_marked else Profile.RAW)
    for word in words:
        joiner.add(word)
    return joiner.finish()
