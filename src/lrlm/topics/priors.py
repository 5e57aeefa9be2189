"""How probable topics are before a model has read the text: what its opening says by itself.

An article mostly opens with the name of its topic, if not always word for word: "Joan Marie Jett",
"The 2010 NFL season". A language model that copies names whole knows nothing of a name that is
written in another way, and never saw an article about the wrong topic; so this is what it lacks.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple

from lrlm.errors import InputError
from lrlm.knowledge import Topic
from lrlm.plain_data import shown
from lrlm.text import Profile
from lrlm.topics.titles import Opening, Title, opening_of, says, standings, titles_of

Prior = Mapping[str, float] | Callable[[Topic, str], float]
"""How probable topics are before the text is read, up to a factor: weights by id, 1 where there is
none, or a function of a topic and the text. `{}` makes all topics alike."""

_MOST_LETTERS = 40


class OpeningEvidence(NamedTuple):
    """What the opening of a text says of a topic, counted; or the nats that one of each counts."""

    exact: float
    """Letters of the name that are there as they are, one word near the other."""
    alike: float
    """Letters of words that are there in another form: "Swedish" for Sweden."""
    short: float
    """Words that are shortened there or in the name: "Ed" and "Edward"."""
    acronyms: float
    """Words of the name whose letters begin words of the text: FC and "Football Club"."""
    elsewhere: float
    """Letters of words that stand somewhere else in the opening."""
    missing: float
    """Letters of words that do not."""
    whole: float
    """Whether all words of the name are there."""
    place: float
    """The logarithm of how many words that say something come first."""
    subject: float
    """Whether the name begins before the first "is" or "was", and not in brackets."""
    named: float
    """Whether it comes later, but behind "known as" or the like."""
    head: float
    """Whether the last word of the name is the last of the phrase that the text opens with."""
    uncovered: float
    """Letters of that phrase that are not the name's."""
    other_numbers: float
    """Numbers of that phrase that the name does not have: another season."""
    missing_numbers: float
    """Numbers of the name that the opening does not have."""
    left_out_said: float
    """Words of the name behind a comma that are said elsewhere: "Moore is a city in Oklahoma"."""
    left_out: float
    """Words of the name behind a comma that are not said."""
    kinds_said: float
    """Words of the name in brackets that are said: "Rocky is a 1976 film"."""
    kinds: float
    """Words of the name in brackets that are not said."""
    other_name: float
    """Whether it is not the first of the topic's names."""


FITTED = OpeningEvidence(
    exact=0.07,
    alike=-0.13,
    short=-0.55,
    acronyms=0.12,
    elsewhere=0.09,
    missing=-0.13,
    whole=1.8,
    place=-0.25,
    subject=1.1,
    named=1.35,
    head=0.75,
    uncovered=-0.295,
    other_numbers=-2.0,
    missing_numbers=-1.0,
    left_out_said=0.43,
    left_out=-2.8,
    kinds_said=0.95,
    kinds=-1.27,
    other_name=-3.6,
)
"""What each counts, in nats: so the right topics of 2,500 training articles of Wikipedia
introductions are most probable. Words in another form count less than nothing by themselves, but
then they are neither missing nor left uncovered."""


@dataclass(frozen=True)
class TitleInOpening:
    """Weighs a topic by how its name stands in the opening of a text.

    >>> prior = TitleInOpening()
    >>> jett, album = Topic("Joan Jett"), Topic("Joan")
    >>> text = "Joan Marie Jett is an American singer."
    >>> prior(jett, text) > prior(album, text) > prior(Topic("Singer"), text)
    True
    """

    profile: Profile = Profile.RAW
    """How texts and names are cut into words."""
    weights: OpeningEvidence = FITTED

    def __call__(self, topic: Topic, text: str) -> float:
        """Give the weight of a topic."""
        opening = opening_of(text, self.profile)
        nats = (
            sum(map(mul, self.weights, evidence))
            for title in titles_of(topic.names, self.profile)
            for evidence in evidence_of(title, opening)
        )
        # A name without letters is found nowhere, as if it stood behind all words of the opening.
        found_nowhere = self.weights.place * math.log1p(len(opening.words))
        return math.exp(max(nats, default=found_nowhere))


def evidence_of(title: Title, opening: Opening) -> Iterator[OpeningEvidence]:
    """Count what an opening says of a topic, for each place where its name may begin."""
    missing_numbers = sum(not says(opening, number) for number in title.numbers)
    left_out_said = sum(says(opening, word) for word in title.left_out)
    kinds_said = sum(says(opening, word) for word in title.kinds)
    for each in standings(title, opening):
        yield OpeningEvidence(
            exact=min(each.exact, _MOST_LETTERS),
            alike=min(each.alike, _MOST_LETTERS),
            short=each.short,
            acronyms=each.acronyms,
            elsewhere=min(each.elsewhere, _MOST_LETTERS),
            missing=min(each.missing, _MOST_LETTERS),
            whole=not each.missing and not each.elsewhere,
            place=math.log1p(each.before),
            subject=each.is_subject,
            named=each.is_named and not each.is_subject,
            head=each.is_head,
            uncovered=min(each.uncovered, _MOST_LETTERS),
            other_numbers=each.other_numbers,
            missing_numbers=missing_numbers,
            left_out_said=left_out_said,
            left_out=len(title.left_out) - left_out_said,
            kinds_said=kinds_said,
            kinds=len(title.kinds) - kinds_said,
            other_name=not title.is_first,
        )


def log_weight(prior: Prior, topic: Topic, text: str) -> float:
    """Ask a prior for the logarithm of the weight of a topic; −∞ excludes it."""
    weight = prior.get(topic.id, 1.0) if isinstance(prior, Mapping) else prior(topic, text)
    if not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise InputError(
            f"the prior of the topic {topic.id!r} must be a number from 0 on, not {shown(weight)}"
        )
    return math.log(weight) if weight else -math.inf
