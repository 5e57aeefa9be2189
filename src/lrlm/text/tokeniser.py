"""Cut text into words with half-open character offsets, in one of four profiles.

`raw`        running English: words keep inner hyphens and digits their commas ("co-produced",
             "589,419"), clitics stand alone ("did", "n't"; "nation", "'s").
`unspaced`   as raw, and every letter of a script that is written without spaces between words
             (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is a token, with its vowel signs.
`wikitext`   the conventions of WikiText-103: "co", "@-@", "produced"; "589", "@,@", "419";
             "didn", "'t". Marks that are already there pass through.
`spaces`     text that is already tokenised: every run without white space is a token.

Tokenising the tokens of a text again, joined by spaces, gives the same tokens in each profile.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Profile(StrEnum):
    """Which conventions the tokens follow."""

    RAW = "raw"
    UNSPACED = "unspaced"
    WIKITEXT = "wikitext"
    SPACES = "spaces"


_UNSPACED_LETTERS = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Chinese characters
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3"  # Burmese, Khmer
)
_UNSPACED = re.compile(f"[{_UNSPACED_LETTERS}]")
_UNSPACED_SHARE = 0.3
"""Texts with more of their letters in such scripts are cut letter by letter."""


def is_unspaced(character: str) -> bool:
    """Say whether a character is a letter of a script without spaces between words.

    >>> is_unspaced("東"), is_unspaced("ไ"), is_unspaced("я")
    (True, True, False)
    """
    return _UNSPACED.match(character) is not None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text; `text[starts[i]:ends[i]]` is where token i stands."""

    words: list[str]
    starts: list[int]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.words)


def tokenise(text: str, profile: Profile = Profile.RAW) -> Tokens:
    """Cut a text into words, in order, each with its place in exactly this text.

    >>> tokens = tokenise("Oslo lies in Norway.")
    >>> tokens.words
    ['Oslo', 'lies', 'in', 'Norway', '.']
    >>> tokens.starts[3], tokens.ends[3]
    (13, 19)
    """
    words, starts, ends = _cut(text, profile), [], []
    end = 0
    for word in words:
        start = text.index(word, end)  # only white space stands between two tokens
        end = start + len(word)
        starts.append(start)
        ends.append(end)
    if profile is Profile.WIKITEXT:
        _mark_joins(text, words, starts)
    return Tokens(words, starts, ends)


def split_words(text: str, profile: Profile = Profile.RAW) -> tuple[str, ...]:
    """Cut a text into the words of its tokens alone, as forms are compared with an article."""
    if profile is Profile.WIKITEXT:
        return tuple(tokenise(text, profile).words)
    return tuple(_cut(text, profile))


def _cut(text: str, profile: Profile) -> list[str]:
    if profile is Profile.SPACES:
        return text.split()
    return _pattern(profile).findall(text.rstrip())


def detect_profile(texts: Iterable[str]) -> Profile:
    """Say how texts are tokenised already, from a sample: by spaces, as WikiText, or not at all.

    Those that are not are cut letter by letter where they are in a script without spaces.
    """
    sample = list(texts)
    joined = "\n".join(sample)
    if " @-@ " in joined or " @,@ " in joined or " @.@ " in joined:
        return Profile.WIKITEXT
    apart = len(re.findall(r"(?<=\s)[.,](?=\s|$)", joined))
    attached = len(re.findall(r"(?<=\w)[.,](?=\s|$)", joined))
    # Abbreviations ("U.S.", "J.") keep their point in tokenised text as well.
    if apart > attached:
        return Profile.SPACES
    letters = sum(map(str.isalpha, joined))
    has_unspaced = len(_UNSPACED.findall(joined)) > _UNSPACED_SHARE * letters
    return Profile.UNSPACED if has_unspaced else Profile.RAW


def _mark_joins(text: str, words: list[str], starts: list[int]) -> None:
    """Write a hyphen, comma or point that joins two parts of a word as WikiText does: `@-@`."""
    for index, word in enumerate(words):
        if word in "-,.":
            before, after = (
                text[starts[index] - 1 : starts[index]],
                text[starts[index] + 1 : starts[index] + 2],
            )
            joined = (
                before.isalnum() and after.isalnum()
                if word == "-"
                else (before.isdigit() and after.isdigit())
            )
            if joined:
                words[index] = f"@{word}@"


@cache
def _pattern(profile: Profile) -> re.Pattern[str]:
    """Match the next token, its only group; to skip the space before it here is twice as fast."""
    letters = rf"(?:[\w{_combining_marks()}])"
    alone = ""
    if profile is Profile.UNSPACED:
        alone = rf"[{_UNSPACED_LETTERS}][{_combining_marks()}]*+|"
        letters = rf"(?:(?![{_UNSPACED_LETTERS}])[\w{_combining_marks()}])"
    abbreviations = "|".join(_ABBREVIATIONS)
    shared_start = (
        # Most tokens are plain; to decide them first makes the tokeniser three times as fast.
        r"[A-Za-z]+(?=[\s,;)]|\Z)|[,;()\[\]\"!?]|\.(?!\.)|\d+(?=[\s;)]|\Z)"
        r"|@[-,./]@|</?\w+>"  # WikiText's marks; <unk> and </s>
        r"|\b(?:[^\W\d_]\.){2,}"  # U.S.
        rf"|\b(?:{abbreviations})\.|\b[A-Z]\.(?=\s|$)"  # St. J.
        r"|\.{2,}|-{2,}"
    )
    if profile is Profile.WIKITEXT:
        word = rf"{letters}+(?:\.[^\W\d_]+)*(?:-(?=\s|\Z))?"  # "18- to 34 @-@ year"
        return re.compile(rf"\s*+({shared_start}|['’]{letters}+|{word}|\S)")
    end = rf"(?!{letters})" if profile is Profile.UNSPACED else r"(?!\w)"
    clitic = rf"['’](?:s|re|ll|ve|d|m|S){end}"
    negation = rf"n['’]t{end}"
    number = r"[£€¥]?\d+(?:[.,:]\d+)*%"
    inner = rf"(?:[-./:&]|(?<=\d),(?=\d)|(?!{clitic})['’])"
    word = rf"{letters}+?(?={negation})|[£€¥]?{letters}+(?:{inner}{letters}+)*"
    return re.compile(
        rf"\s*+({alone}{shared_start}|{clitic}|{negation}|'\d\ds\b|{number}|{word}|\S)"
    )


@cache
def _combining_marks() -> str:
    """List accents and vowel signs: part of the letter before them, though no letters to `re`."""
    marks = [
        code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M")
    ]
    return "".join(map(chr, marks)) + "\u200b\u200c\u200d"


_ABBREVIATIONS = (
    "St", "Mt", "Ft", "Dr", "Mr", "Mrs", "Ms", "Jr", "Sr", "Prof", "Rev", "Gen", "Col", "Lt",
    "Capt", "Sgt", "Inc", "Ltd", "Corp", "Co", "Bros", "No", "Nos", "vs", "var", "pp", "etc",
)  # fmt: skip
