"""How probable topics are before a model has read the text: what its opening says by itself.

An article mostly opens with the name of its topic, if not always word for word: "Joan Marie Jett",
"The 2010 NFL season". A language model that copies names whole knows nothing of a name that is
written in another way, and never saw an article about the wrong topic; so this is what it lacks.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from lrlm.corpora.linking import STOP_WORDS
from lrlm.errors import InputError
from lrlm.knowledge import Topic
from lrlm.plain_data import shown
from lrlm.text import Profile, split_words

Prior = Mapping[str, float] | Callable[[Topic, str], float]
"""How probable topics are before the text is read, up to a factor: weights by id, 1 where there is
none, or a function of a topic and the text. `{}` makes all topics alike."""

_OPENING = 40
"""Words of a text in which its topic is named, if it is named first."""
_LONGEST_GAP = 4
"""A name goes on within so many words, or it does not."""
_MOST_LETTERS = 40
_VERBS = frozenset(("is", "was", "are", "were"))
_DASHES = re.compile("[-‐‑‒–—−]")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")


@dataclass(frozen=True)
class TitleInOpening:
    """Weighs a topic by how much of its first name stands in the opening of a text, and how early.

    >>> prior = TitleInOpening()
    >>> jett, album = Topic("Joan Jett"), Topic("Joan")
    >>> text = "Joan Marie Jett is an American singer."
    >>> prior(jett, text) > prior(album, text) > prior(Topic("Singer"), text)
    True

    Hyphens and dashes count as spaces ("2010–11", "2010-11"), and words such as "the" do not count.
    The constants were fitted on validation texts of Wikipedia introductions, for the right topic to
    be most probable.
    """

    profile: Profile = Profile.RAW
    """How texts and names are cut into words."""
    per_letter: float = 0.3
    """What a letter of the name that is there speaks for the topic, in nats."""
    per_missing_letter: float = 0.15
    per_left_out_letter: float = 0.4
    """What it speaks against the topic that a part of its name in brackets or after a comma has to
    be left out, by the letter."""
    whole: float = 0.5
    """What it speaks for the topic that no word of the name is missing."""
    per_log_place: float = 2.2
    """What it speaks against the topic that words stand before its name."""
    subject: float = 5.0
    """What it speaks for the topic that its name begins before the first "is" or "was"."""
    per_missing_number: float = 3.0
    """What it speaks against the topic that a number of its name is missing: another season."""
    said_later: float = 0.8
    """The share of what is left out that does not count where its words stand in the opening:
    "Moore is a city in Oklahoma"."""

    def __call__(self, topic: Topic, text: str) -> float:
        """Give the weight of a topic."""
        opening = _opening(text, self.profile)
        titles = _titles(topic.names[0], self.profile)
        return math.exp(max((self._log_weight(title, opening) for title in titles), default=0.0))

    def _log_weight(self, title: "_Title", opening: "_Opening") -> float:
        letters = sum(title.letters)
        best = self._nats(0, letters) - self.per_log_place * math.log1p(_OPENING)
        missing = sum(number not in opening.words for number in title.numbers)
        for place, word in enumerate(opening.words):
            if word in title.words and title.letters[title.words.index(word)]:
                there = _letters_from(title, opening.words, place)
                nats = (
                    self._nats(there, letters - there)
                    - self.per_log_place * math.log1p(opening.before[place])
                    + self.subject * (place < opening.verb)
                )
                best = max(best, nats)
        left_out = float(min(sum(map(len, title.left_out)), _MOST_LETTERS))
        if title.left_out and all(word in opening.words for word in title.left_out):
            left_out *= 1.0 - self.said_later
        return best - self.per_left_out_letter * left_out - self.per_missing_number * missing

    def _nats(self, there: int, missing: int) -> float:
        return (
            self.per_letter * min(there, _MOST_LETTERS)
            - self.per_missing_letter * min(missing, _MOST_LETTERS)
            + self.whole * (missing == 0)
        )


def log_weight(prior: Prior, topic: Topic, text: str) -> float:
    """Ask a prior for the logarithm of the weight of a topic; −∞ excludes it."""
    weight = prior.get(topic.id, 1.0) if isinstance(prior, Mapping) else prior(topic, text)
    if not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise InputError(
            f"the prior of the topic {topic.id!r} must be a number from 0 on, not {shown(weight)}"
        )
    return math.log(weight) if weight else -math.inf


class _Title(NamedTuple):
    """A way to write the name of a topic, in lower case."""

    words: tuple[str, ...]
    letters: tuple[int, ...]
    """Of each word; none where it says nothing, as "the"."""
    left_out: tuple[str, ...]
    """Words of the name that are not written so."""
    numbers: tuple[str, ...]
    """Words of the name with digits."""


class _Opening(NamedTuple):
    """The first words of a text, in lower case."""

    words: tuple[str, ...]
    before: tuple[int, ...]
    """How many words that say something stand before each."""
    verb: int
    """The place of the first "is" or "was"; behind the last word where there is none."""


def _letters_from(title: _Title, opening: Sequence[str], place: int) -> int:
    """Count the letters of a title that stand in a text in their order, from a place on."""
    first = title.words.index(opening[place])
    letters = title.letters[first]
    for number in range(first + 1, len(title.words)):
        ahead = opening[place + 1 : place + 1 + _LONGEST_GAP]
        if title.words[number] in ahead:
            place += 1 + ahead.index(title.words[number])
            letters += title.letters[number]
    return letters


@lru_cache(maxsize=16)
def _opening(text: str, profile: Profile) -> _Opening:
    # No word has so many letters that forty of them are not in this piece of the text.
    words = _words(text[: 64 * _OPENING], profile)[:_OPENING]
    telling = accumulate((word not in STOP_WORDS for word in words), initial=0)
    verb = next((place for place, word in enumerate(words) if word in _VERBS), len(words))
    return _Opening(words, tuple(telling)[:-1], verb)


@lru_cache(maxsize=1024)
def _titles(name: str, profile: Profile) -> tuple[_Title, ...]:
    """Give the ways to write a name, also without what is not written in texts.

    That is what stands in brackets or after a comma: "Rhine (river)", "Moore, Oklahoma".
    """
    written = (name, _IN_BRACKETS.sub("", name), name.partition(",")[0])
    whole = _words(name, profile)
    titles = []
    for words in dict.fromkeys(_words(each, profile) for each in written):
        letters = tuple(0 if word in STOP_WORDS else len(word) for word in words)
        if not any(letters):  # "The Who" says what it says
            letters = tuple(map(len, words))
        if words:
            left_out = tuple((Counter(whole) - Counter(words)).elements())
            numbers = tuple(word for word in words if any(map(str.isdigit, word)))
            titles.append(_Title(words, letters, left_out, numbers))
    return tuple(titles)


def _words(text: str, profile: Profile) -> tuple[str, ...]:
    """Cut a text into words in lower case, at hyphens and dashes too, without punctuation."""
    words = split_words(_DASHES.sub(" ", text.lower()), profile)
    return tuple(word for word in words if any(map(str.isalnum, word)))
