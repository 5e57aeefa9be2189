"""How probable topics are before a model has read the text: what its opening says by itself.

An article mostly opens with the name of its topic, if not always word for word: "Joan Marie Jett",
"The 2010 NFL season". A language model that copies names whole knows nothing of a name that is
written in another way, and never saw an article about the wrong topic; so this is what it lacks.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")


@dataclass(frozen=True)
class TitleInOpening:
    """Weighs a topic by how much of its first name stands in the opening of a text, and how early.

    >>> prior = TitleInOpening()
    >>> jett, album = Topic("Joan Jett"), Topic("Joan")
    >>> text = "Joan Marie Jett is an American singer."
    >>> prior(jett, text) > prior(album, text) > prior(Topic("Singer"), text)
    True

    The constants were fitted on Wikipedia introductions, for the right topic to be most probable.
    """

    profile: Profile = Profile.RAW
    """How texts and names are cut into words."""
    per_letter: float = 0.18
    """What a letter of the name that is there speaks for the topic, in nats."""
    per_missing_letter: float = 0.13
    whole: float = 0.5
    """What it speaks for the topic that no word of the name is missing."""
    per_log_place: float = 1.6
    """What it speaks against the topic that words stand before its name."""

    def __call__(self, topic: Topic, text: str) -> float:
        """Give the weight of a topic."""
        opening = _opening(text, self.profile)
        names = _writings(topic.names[0], self.profile)
        return math.exp(max((self._log_weight(name, opening) for name in names), default=0.0))

    def _log_weight(self, name: Sequence[str], opening: Sequence[str]) -> float:
        letters = sum(map(len, name))
        best = self._nats(0, letters, _OPENING)
        for place, word in enumerate(opening):
            if word in name:
                there = _letters_from(name, opening, place)
                best = max(best, self._nats(there, letters - there, place))
        return best

    def _nats(self, there: int, missing: int, place: int) -> float:
        return (
            self.per_letter * min(there, _MOST_LETTERS)
            - self.per_missing_letter * min(missing, _MOST_LETTERS)
            + self.whole * (missing == 0)
            - self.per_log_place * math.log1p(place)
        )


def log_weight(prior: Prior, topic: Topic, text: str) -> float:
    """Ask a prior for the logarithm of the weight of a topic; −∞ excludes it."""
    weight = prior.get(topic.id, 1.0) if isinstance(prior, Mapping) else prior(topic, text)
    if not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise InputError(
            f"the prior of the topic {topic.id!r} must be a number from 0 on, not {shown(weight)}"
        )
    return math.log(weight) if weight else -math.inf


def _letters_from(name: Sequence[str], opening: Sequence[str], place: int) -> int:
    """Count the letters of a name that stand in a text in their order, from a place on."""
    first = name.index(opening[place])
    letters = len(name[first])
    for word in name[first + 1 :]:
        ahead = opening[place + 1 : place + 1 + _LONGEST_GAP]
        if word in ahead:
            place += 1 + ahead.index(word)
            letters += len(word)
    return letters


@lru_cache(maxsize=16)
def _opening(text: str, profile: Profile) -> tuple[str, ...]:
    # No word has so many letters that forty of them are not in this piece of the text.
    return split_words(text[: 64 * _OPENING].lower(), profile)[:_OPENING]


@lru_cache(maxsize=1024)
def _writings(name: str, profile: Profile) -> tuple[tuple[str, ...], ...]:
    """Give a name in words in lower case, also without what is not written in texts.

    That is what stands in brackets or after a comma: "Rhine (river)", "Moore, Oklahoma".
    """
    written = (name, _IN_BRACKETS.sub("", name), name.partition(",")[0])
    words = (split_words(each.lower(), profile) for each in written)
    return tuple(dict.fromkeys(each for each in words if each))
