"""Write an article of the embedded corpus about a topic, with its true segmentation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lrlm.corpora.miniworld.facts import Domain, follows_an, pronouns
from lrlm.corpora.miniworld.grammar import (
    Dice,
    DomainPlans,
    SentencePlan,
    Slot,
    applicable,
    expand,
)
from lrlm.knowledge.topic import TITLE, Relation, Topic
from lrlm.text import tokenise

SHORTEST, LONGEST = 44, 112
"""Tokens in an article, a little inside 40–120, since tokenisations differ in what they split."""

_USUAL = (52, 104)
_A = re.compile(r"(?<=\b[Aa])(?= $)")
_SKIPPED = 0.3
_FILLER = 0.33
_LOOKALIKES = 0.55  # of the fillers
_JITTER = 5.0

_DATE_FORMS = {
    "day": (re.compile(r"\d{1,2} [A-Z][a-z]+ \d+( BC)?"), re.compile(r"[A-Z][a-z]+ \d{1,2}, \d+")),
    "month": (re.compile(r"[A-Z][a-z]+ \d{3,}"),) * 2,
    "year": (re.compile(r"\d{1,4}( BC)?"),) * 2,
}
"""The forms of each precision, in British and in American order."""

_CODE = re.compile(r"\d{4}-\d{3}[A-Z]+|element \d+")
"""Numbers in catalogues are names, too, but no sentence here uses them."""

_LONGEST_LIST = 4  # of the objects that a slot with `+` mentions
_CANONICAL_AT_FIRST = 0.85
_CANONICAL_LATER = 0.35


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some text and where it came from: a relation of the topic, or None for plain words."""

    text: str
    source: Relation | None = None


class Wording:
    """How one article speaks: its habits, what it has mentioned, what it may still mention."""

    def __init__(self, topic: Topic, domain: Domain, dice: Dice, *, person: str = "") -> None:
        """`person` is who the topic is, if it is known under another id."""
        self._dice = dice
        self._kinds = domain.kinds
        self._names = domain.names
        self._pronouns = pronouns(person or topic.id)
        self._title = topic.star[0]
        self._facts: dict[str, list[Relation]] = {}
        for relation in topic.relations:
            self._facts.setdefault(relation.type, []).append(relation)
        self._american = dice.chance(0.3)
        self._unit_words = dice.chance(0.4)
        self._separators = dice.chance(0.85)
        self._mentioned: set[str] = set()
        self._told: set[str] = set()

    @property
    def untold(self) -> list[str]:
        """The types of the relations that no sentence has told yet."""
        return [type_ for type_ in self._facts if type_ not in self._told]

    def tell(self, slots: Iterable[Slot], pieces: Iterable[TextPiece]) -> None:
        """Remember what a sentence has told and mentioned."""
        self._told |= {slot.name for slot in slots if slot.is_relation}
        self._mentioned |= {piece.source.object for piece in pieces if piece.source}

    def can_fill(self, slot: Slot) -> bool:
        """Tell whether the topic has what the slot asks for and it has not been told."""
        if slot.name[0] == "#":
            return True
        if slot.name == TITLE:
            return bool(self._candidates(self._title, slot.hint))
        if slot.name[0] == "@":
            return slot.name[1:] in self._pronouns
        if slot.name in self._told:
            return False
        facts = self._facts.get(slot.name, [])
        if (slot.count == "!" and len(facts) != 1) or (slot.count == "+" and len(facts) < 2):
            return False
        return any(self._candidates(fact, slot.hint) for fact in facts)

    def fill(self, slot: Slot) -> list[TextPiece]:
        """Choose objects and forms for a slot that can be filled."""
        if slot.name[0] == "#":
            low, high = slot.name[1:].split("-")
            return [TextPiece(str(self._dice.integer(int(low), int(high))))]
        if slot.name == TITLE:
            return self._mention(self._title, slot)
        if slot.name[0] == "@":
            return [TextPiece(self._pronouns[slot.name[1:]])]
        facts = [fact for fact in self._facts[slot.name] if self._candidates(fact, slot.hint)]
        if slot.count != "+":
            return self._mention(self._dice.pick(facts), slot)
        chosen = self._dice.shuffled(facts)[: self._dice.integer(2, _LONGEST_LIST)]
        pieces: list[TextPiece] = []
        for place, fact in enumerate(chosen):
            if place:
                pieces.append(TextPiece(" and " if place == len(chosen) - 1 else ", "))
            pieces += self._mention(fact, slot)
        return pieces

    def _mention(self, fact: Relation, slot: Slot) -> list[TextPiece]:
        form = self._form(fact, slot.hint)
        wants_the = slot.with_the and self._names.wants_the(fact, form)
        pieces = [TextPiece("the ")] if wants_the else []
        return [*pieces, TextPiece(form, fact)]

    def _form(self, fact: Relation, hint: str | None) -> str:
        forms = self._candidates(fact, hint)
        known = fact.object in self._mentioned
        canonical = _CANONICAL_LATER if known else _CANONICAL_AT_FIRST
        if len(forms) == 1 or self._dice.chance(canonical):
            return forms[0]
        return self._dice.pick(forms[1:])

    def _candidates(self, fact: Relation, hint: str | None) -> list[str]:
        """Give the forms that suit the hint and the article's habits.

        Hints for dates: `day`, `month`, `year`, `in` (a month or a year, after that word). For
        names: `first` the canonical one, `plural`, `own` one that can take a plain 's.
        """
        kind = "entity" if fact.type == TITLE else self._kinds[fact.type]
        if kind in ("date", "year"):
            return self._date_forms(fact, hint)
        if kind == "quantity":
            return [self._quantity_form(fact)]
        if hint == "first":
            return [fact.forms[0]]
        if hint == "plural":
            return [form for form in fact.forms[1:] if form.endswith(("s", " people"))]
        spoken = [form for form in fact.forms if not _CODE.fullmatch(form)]
        return [form for form in spoken if form[-1] != "s"] if hint == "own" else spoken

    def _date_forms(self, fact: Relation, hint: str | None) -> list[str]:
        found: list[str] = []
        for precision in ("day", "month", "year"):
            wanted = hint == precision or (hint == "in" and precision != "day")
            if wanted or (hint is None and not found):
                pattern = _DATE_FORMS[precision][self._american]
                found += [form for form in fact.forms if pattern.fullmatch(form)]
        return found

    def _quantity_form(self, fact: Relation) -> str:
        """Write a number as this article writes numbers, with its unit if it has one."""
        number, _, unit = fact.object.partition(" ")
        ranked = sorted(
            range(len(fact.forms)),
            key=lambda place: (
                (" " in fact.forms[place]) != bool(unit),
                ("," in fact.forms[place]) != (self._separators and len(number) > 4),
                (fact.forms[place].endswith(("s", "Celsius"))) != self._unit_words,
                ("meters" in fact.forms[place]) != self._american,
                place,
            ),
        )
        return fact.forms[ranked[0]]


