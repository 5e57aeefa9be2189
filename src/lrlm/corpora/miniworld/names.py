"""Tables of names in; for each thing its forms, and how English uses them, out.

A name given as "the Danube" says that "Danube" is a form that wants the article. The article itself
is no part of the form: it is a word of the sentence, so that a text has one true segmentation.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from lrlm.corpora.miniworld.tables import rows
from lrlm.errors import FormatError
from lrlm.knowledge.topic import Relation

ENTITY = re.compile(r"[^\s|]+")
_DISAMBIGUATION = re.compile(r"_\([^()]*\)$")
_PRONOUNS = {
    "he": {"he": "he", "his": "his", "him": "him"},
    "she": {"he": "she", "his": "her", "him": "her"},
}
_SPOKEN_LIKE_A_CONSONANT = re.compile(r"(?i)eu|uni[^nm]|uk|us|ut|ura|one\b|u-|u\b|ub")
_SPOKEN_LIKE_A_VOWEL = re.compile(r"[FHLMNRSX](-|\b|[A-Z]{2}\b)|8|11\b|18\b|(?i:hour|honest|heir)")


@dataclass(slots=True)
class Names:
    """The forms of every named thing, and those of them that take "the"."""

    forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    definite: set[tuple[str, str]] = field(default_factory=set)

    def of(self, entity: str) -> tuple[str, ...]:
        """Give a thing's forms, the canonical one first; without any it is called by its id."""
        return self.forms.get(entity) or (_DISAMBIGUATION.sub("", entity).replace("_", " "),)

    def wants_the(self, mention: Relation, form: str) -> bool:
        """Tell whether a sentence that mentions the object in this form needs "the"."""
        rules = _rules()
        if form in rules.bare or "'s " in form or form.startswith("The "):
            return False
        return (
            (mention.object, form) in self.definite
            or mention.type in rules.relations
            or bool(rules.definite.search(form))
        )


def read(tables: Iterable[Traversable]) -> Names:
    """Merge the names of all tables, in order and without repeats."""
    found: dict[str, dict[str, None]] = {}
    names = Names()
    for table in tables:
        named_with_article: set[str] = set()
        for where, cells in rows(table):
            if cells == ["entity", "form"]:
                continue
            if len(cells) != 2 or not ENTITY.fullmatch(cells[0]) or not cells[1].strip():
                raise FormatError(f"{where}: expected an id and a name, with a tab between")
            entity, form = cells[0], cells[1].strip()
            if form.startswith("the "):
                form = form.removeprefix("the ")
                names.definite.add((entity, form))
                named_with_article.add(entity)
            found.setdefault(entity, {})[form] = None
        if table.name.partition(".")[0] in _rules().tables:
            names.definite |= {(e, form) for e in named_with_article for form in found[e]}
    names.forms = {entity: tuple(forms) for entity, forms in found.items()}
    return names


def pronouns(person: str) -> dict[str, str]:
    """Give the pronouns of a person by their masculine names; none where they are not known."""
    for pronoun, people in _rules().people.items():
        if person in people:
            return _PRONOUNS[pronoun]
    return {}


def follows_an(text: str) -> bool:
    """Choose between "a" (no) and "an" (yes) before a text."""
    if _SPOKEN_LIKE_A_VOWEL.match(text):
        return True
    return text[0] in "aeiouAEIOUÅÉÎÖÓ" and not _SPOKEN_LIKE_A_CONSONANT.match(text)


@dataclass(frozen=True, slots=True)
class _Rules:
    definite: re.Pattern[str]
    bare: frozenset[str]
    tables: frozenset[str]
    relations: frozenset[str]
    people: dict[str, frozenset[str]]


@cache
def _rules() -> _Rules:
    file = files("lrlm.corpora.miniworld") / "plans" / "names.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    starts, inside, ends = ("|".join(table[place]) for place in ("starts", "inside", "ends"))
    return _Rules(
        re.compile(rf"^(?:{starts})\b|\b(?:{inside})\b|\b(?:{ends})$"),
        frozenset(table["bare"]),
        frozenset(table["tables"]),
        frozenset(table["relations"]),
        {pronoun: frozenset(table[pronoun]) for pronoun in _PRONOUNS},
    )
