"""What a model reads before a text: the names in it (Alias LM), or the topic's facts (Prompted LM).

A preface is not scored. Its last token stands right before the text; where nothing else is read,
the preface is the one token that starts every text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lrlm.arrays import Integers
from lrlm.checks import check_range
from lrlm.errors import InputError
from lrlm.knowledge import TITLE
from lrlm.text import LinkableRelation, SurfaceForm, TokenSpace

_TITLE, _FACTS = "{title}", "{facts}"
_TYPE, _OBJECT = "{type}", "{object}"
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class PrefaceConfig:
    r"""How a topic is written down before the text, for models that read its facts there.

    >>> config = PrefaceConfig(template="{title}. {facts}.\n", separator=", ")
    >>> relations = link("Its capital is Oslo.", Topic("Norway", relations=[
    ...     Relation("capital", "Oslo"), Relation("currency", "krone")])).relations
    >>> config.written("Norway", relations)
    'Norway. capital: Oslo, currency: krone.\n'
    """

    template: str = r"{title}\n{facts}\n\n"
    """The text that is read first: {title} is the topic's name and {facts} its facts; \\n begins a
    new line."""
    fact: str = "{type}: {object}"
    """How one fact is written: {type} is the name of the relation and {object} that of the object,
    its first form."""
    separator: str = "; "
    """What stands between two facts."""
    most_tokens: int = 512
    """Facts are taken in the order of the graph as long as the preface has at most so many tokens;
    the others are left out, and counted."""

    def __post_init__(self) -> None:
        """Refuse what cannot be written."""
        check_range("model.preface.most_tokens", self.most_tokens, 1, _LONGEST)
        if _OBJECT not in self.fact:
            raise InputError(f"model.preface.fact must contain {_OBJECT}, not {self.fact!r}")

    def written(self, title: str, relations: Iterable[LinkableRelation]) -> str:
        """Fill the template in with the facts of these relations."""
        facts = (
            _filled(self.fact, {_TYPE: relation.label, _OBJECT: relation.texts[0]})
            for relation in relations
            if relation.type != TITLE
        )
        template = _with_lines(self.template)
        return _filled(template, {_TITLE: title, _FACTS: _with_lines(self.separator).join(facts)})


@dataclass(frozen=True)
class Preface:
    """The tokens that stand before a text."""

    tokens_P: Integers
    left_out_facts: int = 0
    """Facts that there was no room for."""


def start_of_text(space: TokenSpace) -> Preface:
    """Give the preface of a model that reads nothing before a text."""
    return Preface(np.array([space.start_id], dtype=np.int64))


def names_as_preface(
    space: TokenSpace, forms: Iterable[SurfaceForm], *, backward: bool = False
) -> Preface:
    """Write names one after the other, each followed by the end token; then the text starts.

    Before a text that is read backward, names are written backward as well.
    """
    ids: list[int] = []
    for form in forms:
        tokens = space.encode_form(form)
        ids += [*(reversed(tokens) if backward else tokens), space.end_id]
    return Preface(np.array([*ids, space.start_id], dtype=np.int64))


def facts_as_preface(
    space: TokenSpace,
    config: PrefaceConfig,
    title: str,
    relations: Iterable[LinkableRelation],
) -> Preface:
    """Write the topic down, with as many of its facts as there is room for."""
    facts = [relation for relation in relations if relation.type != TITLE]

    def tokens(count: int) -> list[int]:
        return [space.start_id, *space.encode_text(config.written(title, facts[:count]))]

    whole = tokens(len(facts))
    if len(whole) <= config.most_tokens:
        return Preface(np.array(whole, dtype=np.int64))
    fits, too_many = 0, len(facts)  # more facts take more tokens: halve what is between
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if len(tokens(middle)) <= config.most_tokens:
            fits = middle
        else:
            too_many = middle
    return Preface(np.array(tokens(fits), dtype=np.int64), len(facts) - fits)


def _with_lines(template: str) -> str:
    """Begin new lines where the template says so: a setting is easier to write without them."""
    return template.replace(r"\n", "\n")


def _filled(template: str, values: dict[str, str]) -> str:
    """Put values into their places; what is put in is never looked at again."""
    parts, rest = [], template
    while rest:
        places = [(rest.find(name), name) for name in values if name in rest]
        if not places:
            break
        place, name = min(places)
        parts += [rest[:place], values[name]]
        rest = rest[place + len(name) :]
    return "".join([*parts, rest])
