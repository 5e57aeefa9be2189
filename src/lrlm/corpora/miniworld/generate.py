"""A topic, the plans of its domain and a seed in; an article with its true segmentation out."""

import re
from dataclasses import dataclass

from lrlm.corpora.miniworld.dice import Dice
from lrlm.corpora.miniworld.facts import Domain
from lrlm.corpora.miniworld.grammar import Slot, applicable, expand
from lrlm.corpora.miniworld.names import follows_an
from lrlm.corpora.miniworld.plans import DomainPlans, Plan
from lrlm.corpora.miniworld.wording import Piece, Wording
from lrlm.knowledge.topic import Topic
from lrlm.text import tokenise

SHORTEST, LONGEST = 44, 112
"""Tokens in an article, a little inside 40–120, since tokenisations differ in what they split."""

_USUAL = (52, 104)
_A = re.compile(r"(?<=\b[Aa])(?= $)")
_SKIPPED = 0.3
_FILLER = 0.33
_LOOKALIKES = 0.55  # of the fillers
_JITTER = 5.0


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `[start, end)` of an article were copied from an object, in this form."""

    start: int
    end: int
    type: str
    object: str
    form: str


@dataclass(frozen=True, slots=True)
class Article:
    """A generated text; everything outside its spans came from words."""

    id: str
    topic: str
    title: str
    text: str
    gold: tuple[Span, ...]


def article(id_: str, topic: Topic, domain: Domain, plans: DomainPlans, dice: Dice) -> Article:
    """Write one article: an opening, then facts in a loose order with fillers between them."""
    writer = _Writer(Wording(topic, domain, dice), dice)
    writer.add_one_of(plans.openings)
    length = dice.integer(*_USUAL)
    for type_ in _order(plans, dice):
        if writer.tokens >= length:
            break
        if type_ not in writer.wording.untold or dice.chance(_SKIPPED):
            continue
        if dice.chance(_FILLER):
            writer.add_one_of(_fillers(plans, dice))
        writer.add_one_of(plans.relations[type_])
    while writer.tokens < max(SHORTEST, length - 25) and writer.add_one_of(_fillers(plans, dice)):
        pass
    return Article(id_, topic.id, topic.names[0], writer.text, tuple(writer.gold))


def _fillers(plans: DomainPlans, dice: Dice) -> tuple[Plan, ...]:
    return plans.lookalikes if dice.chance(_LOOKALIKES) else plans.fillers


def _order(plans: DomainPlans, dice: Dice) -> list[str]:
    """Give the relations in the domain's usual order, each a few places off."""
    places = {type_: n + dice.between(0, _JITTER) for n, type_ in enumerate(plans.relations)}
    return sorted(places, key=lambda type_: places[type_])


class _Writer:
    """Puts sentences one after another and keeps where each mention stands."""

    def __init__(self, wording: Wording, dice: Dice) -> None:
        self.wording = wording
        self.text = ""
        self.tokens = 0
        self.gold: list[Span] = []
        self._dice = dice
        self._used: set[int] = set()

    def add_one_of(self, plans: tuple[Plan, ...]) -> bool:
        """Add a sentence by one of the plans that fits and is new to the article, if there is."""
        left = [plan for plan in plans if id(plan) not in self._used]
        while left:
            plan = self._dice.pick(left, [plan.weight for plan in left])
            left = [other for other in left if other is not plan]
            if not applicable(plan.sentence, self.wording.can_fill):
                continue
            chosen = list(expand(plan.sentence, self._dice, self.wording.can_fill))
            pieces = [
                piece
                for part in chosen
                for piece in (self.wording.fill(part) if isinstance(part, Slot) else [Piece(part)])
            ]
            if self._add(pieces):
                self._used.add(id(plan))
                self.wording.tell((part for part in chosen if isinstance(part, Slot)), pieces)
                return True
        return False

    def _add(self, pieces: list[Piece]) -> bool:
        """Join the pieces to a sentence; refuse one that would be no good.

        That is one that makes the article too long, opens with a name in lower case, or has a
        mention that does not end where a token ends (an initial before a full stop).
        """
        text = ""
        gold: list[Span] = []
        offset = len(self.text) + bool(self.text)
        for piece in pieces:
            if piece.text[:1].isalnum():
                text = _A.sub("n" if follows_an(piece.text) else "", text)
            if piece.source is not None:
                start = offset + len(text)
                text += piece.text
                source = piece.source
                gold.append(
                    Span(start, start + len(piece.text), source.type, source.object, piece.text)
                )
                continue
            for part in re.findall(r"\s+|\S+", piece.text):
                if part.isspace():
                    text += "" if not text or text[-1].isspace() else " "
                elif part[0] in ",.;:":
                    text = text.rstrip() + part.removeprefix("." if text[-1] == "." else "")
                else:
                    text += part
        if not text[0].isupper() and gold and gold[0].start == offset:
            return False
        tokens = tokenise(text)
        starts, ends = set(tokens.starts), set(tokens.ends)
        if self.tokens + len(tokens) > LONGEST or not all(
            span.start - offset in starts and span.end - offset in ends for span in gold
        ):
            return False
        self.text += (" " if self.text else "") + text[0].upper() + text[1:]
        self.tokens += len(tokens)
        self.gold += gold
        return True
