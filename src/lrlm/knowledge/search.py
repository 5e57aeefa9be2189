"""A name in, the keys under which it is found out, and keys that are nearly the same.

A name is found by its beginning, and by the beginning of each of its words, whatever the letter
case, accents and punctuation: "Beyoncé Knowles-Carter" under `beyonce knowles carter`,
`knowles carter` and `carter`. Near matches need no index of their own: every key that is one
letter away from what was asked for is looked up.
"""

import re
import unicodedata
from difflib import SequenceMatcher

KEY_LENGTH = 40
"""Characters of a key; what agrees in so many is told apart by the names themselves."""
WORDS = 4
"""Names of more words are found by their beginning only: those are titles and phrases."""

_NO_WORD = re.compile(r"[\W_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "


class _WithoutAccents(dict[int, int | None]):
    """Maps a character to itself, or to nothing if it stands above or below another."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.combining(chr(code)) else code
        return self[code]


_WITHOUT_ACCENTS = _WithoutAccents()


def fold(name: str) -> str:
    """Write a name without letter case, accents and punctuation."""
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name.casefold())
        name = decomposed.translate(_WITHOUT_ACCENTS)
    folded = name.lower()
    if not folded.replace(" ", "").isalnum():
        folded = _NO_WORD.sub(" ", folded)
    folded = " ".join(folded.split())
    return folded or " ".join(name.split())  # a name of signs only, as "!!!"


def keys(name: str) -> list[str]:
    """Give the keys of a name: the whole, and from each word to the end."""
    folded = fold(name)
    if " " not in folded:
        return [folded[:KEY_LENGTH]]
    words = folded.split(" ")
    starts = len(words) if len(words) <= WORDS else 1
    return [" ".join(words[start:])[:KEY_LENGTH] for start in range(starts)]


IS_PLAIN = "regexp_full_match({0}, '[ -~]*') AND regexp_matches({0}, '[A-Za-z0-9]')"
"""Whether a name has printable ASCII characters only, and a letter or digit among them: SQL."""
PLAIN_WORDS = "string_split(trim(regexp_replace(lower({0}), '[^a-z0-9]+', ' ', 'g')), ' ')"
PLAIN_KEYS = f"""[
    left(array_to_string({{0}}[start:], ' '), {KEY_LENGTH})
    FOR start IN range(1, CASE WHEN len({{0}}) <= {WORDS} THEN len({{0}}) + 1 ELSE 2 END)
]"""
"""The words of a plain name, and from them the same keys as above: for many names at once."""


def near_keys(key: str) -> set[str]:
    """Give all keys that are one letter away: left out, put in, replaced or swapped."""
    cuts = [(key[:place], key[place:]) for place in range(len(key) + 1)]
    near = {head + tail[1:] for head, tail in cuts if tail}
    near |= {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    for letter in _LETTERS:
        near |= {head + letter + tail for head, tail in cuts}
        near |= {head + letter + tail[1:] for head, tail in cuts if tail}
    near = {each.strip()[:KEY_LENGTH] for each in near}
    near -= {key, ""}
    return near


def likeness(asked: str, name: str) -> float:
    """Say how alike two names are, from 0 to 1; 1 if they differ in case and accents only."""
    asked, name = fold(asked), fold(name)
    if asked == name:
        return 1.0
    whole = SequenceMatcher(None, asked, name, autojunk=False).ratio()
    begins = name.startswith(asked) or f" {asked} " in f" {name} "
    return min(0.99, whole + 0.3 * begins)
