"""How a text opens, and how the name of a topic stands in it, if not always word for word.

An article mostly opens with the name of its topic: "Joan Marie Jett" for Joan Jett, "Molde
Fotballklubb" for Molde FK, "Makonde is the language" for Makonde language. Words are compared
without accents, full stops and letter case; a word may be shortened ("Doug" for Douglas), written
in another way ("Swedish" for Sweden) or stand for the first letters of several.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from lrlm.corpora.linking import STOP_WORDS
from lrlm.text import Profile, split_words, tokenise

_OPENING = 40
"""Words of a text in which its topic is named, if it is named first."""
_LONGEST_GAP = 4
"""A name goes on within so many words, or it does not."""
_LONGEST_PHRASE = 12
_MOST_NAMES = 5
"""Names of a topic that are looked at."""
_VERBS = frozenset(("is", "was", "are", "were"))
_CUES = frozenset(
    ("as", "called", "name", "named", "names", "nickname", "nicknamed", "or", "simply", "pseudonym")
)
"""Words behind which another name of the same thing stands: "better known as Nena"."""
_DASHES = re.compile("[-‐‑‒–—−/]")
_IN_BRACKETS = re.compile(r"\s*\(([^()]*)\)")
_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")
_PHRASE_ENDS = frozenset((",", ";", ":"))
_LONGEST_ACRONYM = 6
_LONG = 8
"""A word of so many letters may be two that are written as one: "Fotballklubb"."""
_LINKING = 3
"""A word of so few letters may be left out of the first letters: "Club de Fútbol" is CF."""
_SHORT_YEAR = 2
"""Digits: 2010–11 may be written as "2010–2011"."""
_SHORTEST_ALIKE = 4
_ALIKE = 0.7
"""The share of its letters that a word which is written in another way keeps at both ends."""
_SAME_BEGINNING = 0.5
"""The share of its letters that it keeps at the beginning alone: "Sweden", "Swedish"."""

EXACT, ALIKE, SHORT, ACRONYM = range(4)
"""How a word of a name stands in a text: as it is, in another form, shortened, by its letters."""


class Found(NamedTuple):
    """Words `[start, end)` of an opening stand for a word of a name."""

    start: int
    end: int
    kind: int


class Title(NamedTuple):
    """A way to write the name of a topic."""

    words: tuple[str, ...]
    letters: tuple[int, ...]
    """Of each word; none where it says nothing, as "the"."""
    is_acronym: tuple[bool, ...]
    """Whether each word may stand for the first letters of others: "FC"."""
    left_out: tuple[str, ...]
    """Words of the name that are not written so: "Moore, *Oklahoma*"."""
    kinds: tuple[str, ...]
    """Words in brackets, which say what kind of thing it is: "Rocky (*film series*)"."""
    numbers: tuple[str, ...]
    """Words of the name with digits."""
    is_first: bool
    """Whether it is the first of the topic's names."""


@dataclass(frozen=True)
class Opening:
    """The first words of a text."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    """The character of the text at which each begins."""
    before: tuple[int, ...]
    """How many words that say something stand before each."""
    is_subject: tuple[bool, ...]
    """Whether each stands before the first "is" or "was", and not in brackets."""
    phrase: frozenset[int]
    """Places of the words that say something before the first bracket, comma, "is" or "was"."""
    head: int
    """The last of these places; −1 where there is none."""
    places: Mapping[str, tuple[int, ...]]
    """Of each word."""
    by_letter: Mapping[str, tuple[str, ...]]
    """Different words by their first letter."""
    found: dict[tuple[str, bool], tuple[Found, ...]]
    """What was looked for already."""

    def find(self, word: str, *, is_acronym: bool) -> tuple[Found, ...]:
        """Find the places where a word of a name stands, those where it stands as it is first."""
        key = word, is_acronym
        if key not in self.found:
            self.found[key] = tuple(self._find(word, is_acronym=is_acronym))
        return self.found[key]

    def _find(self, word: str, *, is_acronym: bool) -> Iterator[Found]:
        for place in self.places.get(word, ()):
            yield Found(place, place + 1, EXACT)
        if word.isdigit():
            return
        if is_acronym:
            for start in range(len(self.words)):
                end = _spelled_by_initials(word, self.words, start)
                if end:
                    yield Found(start, end, ACRONYM)
        near = self.by_letter.get(word[0], ())
        for other in near:
            kind = _likeness(word, other)
            if kind:
                for place in self.places[other]:
                    yield Found(place, place + 1, kind)
        if len(word) >= _SHORTEST_ALIKE:
            for other, places in self.places.items():
                if len(other) > len(word) and other.endswith(word):  # "Eugene" for Gene
                    for place in places:
                        yield Found(place, place + 1, SHORT)


class Standing(NamedTuple):
    """How a title stands in an opening, from one place on."""

    exact: int
    """Letters of the words that are there as they are, one behind the other."""
    alike: int
    """Letters of words that are there in another form."""
    short: int
    """Words that are there as a short form, or of which there is a short form."""
    acronyms: int
    """Words whose letters begin other words."""
    elsewhere: int
    """Letters of words that are not there, but elsewhere in the opening."""
    missing: int
    """Letters of words that are nowhere in the opening."""
    before: int
    """Words that say something before the place."""
    is_subject: bool
    is_named: bool
    """Whether a word such as "as" or "called" stands before the place."""
    is_head: bool
    """Whether the last word of the title is the last of the phrase that the text opens with."""
    uncovered: int
    """Letters of the phrase that the text opens with which are not the title's."""
    other_numbers: int
    """Numbers in that phrase that the title does not have."""