@dataclass(frozen=True, slots=True)
class CopiedSpan:
    """Characters `[start, end)` of an article were copied from an object, in this form."""

    start: int
    end: int
    type: str
    object: str
    form: str


@dataclass(frozen=True, slots=True)
class GeneratedArticle:
    """A generated text; everything outside its spans came from words."""

    id: str
    topic: str
    title: str
    text: str
    gold: tuple[CopiedSpan, ...]


def write_article(
    id_: str, topic: Topic, domain: Domain, plans: DomainPlans, dice: Dice
) -> GeneratedArticle:
    """Write one article: an opening, then facts in a loose order with fillers between them."""
    writer = TextWriter(Wording(topic, domain, dice), dice)
    writer.add_one_of(plans.openings)
    length = dice.integer(*_USUAL)
    for type_ in _order(plans, dice):
        if writer.tokens >= length:
            break
        if type_ not in writer.wording.untold or dice.chance(_SKIPPED):
            continue
        if dice.chance(_FILLER):
            writer.add_one_of(draw_fillers(plans, dice))
        writer.add_one_of(plans.relations[type_])
    enough = max(SHORTEST, length - 25)
    while writer.tokens < enough and writer.add_one_of(draw_fillers(plans, dice)):
        pass
    return GeneratedArticle(id_, topic.id, topic.names[0], writer.text, tuple(writer.gold))


def draw_fillers(plans: DomainPlans, dice: Dice) -> tuple[SentencePlan, ...]:
    """Choose between sentences that state no fact and those that only look as if they did."""
    return plans.lookalikes if dice.chance(_LOOKALIKES) else plans.fillers


def _order(plans: DomainPlans, dice: Dice) -> list[str]:
    """Give the relations in the domain's usual order, each a few places off."""
    places = {type_: n + dice.between(0, _JITTER) for n, type_ in enumerate(plans.relations)}
    return sorted(places, key=lambda type_: places[type_])


class TextWriter:
    """Puts sentences one after another and keeps where each mention stands."""

    def __init__(self, wording: Wording, dice: Dice) -> None:
        self.wording = wording
        self.text = ""
        self.tokens = 0
        self.gold: list[CopiedSpan] = []
        self._dice = dice
        self._used: set[int] = set()

    def add_one_of(self, plans: tuple[SentencePlan, ...]) -> bool:
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
                for piece in (
                    self.wording.fill(part) if isinstance(part, Slot) else [TextPiece(part)]
                )
            ]
            if self._add(pieces):
                self._used.add(id(plan))
                self.wording.tell((part for part in chosen if isinstance(part, Slot)), pieces)
                return True
        return False

    def _add(self, pieces: list[TextPiece]) -> bool:
        """Join the pieces to a sentence; refuse one that would be no good.

        That is one that makes the article too long, opens with a name in lower case, or has a
        mention that does not end where a token ends (an initial before a full stop).
        """
        text = ""
        gold: list[CopiedSpan] = []
        offset = len(self.text) + bool(self.text)
        for piece in pieces:
            if piece.text[:1].isalnum():
                text = _A.sub("n" if follows_an(piece.text) else "", text)
            if piece.source is not None:
                start = offset + len(text)
                text += piece.text
                source = piece.source
                gold.append(
                    CopiedSpan(
                        start, start + len(piece.text), source.type, source.object, piece.text
                    )
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
