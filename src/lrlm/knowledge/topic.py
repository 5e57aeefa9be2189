"""A topic and its facts, as values: made by hand, read from JSON, changed fact by fact."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeGuard

from lrlm.characters import check_characters, clean_name
from lrlm.errors import InputError
from lrlm.knowledge.literals import literal_forms, literal_text

TITLE = "@title"
"""The type of the relation from a topic to itself: its forms are the topic's names."""


@dataclass(frozen=True, slots=True)
class Relation:
    r"""One fact of a topic, `e = <s, type, object>`, with the surface forms `A(object)`.

    The first form is the canonical one. A single form may be given as a plain string, and without
    any form the object is its own name. A date or a number then has the forms in which people
    write it; it may be a number or a date of Python.

    >>> Relation("performer", "Q1744", forms=["Madonna", "Madonna Ciccone"])
    Relation(type='performer', object='Q1744', forms=('Madonna', 'Madonna Ciccone'))
    >>> Relation("follows", "Hung Up").forms
    ('Hung Up',)
    >>> Relation("opened", "1 July 2000").forms[:3]
    ('1 July 2000', 'July 1, 2000', '1 July')
    >>> Relation("population", 709037)
    Relation(type='population', object='709037', forms=('709,037', '709037'))

    The type and the forms are names and are cleaned (see `lrlm.characters.clean_name`). The object
    is a key, by which the same object is known elsewhere: it is kept exactly as given.

    >>> Relation("sub\u00addivisions", "Q55", "North\u00a0Holland ")
    Relation(type='subdivisions', object='Q55', forms=('North Holland',))

    A type may be a key as well, by which a graph knows it. Its name is then the `label`, which is
    what people see and what vectors are made of that come from names. Without one, the type is its
    own name.

    >>> Relation("P36", "Q585", "Oslo", label="capital")
    Relation(type='P36', object='Q585', forms=('Oslo',), label='capital')
    >>> Relation("capital", "Oslo").label
    'capital'
    """

    type: str
    object: str
    forms: tuple[str, ...] = ()
    label: str = ""

    def __init__(
        self,
        type: str,  # noqa: A002
        object: str | float | Decimal | date,  # noqa: A002
        forms: Iterable[str] | str = (),
        *,
        label: str | None = None,
    ) -> None:
        """Take any iterable of forms; the value itself holds a tuple."""
        text = literal_text(object) if is_value(object) else _text("Relation.object", object)
        _set(self, "type", _name("Relation.type", type))
        _set(self, "object", text)
        _set(self, "forms", _names("Relation.forms", forms) or literal_forms(text))
        _set(self, "label", self.type if label is None else _name("Relation.label", label))

    def __repr__(self) -> str:
        label = "" if self.label == self.type else f", label={self.label!r}"
        return f"Relation(type={self.type!r}, object={self.object!r}, forms={self.forms!r}{label})"

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, with a label where the type is not its own name.

        >>> Relation("country", "Q20", "Norway").to_dict()
        {'type': 'country', 'object': 'Q20', 'forms': ['Norway']}
        """
        label = {} if self.label == self.type else {"label": self.label}
        return {"type": self.type, **label, "object": self.object, "forms": list(self.forms)}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic entity `s` with its names and every relation that starts at it (`G'`).

    >>> topic = Topic("Q585", names=["Oslo", "Kristiania"], relations=[
    ...     Relation("country", "Q20", forms=["Norway"]),
    ...     Relation("population", "709,037"),
    ... ])
    >>> topic.names[0], [fact.type for fact in topic.relations]
    ('Oslo', ['country', 'population'])

    Names are cleaned (see `lrlm.characters.clean_name`), the id is kept exactly as given. Topics
    are values: they never change, and methods that edit one give a new one.
    """

    id: str
    names: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = field(default=())

    def __init__(
        self,
        id: str,  # noqa: A002
        names: Iterable[str] | str = (),
        relations: Iterable[Relation] = (),
    ) -> None:
        """Take any iterables; the value itself holds tuples. Without names the id is the name."""
        _set(self, "id", _text("Topic.id", id))
        _set(self, "names", _names("Topic.names", names) or (clean_name(id) or id,))
        _set(self, "relations", tuple(relations))
        for relation in self.relations:
            if not isinstance(relation, Relation):
                raise InputError(
                    f"Topic {id!r}: relations must hold Relation values, not {relation!r}"
                )
            if relation.type == TITLE:
                raise InputError(
                    f"Topic {id!r}: {TITLE!r} is made from the topic's names; give it as names=[…]"
                )

    @classmethod
    def from_json(cls, source: Path | str | Mapping[str, Any], *, where: str = "topic") -> "Topic":
        """Read a topic from a JSON file, or make one of JSON that is decoded already.

        >>> Topic.from_json({"id": "Q585", "names": "Oslo"})
        Topic(id='Q585', names=('Oslo',), relations=())

        A string is the path of a file. Errors name the file, or decoded JSON by `where`.
        """
        from lrlm.knowledge.topic_json import read_topic, topic_from

        if isinstance(source, str) and source.lstrip().startswith("{"):
            raise InputError(
                "a string is the path of a file; of a text that is JSON, give what json.loads makes"
            )
        if isinstance(source, Path | str):
            return read_topic(Path(source))
        return topic_from(source, where)

    def to_dict(self) -> dict[str, Any]:
        """Give what `from_json` reads as the same topic.

        >>> Topic("Q585", "Oslo", [Relation("country", "Q20", "Norway")]).to_dict()["relations"]
        [{'type': 'country', 'object': 'Q20', 'forms': ['Norway']}]
        """
        return {
            "id": self.id,
            "names": list(self.names),
            "relations": [fact.to_dict() for fact in self.relations],
        }

    @property
    def star(self) -> tuple[Relation, ...]:
        """All relations that text can be copied from: the topic's own title, then its facts.

        >>> [relation.type for relation in Topic("Oslo").add(Relation("country", "Norway")).star]
        ['@title', 'country']
        """
        return (Relation(TITLE, self.id, self.names), *self.relations)

    def add(self, relation: Relation) -> "Topic":
        """Give a new topic that has one more fact.

        >>> Topic("Oslo").add(Relation("country", "Norway")).relations
        (Relation(type='country', object='Norway', forms=('Norway',)),)
        """
        if not isinstance(relation, Relation):
            raise InputError(f"Topic {self.id!r}: only a Relation can be added, not {relation!r}")
        if _key(relation) in map(_key, self.relations):
            raise InputError(
                f"Topic {self.id!r} has the fact {relation.type!r} → {relation.object!r} already"
            )
        return Topic(self.id, self.names, (*self.relations, relation))

    def remove(self, type: str, object: str | None = None) -> "Topic":  # noqa: A002
        """Give a new topic without a fact; without an object, without all facts of the type.

        The type may also be given by its label.

        >>> topic = Topic("Oslo", relations=[Relation("country", "Q20", "Norway")])
        >>> topic.remove("country", "Norway").relations
        ()
        """
        gone = self._places(self._type(type), object)
        kept = (fact for place, fact in enumerate(self.relations) if place not in gone)
        return Topic(self.id, self.names, kept)

    def replace(
        self,
        type: str,  # noqa: A002
        old: str,
        new: str | Relation,
        forms: Iterable[str] | str = (),
    ) -> "Topic":
        """Give a new topic whose fact names another object, in the place of the old one.

        `new` is an object, with its forms behind it, or a whole relation of the same type.

        >>> topic = Topic("Oslo", relations=[Relation("country", "Q20", "Norway")])
        >>> topic.replace("country", "Norway", "Q34", "Sweden").relations
        (Relation(type='country', object='Q34', forms=('Sweden',)),)
        """
        type_ = self._type(type)
        (place, *_) = self._places(type_, old)
        label = self.relations[place].label
        fact = new if isinstance(new, Relation) else Relation(type_, new, forms, label=label)
        if fact.type != type_:
            raise InputError(
                f"Topic {self.id!r}: a fact {type_!r} cannot become one of {fact.type!r};"
                " remove it and add the other"
            )
        others = self.relations[:place] + self.relations[place + 1 :]
        if _key(fact) in map(_key, others):
            raise InputError(
                f"Topic {self.id!r} has the fact {fact.type!r} → {fact.object!r} already"
            )
        return Topic(self.id, self.names, (*others[:place], fact, *others[place:]))

    def _type(self, given: str) -> str:
        """Find the type that is meant: one of this key, or else one that is called so."""
        name = clean_name(given)
        called = {fact.type for fact in self.relations if fact.label == name}
        if len(called) == 1 and name not in {fact.type for fact in self.relations}:
            return called.pop()
        return name

    def _places(self, type: str, object: str | None) -> list[int]:  # noqa: A002
        """Find facts by type and object; an object may also be named by one of its forms."""
        alike = [place for place, fact in enumerate(self.relations) if fact.type == type]
        if not alike:
            raise InputError(
                f"Topic {self.id!r} has no relation {type!r}"
                + near_matches(type, {fact.label for fact in self.relations})
            )
        if object is None:
            return alike
        facts, name = self.relations, clean_name(object)
        found = [place for place in alike if facts[place].object == object]
        found = found or [place for place in alike if name in facts[place].forms]
        if not found:
            known = ", ".join(repr(facts[place].object) for place in alike[:5])
            raise InputError(f"Topic {self.id!r} has no {type!r} named {object!r}; it has: {known}")
        if len({facts[place].object for place in found}) > 1:
            known = ", ".join(repr(facts[place].object) for place in found[:5])
            raise InputError(
                f"Topic {self.id!r}: {object!r} may be any of {known}; name the object itself"
            )
        return found


def near_matches(name: str, known: Iterable[str]) -> str:
    """Say which names are most like one that is not there; nothing where none is.

    >>> near_matches("captial", ["capital", "country"])
    "; did you mean 'capital'?"
    """
    near = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.5)
    return f"; did you mean {', '.join(map(repr, near))}?" if near else ""


def _key(relation: Relation) -> tuple[str, str]:
    return relation.type, relation.object


def _set(value: object, name: str, content: object) -> None:
    object.__setattr__(value, name, content)


def is_value(object_: object) -> TypeGuard[float | Decimal | date]:
    """Whether an object is a number or a date of Python."""
    return isinstance(object_, int | float | Decimal | date) and not isinstance(object_, bool)


def _text(where: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be a text that is not blank, not {value!r}")
    check_characters(value, where)
    return value


def _name(where: str, value: str) -> str:
    name = clean_name(_text(where, value))
    if not name:
        raise InputError(f"{where} must be a text that can be seen, not {value!r}")
    return name


def _names(where: str, given: Iterable[str] | str) -> tuple[str, ...]:
    """Clean names and keep each once."""
    each = (given,) if isinstance(given, str) else given
    names = dict.fromkeys(clean_name(_text(where, name)) for name in each)
    return tuple(name for name in names if name)