def opening_of(text: str, profile: Profile) -> Opening:
    """Read the first words of a text."""
    # No word has so many letters that forty of them are not in this piece of the text.
    return _opening(text[: 64 * _OPENING], profile)


@lru_cache(maxsize=16)
def _opening(text: str, profile: Profile) -> Opening:
    words: list[str] = []
    starts: list[int] = []
    is_subject: list[bool] = []
    phrase: list[int] = []
    depth, has_verb, is_phrase = 0, False, True
    tokens = tokenise(_DASHES.sub(" ", text), profile)
    for token, start in zip(tokens.words, tokens.starts, strict=True):
        if len(words) == _OPENING:
            break
        depth = max(depth + (token in _OPEN) - (token in _CLOSED), 0)
        is_phrase &= not depth and not (words and token in _PHRASE_ENDS)
        word = folded(token)
        if not word:
            continue
        has_verb |= not depth and word in _VERBS
        is_phrase &= not has_verb and len(words) < _LONGEST_PHRASE
        if is_phrase and word not in STOP_WORDS:
            phrase.append(len(words))
        words.append(word)
        starts.append(start)
        is_subject.append(not depth and not has_verb)
    telling = accumulate((word not in STOP_WORDS for word in words), initial=0)
    places = defaultdict(list)
    by_letter = defaultdict(list)
    for place, word in enumerate(words):
        if word not in places and word not in STOP_WORDS:
            by_letter[word[0]].append(word)
        places[word].append(place)
    return Opening(
        tuple(words),
        tuple(starts),
        tuple(telling)[:-1],
        tuple(is_subject),
        frozenset(phrase),
        phrase[-1] if phrase else -1,
        {word: tuple(each) for word, each in places.items()},
        {letter: tuple(each) for letter, each in by_letter.items()},
        {},
    )


def titles_of(names: tuple[str, ...], profile: Profile) -> tuple[Title, ...]:
    """Give the ways to write the names of a topic.

    What stands in brackets or after a comma is mostly not written in texts: "Rhine (river)",
    "Moore, Oklahoma". Names that differ from the first only in brackets say what kind of thing
    it is.
    """
    plain = {name: _IN_BRACKETS.sub("", name).strip() or name for name in names[:_MOST_NAMES]}
    first = plain[names[0]]
    kinds = tuple(
        kind
        for name, short in plain.items()
        if short == first != name
        for kind in _IN_BRACKETS.findall(name)
    )
    return tuple(
        title
        for short in dict.fromkeys(plain.values())
        for title in _titles(short, kinds, profile, short == first)
    )


@lru_cache(maxsize=1024)
def _titles(
    name: str, kinds: tuple[str, ...], profile: Profile, is_first: bool
) -> tuple[Title, ...]:
    kind_words = dict.fromkeys(
        word for kind in kinds for word in folded_words(kind, profile) if word not in STOP_WORDS
    )
    titles = []
    short, _, rest = name.partition(",")
    for written, left_out in ((name, ""), (short, rest)) if rest else ((name, ""),):
        tokens = [token for token in _tokens(written, profile) if folded(token)]
        words = tuple(map(folded, tokens))
        letters = tuple(0 if word in STOP_WORDS else len(word) for word in words)
        if not any(letters):  # "The Who" says what it says
            letters = tuple(map(len, words))
        if words:
            titles.append(
                Title(
                    words,
                    letters,
                    tuple(map(_is_acronym, tokens)),
                    tuple(w for w in folded_words(left_out, profile) if w not in STOP_WORDS),
                    tuple(kind_words),
                    tuple(word for word in words if any(map(str.isdigit, word))),
                    is_first,
                )
            )
    return tuple(titles)


def standings(title: Title, opening: Opening) -> Iterator[Standing]:
    """Give the ways in which a title stands in an opening, one for each place where it begins."""
    found = [
        opening.find(word, is_acronym=is_acronym) if letters else ()
        for word, letters, is_acronym in zip(
            title.words, title.letters, title.is_acronym, strict=True
        )
    ]
    begins: dict[int, tuple[int, Found]] = {}
    for number, each in enumerate(found):
        for one in each:
            known = begins.get(one.start)
            if known is None or (one.kind == EXACT) > (known[1].kind == EXACT):
                begins[one.start] = number, one
    for number, first in begins.values():
        yield _standing(title, opening, found, number, first)
    yield _standing(title, opening, found, len(found), None)


