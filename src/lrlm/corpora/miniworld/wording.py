"""A topic, a slot and what has been said so far in; the pieces of text for the slot out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lrlm.corpora.miniworld.dice import Dice
from lrlm.corpora.miniworld.facts import Domain
from lrlm.corpora.miniworld.grammar import Slot
from lrlm.corpora.miniworld.names import pronouns
from lrlm.knowledge.topic import TITLE, Relation, Topic

_DATE_FORMS = {
    "day": (re.compile(r"\d{1,2} [A-Z][a-z]+ \d+( BC)?"), re.compile(r"[A-Z][a-z]+ \d{1,2}, \d+")),
    "month": (re.compile(r"[A-Z][a-z]+ \d{3,}"),) * 2,
    "year": (re.compile(r"\d{1,4}( BC)?"),) * 2,
}
"""The forms of each precision, in British and in American order."""

_CODE = re.compile(r"\d{4}-\d{3}[A-Z]+|element \d+")
"""A number in a register is a name, but no sentence here speaks that way."""

_LONGEST_LIST = 4  # of the objects that a slot with `+` mentions
_CANONICAL_AT_FIRST = 0.85
_CANONICAL_LATER = 0.35


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text and where it came from: a relation of the topic, or None for plain words."""

    text: str
    source: Relation | None = None


class Wording:
    """How one article speaks: its habits, what it has mentioned, what it may still mention."""

    def __init__(self, topic: Topic, domain: Domain, dice: Dice) -> None:
        self._dice = dice
        self._kinds = domain.kinds
        self._names = domain.names
        self._pronouns = pronouns(topic.id)
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

    def tell(self, slots: Iterable[Slot], pieces: Iterable[Piece]) -> None:
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

    def fill(self, slot: Slot) -> list[Piece]:
        """Choose objects and forms for a slot that can be filled."""
        if slot.name[0] == "#":
            low, high = slot.name[1:].split("-")
            return [Piece(str(self._dice.integer(int(low), int(high))))]
        if slot.name == TITLE:
            return self._mention(self._title, slot)
        if slot.name[0] == "@":
            return [Piece(self._pronouns[slot.name[1:]])]
        facts = [fact for fact in self._facts[slot.name] if self._candidates(fact, slot.hint)]
        if slot.count != "+":
            return self._mention(self._dice.pick(facts), slot)
        chosen = self._dice.shuffled(facts)[: self._dice.integer(2, _LONGEST_LIST)]
        pieces: list[Piece] = []
        for place, fact in enumerate(chosen):
            if place:
                pieces.append(Piece(" and " if place == len(chosen) - 1 else ", "))
            pieces += self._mention(fact, slot)
        return pieces

    def _mention(self, fact: Relation, slot: Slot) -> list[Piece]:
        form = self._form(fact, slot.hint)
        wants_the = slot.with_the and self._names.wants_the(fact, form)
        pieces = [Piece("the ")] if wants_the else []
        return [*pieces, Piece(form, fact)]

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
