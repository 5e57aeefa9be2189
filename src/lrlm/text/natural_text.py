"""Put the words of a tokenised document together to the text that people would have written.

A pretrained language model has read "Oslo, the capital", not "Oslo , the capital". Other than
`Joiner`, which writes only what can be cut again into the same words, this module may write "J."
for "J" and ".": every word is known already and keeps its place.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lrlm.text.joining import BETWEEN, TO_THE_LEFT, TO_THE_RIGHT
from lrlm.text.tokeniser import Tokens

_CAPITALS = ("'S", "'RE", "'LL", "'VE", "'D", "'M", "'T", "N'T", "’S", "’T", "N’T")
_LEFT = TO_THE_LEFT.union(_CAPITALS, ("»", "’", "''", "’re", "’ll", "’ve", "’d", "’m"))
"""Words that stand at the end of the word before them."""

_RIGHT = TO_THE_RIGHT | frozenset(["‘", "«", "¿", "¡", "``"])
"""Words that stand at the beginning of the word after them."""

_WRITINGS = {"``": '"', "''": '"', "@-@": "-", "@,@": ",", "@.@": "."}
"""Words that are written in another way."""

_CURRENCIES = frozenset(["US", "AU", "CA", "HK", "NZ"])
"""What stands right before a dollar sign."""

_OPENS_A_QUOTE = re.compile(r"'(?!(?:em|til|tis|twas|n|cause|round)\b)[^\W\d]", flags=re.IGNORECASE)
"""A word with a single quote in front that is no apostrophe: neither 'em nor '90s."""

_APART = frozenset([*",.;:!?()", "'s", "n't"])
"""Words that stand alone in tokenised text only."""

_IN_A_TOKENISED_NAME = frozenset([*",.()", "'s", "n't", "``", "''", "@-@", "@,@", "@.@"])
"""Words of a name that stand alone only where somebody has cut it into words. Other marks may stand
alone in French: "Où est la maison ?"."""

_ATTACHED = re.compile(r"\w[,;:!?)](?=\s|\Z)")
"""What tokenised text does not have; points of abbreviations ("U.S.") stay there as well."""

_LONGEST_QUOTE = 15
"""Words within single quotes; an apostrophe further away is one of its own."""


@dataclass(frozen=True, slots=True)
class NaturalText:
    """A text as people write it; `text[starts[i]:ends[i]]` is how word i is written there."""

    text: str
    starts: list[int]
    ends: list[int]


def natural_text(words: Sequence[str], *, breaks: Iterable[int] = ()) -> NaturalText:
    """Put words together; a new line begins before each word whose number is among `breaks`.

    >>> natural_text("Its capital ( Oslo ) isn 't co @-@ located , he said .".split()).text
    "Its capital (Oslo) isn't co-located, he said."
    """
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    lines = frozenset(breaks)
    quotes = _Quotes(words)
    end = 0
    is_glued = True  # nothing parts the next word from what is before it
    before = ""
    for number, word in enumerate(words):
        glues_left, glues_right, writing = False, False, word
        if not word.isalpha():
            glues_left, glues_right = _sides(words, number, before, quotes)
            writing = _WRITINGS.get(word, word)
        if number in lines and parts:
            parts.append("\n")
            end += 1
        elif parts and not (is_glued or glues_left):
            parts.append(" ")
            end += 1
        starts.append(end)
        parts.append(writing)
        end += len(writing)
        ends.append(end)
        is_glued, before = glues_right, word
    return NaturalText("".join(parts), starts, ends)


def natural_text_of(text: str, tokens: Tokens) -> NaturalText | None:
    """Put a text together that came in words with spaces between them; None where it did not.

    Its lines stay lines.
    """
    words = tokens.words
    if words != text.split() or not _is_tokenised(text, words):
        return None
    breaks: list[int] = []
    if "\n" in text:
        places = zip(tokens.ends, tokens.starts[1:], strict=False)
        breaks = [
            number for number, (end, start) in enumerate(places, 1) if "\n" in text[end:start]
        ]
    return natural_text(words, breaks=breaks)


def came_in_words(name: str) -> bool:
    """Say whether a name was cut into words already: "Bob ( singer )" is nobody's writing.

    >>> came_in_words("Bob ( singer )"), came_in_words("Bob (singer)")
    (True, False)
    """
    words = name.split()
    if name.replace(" ", "").isalnum():
        return False
    quotes = words.count('"')
    return (quotes > 0 and quotes % 2 == 0) or not _IN_A_TOKENISED_NAME.isdisjoint(words)


def _is_tokenised(text: str, words: Sequence[str]) -> bool:
    apart = sum(map(_APART.__contains__, words))
    return apart > 0 and apart > len(_ATTACHED.findall(text))


class _Quotes:
    """Says of straight quotes, in the order of the words, whether they open or close something."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._is_double_open = self._is_single_open = False

    def double_closes(self) -> bool:
        """Take the next double quote; every second one closes."""
        self._is_double_open = not self._is_double_open
        return not self._is_double_open

    def single_closes(self, number: int, before: str) -> bool:
        """Take the word of this number, a single quote that may also be an apostrophe."""
        if self._is_single_open:
            self._is_single_open = False
            return True
        if before[-1:].lower() in "sxz" or before.endswith("in"):  # winners ' group, Lovin ' you
            return True
        following = self._words[number + 1 : number + 1 + _LONGEST_QUOTE]
        self._is_single_open = "'" in following
        return not self._is_single_open

    def single_opens(self, number: int) -> None:
        """Take a word that begins with a single quote."""
        following = self._words[number + 1 : number + 1 + _LONGEST_QUOTE]
        self._is_single_open = "'" in following


def _sides(words: Sequence[str], number: int, before: str, quotes: _Quotes) -> tuple[bool, bool]:
    """Say whether a word stands right behind the one before it, and right before the next one."""
    word = words[number]
    left, right = word in _LEFT, word in _RIGHT
    if word == "$":
        left = before in _CURRENCIES
    elif word in ('"', "'"):
        left = quotes.double_closes() if word == '"' else quotes.single_closes(number, before)
        right = not left
    elif word == "=":  # == Heading ==
        left = before == "="
    elif word in BETWEEN:
        left = right = number + 1 < len(words) and (
            word != "–" or (before[-1:].isdigit() and words[number + 1][:1].isdigit())
        )
    elif word[:1] == "'" and _OPENS_A_QUOTE.match(word):
        quotes.single_opens(number)
    return left, right