def _standing(
    title: Title,
    opening: Opening,
    found: Sequence[tuple[Found, ...]],
    number: int,
    first: Found | None,
) -> Standing:
    exact = alike = short = acronyms = elsewhere = missing = 0
    covered: set[int] = set()
    end = len(opening.words)
    last: Found | None = None
    for place, each in enumerate(found):
        here = None
        if place == number:
            here = first
        elif place > number:
            ahead = [one for one in each if end <= one.start < end + _LONGEST_GAP]
            here = min(ahead, key=lambda one: (one.kind, one.start), default=None)
        letters = title.letters[place]
        if here is not None:
            end = here.end
            covered.update(range(here.start, here.end))
            exact += letters * (here.kind == EXACT)
            alike += letters * (here.kind == ALIKE)
            short += here.kind == SHORT
            acronyms += here.kind == ACRONYM
        elif each:
            elsewhere += letters
        else:
            missing += letters
        last = here if letters else last
    at = len(opening.words) if first is None else first.start
    before = opening.words[max(at - 2, 0) : at] if first is not None else ()
    open_places = opening.phrase - covered
    return Standing(
        exact,
        alike,
        short,
        acronyms,
        elsewhere,
        missing,
        _OPENING if first is None else opening.before[at],
        first is not None and opening.is_subject[at],
        any(word in _CUES for word in before),
        last is not None and last.end - 1 == opening.head,
        sum(len(opening.words[place]) for place in open_places),
        sum(
            opening.words[place].isdigit() and opening.words[place] not in title.words
            for place in open_places
        ),
    )


def says(opening: Opening, word: str) -> bool:
    """Whether a word stands anywhere in an opening, in whatever form."""
    return bool(opening.find(word, is_acronym=False)) or (
        len(word) == _SHORT_YEAR
        and word.isdigit()
        and any(other.endswith(word) for other in opening.words if other.isdigit())
    )


def folded_words(text: str, profile: Profile) -> tuple[str, ...]:
    """Cut a text into words, at hyphens and dashes too, without accents, dots and letter case.

    >>> folded_words("FC Malmö (1910–11)", Profile.RAW)
    ('fc', 'malmo', '1910', '11')
    """
    return tuple(filter(None, map(folded, _tokens(text, profile))))


def plain_name_words(name: str, profile: Profile) -> tuple[str, ...]:
    """Give the words of a name that say something, without what stands in brackets."""
    words = folded_words(_IN_BRACKETS.sub("", name), profile) or folded_words(name, profile)
    return tuple(word for word in words if word not in STOP_WORDS) or words


def _tokens(text: str, profile: Profile) -> tuple[str, ...]:
    return split_words(_DASHES.sub(" ", text), profile)


@lru_cache(maxsize=1 << 16)
def folded(word: str) -> str:
    """Write a word without accents, punctuation and letter case."""
    if not (word.isascii() and word.isalnum()):
        decomposed = unicodedata.normalize("NFKD", word)
        word = "".join(filter(str.isalnum, decomposed))
    return word.casefold()


def _is_acronym(token: str) -> bool:
    letters = "".join(filter(str.isalpha, token))
    return 1 < len(letters) <= _LONGEST_ACRONYM and letters.isupper()


def _spelled_by_initials(letters: str, words: Sequence[str], start: int) -> int:
    """Give where the words end whose first letters are these; 0 where they are not.

    A long word may be two: "Fotballklubb" is FK. Short words between others may be left out.
    """
    place, number = start, 0
    while number < len(letters) and place < len(words):
        word = words[place]
        if word[0] == letters[number] and len(word) > 1:
            number += 1
            rest = letters[number : number + 1]
            following = words[place + 1 : place + 2]
            if (
                rest
                and len(word) >= _LONG
                and rest in word[_LONG // 2 :]
                and not (following and following[0][0] == rest)
            ):
                number += 1
        elif not number or len(word) > _LINKING:
            return 0
        place += 1
    return place if number == len(letters) else 0


@lru_cache(maxsize=1 << 16)
def _likeness(word: str, other: str) -> int:
    """Say how two words with the same first letter are alike; 0 where they are not."""
    if word == other or any(map(str.isdigit, word + other)):
        return 0
    shorter, longer = sorted((word, other), key=len)
    begin = _common(shorter, longer)
    end = min(_common(shorter[::-1], longer[::-1]), len(shorter) - begin)
    is_short = len(shorter) < _SHORTEST_ALIKE
    if begin == len(shorter) and (is_short or begin < _ALIKE * len(longer)):
        return SHORT  # "J." for John, "Alex" for Alexander
    keeps_beginning = begin >= max(_SHORTEST_ALIKE, _SAME_BEGINNING * len(longer))
    if not is_short and (keeps_beginning or begin + end >= _ALIKE * len(longer)):
        return ALIKE
    return 0


def _common(one: str, other: str) -> int:
    """Count the letters that two words have in common at the beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))
