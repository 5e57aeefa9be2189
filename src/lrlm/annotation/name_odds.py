"""Weigh candidates by what stands around them, to claim the names of a text.

A model says how probable it is that a name was copied, from what stands before it. Whether a name
is one at all also shows in the text around it: "Oslo" in "Oslo Cathedral School" is a part of a
longer name. `NameOdds` weigh every segmentation anew by such signs, in the same lattice, so that
the sum over all segmentations stays exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from lrlm.corpora.linking import STOP_WORDS
from lrlm.models import ScoredDocument, with_copy_odds
from lrlm.text import LinkedDocument

_JOINING = frozenset(("of", "for", "de", "di", "du", "von"))
"""Words that join the parts of a name: "Church of Denmark"."""
_SMALL_WORDS = STOP_WORDS | frozenset(
    """against although among around because beside besides despite except following however like
    near since though toward towards unless unlike upon whereas whether within without yet
    today later meanwhile""".split()  # noqa: SIM905
)
"""Words that are in no name; a capital only says that they begin a sentence."""


@dataclass(frozen=True, slots=True)
class NameOdds:
    """By how many nats a candidate weighs more than in the model, by what it is and stands in.

    The values were chosen on training texts of WebNLG and on articles of Re-DocRED's development
    set (docs/results.md).
    """

    token: float = 8.0
    """For each of its tokens, as the odds of copying."""
    beside_capital: float = -40.0
    """Where it is a part of a longer name: a word with a capital stands right before or after it,
    which is in no candidate and is no small word that begins a sentence."""
    after_of: float = -20.0
    """Where such a word and "of" stand before it."""
    first_form: float = 2.0
    """Where it is the name by which its object is called first, not one of the others."""


NAMES = NameOdds()

AnyOdds = float | NameOdds
"""Nats for each copied token, or what the text around a name says as well."""


def favoured(
    documents: Iterable[LinkedDocument], scored: Iterable[ScoredDocument], odds: AnyOdds
) -> list[ScoredDocument]:
    """Give the scores of documents under other odds of copying.

    Each segmentation weighs exp(sum of the odds of its candidates) times what it did; the odds of
    a candidate are a function of the text and of the topic's facts alone.
    """
    if not isinstance(odds, NameOdds):
        return [with_copy_odds(each, odds) for each in scored]
    return [_favoured(*pair, odds) for pair in zip(documents, scored, strict=True)]


def _favoured(document: LinkedDocument, scored: ScoredDocument, odds: NameOdds) -> ScoredDocument:
    nats = [*odds_of_mentions(document, odds), 0.0]  # the last is that of a candidate in no words
    numbers = scored.encoded.mention_E[: len(scored.score_E)].tolist()
    added_E = torch.tensor([nats[number] for number in numbers], dtype=scored.score_E.dtype)
    weighed = with_copy_odds(scored, odds.token)
    return replace(weighed, score_E=weighed.score_E + added_E)


def odds_of_mentions(document: LinkedDocument, odds: NameOdds) -> list[float]:
    """Give the nats of every candidate of a document, but for those of its tokens.

    >>> topic = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> document = link("Oslo Cathedral School is in Oslo.", topic)
    >>> odds_of_mentions(document, NAMES)
    [-38.0, 2.0]
    """
    words = document.tokens.words
    starts = {mention.start for mention in document.mentions}
    ends = {mention.end for mention in document.mentions}

    def is_in_name(place: int) -> bool:
        """Say whether a word seems to be part of a name: it has a capital, and is no small word."""
        return (
            0 <= place < len(words)
            and words[place][:1].isupper()
            and words[place].lower() not in _SMALL_WORDS
        )

    def is_name_before(end: int) -> bool:
        """Say whether a name that is no candidate ends there."""
        return is_in_name(end - 1) and end not in ends

    def is_name_after(start: int) -> bool:
        """Say whether a name that is no candidate begins there, and not only a sentence."""
        return is_in_name(start) and start not in starts and not words[start - 1].endswith(".")

    found = []
    for start, end, _, form in document.mentions:
        nats = odds.first_form if form == 0 else 0.0
        joint = start - 1 - (start > 0 and words[start - 1] == "the")
        if is_name_before(start) or is_name_after(end):
            nats += odds.beside_capital
        elif joint > 0 and words[joint] in _JOINING and is_name_before(joint):
            nats += odds.after_of
        found.append(nats)
    return found
